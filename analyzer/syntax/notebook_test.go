package syntax

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cells joins cells to the text of a notebook.
func cells(sources ...string) string {
	var b strings.Builder
	for _, s := range sources {
		b.WriteString(CellMarker + s + "\n")
	}
	return b.String()
}

func TestMagicsBecomeComments(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"line magic", "%matplotlib inline\nx = 1", "#matplotlib inline\nx = 1"},
		{"indented", "for x in y:\n    %store x\n    g()", "for x in y:\n    #store x\n    g()"},
		{"shell", "!pip install torch\r\n!!ls", "#pip install torch\r\n#!ls"},
		{"shell over lines", "!pip install \\\n  torch \\\n  x\ny = 1", "#pip install \\\n  #orch \\\n  #\ny = 1"},
		{"quotes in a command", "!echo \"it's\nx = 1", "#echo \"it's\nx = 1"},
		{"help", "?x\nx?\nnn.Module??\nx.y['a']?;\n%time?", "#x\n#?\n#n.Module??\n#.y['a']?;\n#time?"},
		{"value of a command", "files = !ls -la\na, b = %pwd\nc = 1", "files = _      \na, b = _   \nc = 1"},
		{"value over lines", "a = !ls \\\n  -la\nb = 1", "a = _    \n  #la\nb = 1"},
		{"value with CR", "a = !ls\r\nb = 1", "a = _  \r\nb = 1"},
		{"python cell magic", "%%time\ntotal += loss", "#%time\ntotal += loss"},
		{"other cell magic", "# setup\n\n%%bash\nls | wc\n\n  a b\n", "# setup\n\n#%bash\n#s | wc\n\n  # b\n"},
		{"only up to the next cell", cells("%%html\n<b>", "x = 1", "%%sh\nls"), cells("#%html\n#b>", "x = 1", "#%sh\n#s")},
		{"timed statement", "%time x = f(\n  y)\nfor x in y:\n    %time  g(x)\n", "0;    x = f(\n  y)\nfor x in y:\n    0;     g(x)\n"},
		{"timed nothing", "%time\n%time -n 1 f()\n%timeit f()\n", "#time\n#time -n 1 f()\n#timeit f()\n"},
		{"calls without parentheses", ",f a b\n;f a b\n/f a\n", "#f a b\n#f a b\n#f a\n"},
		{"open string ends with its cell", cells("x = 1\ny = \"\"\"a\nb", "z = \"\"\"c\"\"\""), cells("x = 1\n# = \"\"\"a\n#", "z = \"\"\"c\"\"\"")},
		{"cell of wide characters", "%%latex\né\nあ x", "#%latex\n# \n#   x"},

		{"modulo", "x = (a\n  % b)\ny %= 2\nz = a %b", "x = (a\n  % b)\ny %= 2\nz = a %b"},
		{"in a string", "s = '''\n%time\n!ls\n'''\nx = 1 # ?", "s = '''\n%time\n!ls\n'''\nx = 1 # ?"},
		{"behind a backslash", "x = a \\\n % b", "x = a \\\n % b"},
		{"not equal", "x = a != b\nx != y\nx == !y", "x = a != b\nx != y\nx == !y"},
		{"keyword of a call", "f(a=1, b='%s' % x)", "f(a=1, b='%s' % x)"},
		{"cell magic inside a cell", "x = 1\n%%bash\ny = 2", "x = 1\n#%bash\ny = 2"},
		{"nothing to do", "await f()\n", "await f()\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := blankMagics(c.src)
			assert.Equal(t, c.want, got)
			assert.Len(t, got, len(c.src))
		})
	}
}

func TestNotebookParsesAroundMagics(t *testing.T) {
	src := "%pip install torch\nimport torch\nfiles = !ls\nfor x in files:\n    %time step(x)\nawait done()\ntorch?\n" + CellMarker + "%%bash\nif [ -f x ]; then\n"
	tree, err := ParseNotebook([]byte(src))
	require.NoError(t, err)
	assert.False(t, tree.Damaged(tree.Root()), dump(tree))
	assert.Empty(t, tree.DamagedSpans())

	tree, err = Parse([]byte(src))
	require.NoError(t, err)
	assert.True(t, tree.Damaged(tree.Root()), "only notebooks have magics")
}

func TestWhatIsOpenInACellEndsWithIt(t *testing.T) {
	const whole = "def step(x):\n    return x\n"
	for _, open := range []string{
		"losses.append(loss.", "cfg = {\"a\": [1,", "def train(self,", "for x in loader:", "x = \"\"\"text", "s = f'{x", "if x:\n    pass\nel", "x = y +", "@torch.compile", "a \\",
	} {
		tree, err := ParseNotebook([]byte(cells("a = 1", open, whole, "b = 2")))
		require.NoError(t, err, open)
		var functions []string
		for n := tree.Root(); int(n) < tree.Len(); n++ {
			if tree.Kind(n) == FunctionDefinition && tree.Text(n) != open {
				functions = append(functions, strings.TrimRight(tree.Text(n), "\n"))
				assert.False(t, tree.Damaged(n), open)
				assert.Equal(t, tree.Root(), tree.Parent(n), "%s\n%s", open, dump(tree))
			}
		}
		assert.Contains(t, functions, strings.TrimRight(whole, "\n"), "%s\n%s", open, dump(tree))
	}
}

func FuzzMagics(f *testing.F) {
	for _, s := range []string{"%%bash\né", "x = !\\\n\\", "a?;\n!", "'''\n%x\n'''\n%%time\n", "x=%\r\n" + CellMarker + "%%\n", cells("'''", "\\")} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if !utf8.ValidString(src) {
			return
		}
		got := blankMagics(src)
		require.Len(t, got, len(src))
		require.True(t, utf8.ValidString(got), "%q", got)
		for i := range len(src) {
			if src[i] == '\n' {
				require.Equal(t, byte('\n'), got[i], "lines stay where they are")
			}
		}
	})
}
