package syntax

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireSame checks that Reparse gives the tree that Parse gives.
func requireSame(t testing.TB, before *Tree, src string) *Tree {
	t.Helper()
	want, wantErr := Parse([]byte(src))
	got, err := Reparse(before, []byte(src))
	require.Equal(t, wantErr, err)
	if err != nil {
		return nil
	}
	require.Equal(t, want.src, got.src)
	if len(want.nodes) != len(got.nodes) {
		require.Equal(t, dump(want), dump(got), "%q", src)
	}
	for i := range want.nodes {
		if want.nodes[i] != got.nodes[i] {
			require.Equal(t, want.nodes[i], got.nodes[i], "node %d, %v, of %q, before %q", i, want.nodes[i].kind, src, before.src)
		}
	}
	return got
}

func TestReparseOfSmallChanges(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"", "x"}, {"x", ""}, {"x = 1\n", "x = 1\n"}, {"a\nb\nc\n", "a\nB\nc\n"},
		{"a\nb\nc\nd\n", "a\nc\nd\n"},
		{"if a:\n    b\nels\nc\n", "if a:\n    b\nelse: c\nc\n"},
		{"if a:\n    b\nx\nels\nc\n", "if a:\n    b\nelse: c\nc\n"},
		{"def f():\n    a\nx = 1\n", "def f():\n    a\n    x = 1\n"},
		{"def f():\n    a\n    # in\n# out\nx = 1\ny\n", "def f():\n    a\n    # in\n# out\nx = 2\ny\n"},
		{"def f():\n    a\n    # in\n# out\nx = 1\ny\n", "def f():\n    b\n    # in\n# out\nx = 1\ny\n"},
		{"def f():\n    a\n\n\n# above\ndef g():\n    b\n", "def f():\n    a\n    c\n\n\n# above\ndef g():\n    b\n"},
		{"x = (1,\n2)\ny\nz\n", "x = (1,\n2\ny\nz\n"},
		{"x = 1\ny = 2\nz = 3\n", "x = '''1\ny = 2\nz = 3\n"},
		{"x = 1\ny = 2\nz = '''a'''\n", "x = '''1\ny = 2\nz = '''a'''\n"},
		{"x = 1\ny = 2\nz = 3\n", "x = 1\ny = \\\nz = 3\n"},
		{"x, .5\n\n'a'\nb\n", "x, .5\\\n\n'a'\nb\n"},
		{"x = 1\ny = 2\n(z)\n", "x = 1\ny = 2 +\n(z)\n"},
		{"@a\ndef f(): pass\ng\n", "@a\nf\ng\n"},
		{"a; b\nc\n", "a; d\nc\n"},
		{"# c\n\nx = 1\n", "\n# c\n\nx = 1\n"},
		{"\ufeffx = 1\ny\n", "\ufeffx = 2\ny\n"},
		{"x = 1\r\ny = 2\r\n", "x = 1\r\ny = 3\r\n"},
		{"x = 1\ny = 2", "x = 1\ny = 23"},
		{"a\n\n\n", "a\n\n\n\n"}, {"a\n   \nb", "a\n  \nb"},
		{"try:\n    a\nexcept E:\n    b\nc\n", "try:\n    a\nc\n"},
		{"for x in y:\n    a\nelse:\n    b\nc\nd\n", "for x in y:\n    a\nelse:\n    B\nc\nd\n"},
		{"match x:\n    case 1:\n        a\nb\nc\n", "match x:\n    case 2:\n        a\nb\nc\n"},
	} {
		before, err := Parse([]byte(c.before))
		require.NoError(t, err)
		requireSame(t, before, c.after)
	}
}

func TestReparseKeepsWhatIsFarAway(t *testing.T) {
	src, err := os.ReadFile("testdata/training.py")
	require.NoError(t, err)
	text := string(src)
	before, err := Parse(src)
	require.NoError(t, err)
	g, err := python3()
	require.NoError(t, err)
	edited := strings.Replace(text, "loss = F.nll_loss(output, target)", "loss = F.nll_loss(output, target, 1)", 1)
	require.NotEqual(t, text, edited)
	tree, ok := g.splice(before, edited)
	require.True(t, ok, "nothing around the change is in its way")
	assert.Equal(t, edited, tree.Source())
	same, err := Reparse(before, src)
	require.NoError(t, err)
	assert.Same(t, before, same)
}

// Whatever is edited, Reparse and Parse agree.
func TestReparseOfRandomEdits(t *testing.T) {
	names, err := filepath.Glob("testdata/*.py")
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(5, 5))
	pieces := []string{"", "x", "\n", " ", "    ", "(", ")", "'", "'''", "#", ":", "else:\n", "\ndef f():\n    pass\n", "pass\n", "\\\n", "é", "@", "\r", "]", "if x:\n", "# c\n", "lambda: ", "async "}
	g, err := python3()
	require.NoError(t, err)
	spliced, total := 0, 0
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		tree, err := Parse(raw)
		require.NoError(t, err)
		src := string(raw)
		for range 40 {
			at := random.IntN(len(src) + 1)
			end := at
			if random.IntN(3) == 0 {
				end = min(len(src), at+random.IntN(20))
			}
			for at > 0 && at < len(src) && src[at]&0xc0 == 0x80 {
				at--
			}
			for end < len(src) && src[end]&0xc0 == 0x80 {
				end++
			}
			edited := src[:at] + pieces[random.IntN(len(pieces))] + src[end:]
			total++
			after := requireSame(t, tree, edited)
			if after == nil {
				continue
			}
			if _, ok := g.splice(tree, edited); ok && !tree.Damaged(tree.Root()) {
				spliced++
			}
			if random.IntN(4) == 0 && len(edited) < 2*len(raw) { // go on from there
				tree, src = after, edited
			}
			if tree.Damaged(tree.Root()) && random.IntN(3) == 0 {
				tree, err = Parse(raw)
				require.NoError(t, err)
				src = string(raw)
			}
		}
	}
	assert.Greater(t, spliced, total/10, "most edits break the text, but not all")
	t.Logf("%d of %d edits were spliced", spliced, total)
}

func FuzzReparse(f *testing.F) {
	f.Add("x = 1\ny = 2\nz = 3\n", 6, 7, "pass")
	f.Fuzz(func(t *testing.T, src string, start, end int, with string) {
		if start < 0 || end < start || end > len(src) || len(src) > 2000 {
			return
		}
		before, err := Parse([]byte(src))
		if err != nil {
			return
		}
		requireSame(t, before, src[:start]+with+src[end:])
	})
}

// BenchmarkReparse is one letter typed in the middle of a long file.
func BenchmarkReparse(b *testing.B) {
	src, err := os.ReadFile("testdata/training.py")
	require.NoError(b, err)
	for _, times := range []int{1, 10, 80} {
		text := strings.Repeat(string(src), times)
		half := len(text)/2 + strings.Index(text[len(text)/2:], "loss = F.nll_loss(output, target)")
		edited := []byte(text[:half] + "x" + text[half:])
		before, err := Parse([]byte(text))
		require.NoError(b, err)
		b.Run(fmt.Sprintf("lines=%d", strings.Count(text, "\n")), func(b *testing.B) {
			for b.Loop() {
				if _, err := Reparse(before, edited); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
