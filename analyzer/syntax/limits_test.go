package syntax

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextThatIsNotParsed(t *testing.T) {
	for _, c := range []struct {
		name string
		src  string
		want error
	}{
		{"large", strings.Repeat("#", MaxBytes+1), ErrTooLarge},
		{"many lines", strings.Repeat("\n", MaxLines), ErrTooManyLines},
		{"many lines by CR", strings.Repeat("\r", MaxLines), ErrTooManyLines},
		{"many lines by CR LF", strings.Repeat("\r\n", MaxLines), ErrTooManyLines},
		{"one long list", "x = [" + strings.Repeat("1,", MaxLineMarks) + "]", ErrDenseLine},
		{"UTF-16 with a mark", "\xff\xfex\x00", ErrUTF16},
		{"UTF-16 big-endian with a mark", "\xfe\xff\x00x", ErrUTF16},
		{"UTF-16 without a mark", "x\x00 \x00=\x00", ErrUTF16},
		{"UTF-16 big-endian without a mark", "\x00x\x00 \x00=", ErrUTF16},
		{"NUL", "x = 1\x00\n", ErrBinary},
		{"ELF", "\x7fELF\x02\x01\x01\x00", ErrBinary},
		{"latin-1", "x = 1 # caf\xe9\n", ErrNotUTF8},
		{"latin-1 called UTF-8", "# coding: utf_8\nx = '\xe9'\n", ErrNotUTF8},
		{"declared too late", "\n\n# coding: latin-1\nx = '\xe9'\n", ErrNotUTF8},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, parse := range []func([]byte) (*Tree, error){Parse, ParseNotebook} {
				tree, err := parse([]byte(c.src))
				assert.ErrorIs(t, err, c.want)
				assert.Nil(t, tree)
			}
			assert.NotContains(t, c.want.Error(), "\n")
		})
	}
}

func TestOtherLanguagesAreNotPython(t *testing.T) {
	for name, src := range map[string]string{
		"prose": strings.Repeat("Leaks grow with every step, and nobody sees them.\nHere is why this happens so often.\n\n", 8),
		"HTML":  "<!DOCTYPE html>\n<html>\n<body>\n" + strings.Repeat("  <p class=\"x\">text</p>\n", 10) + "</body>\n</html>\n",
		"C":     "#include <stdio.h>\n" + strings.Repeat("static int f(int a) {\n    int b = a;\n    return b;\n}\n", 6),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(src))
			assert.ErrorIs(t, err, ErrNotPython)
		})
	}
	for _, file := range []string{"testdata/broken.py", "testdata/legacy.py"} {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = Parse(src)
		assert.NoError(t, err, "half-typed and old Python is Python")
	}
}

func TestTextAtTheLimitIsParsed(t *testing.T) {
	for name, src := range map[string]string{
		"bytes":            "x = '" + strings.Repeat("a", MaxBytes-7) + "'\n",
		"lines":            strings.Repeat("x\n", MaxLines-1) + "x",
		"lines by CR LF":   strings.Repeat("\r\n", MaxLines-1),
		"a picture":        "png = '" + strings.Repeat("iVBORw0KGgo/", 40_000) + "'\n",
		"marks on 2 lines": "x = [" + strings.Repeat("1,", MaxLineMarks-3) + "\n" + strings.Repeat("1,", 9) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := Parse([]byte(src))
			require.NoError(t, err)
			assert.False(t, tree.Damaged(tree.Root()))
		})
	}
}

func TestTextThatIsRepresentedOtherwise(t *testing.T) {
	for _, c := range []struct{ name, src, source string }{
		{"byte order mark", "\ufeffx = 1\n", "\ufeffx = 1\n"},
		{"CR", "x = 1\ry = 2\r", "x = 1\ny = 2\n"},
		{"CR LF", "x = 1\r\nif x:\r\n    y = 2\r\n", "x = 1\r\nif x:\r\n    y = 2\r\n"},
		{"mixed line ends", "x = 1\r\r\ny = 2\n\rz = 3", "x = 1\n\r\ny = 2\n\nz = 3"},
		{"form feed", "x = 1\n\fy = 2\n", "x = 1\n\fy = 2\n"},
		{"latin-1", "# -*- coding: latin-1 -*-\ngr\xf6\xdfe = 'caf\xe9'\n", "# -*- coding: latin-1 -*-\ngr__e = 'caf_'\n"},
		{"on the second line", "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '_'\n"},
		{"empty", "", ""},
		{"only a comment", "# x", "# x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, err := Parse([]byte(c.src))
			require.NoError(t, err)
			assert.Equal(t, c.source, tree.Source())
			assert.False(t, tree.Damaged(tree.Root()), dump(tree))
			check(t, tree)
		})
	}
}

// After a parse that was cut short tree-sitter goes on with the old text unless
// it is told not to.
func TestParserForgetsWhatTookTooLong(t *testing.T) {
	g, err := python3()
	require.NoError(t, err)
	p := newParser(g, time.Millisecond)
	defer p.close()
	_, err = p.parse(strings.Repeat("x = [1, 2, 3]\n", 20_000))
	require.ErrorIs(t, err, ErrTooSlow)
	tree, err := p.parse("x = 1\n")
	require.NoError(t, err)
	assert.Equal(t, len("x = 1\n"), tree.Span(tree.Root()).End)
	check(t, tree)
}

func TestRepairOfHostileTextEnds(t *testing.T) {
	for name, src := range map[string][]byte{
		"open brackets":   bytes.Repeat([]byte("x = (\n"), 5_000),
		"open docstrings": bytes.Repeat([]byte("def f():\n \"\"\"\n a b\n"), 1_000),
		"open blocks":     []byte(deep("if x\n", 200)),
		"open tries":      []byte(deep("try\n", 200)),
		"closing":         bytes.Repeat([]byte(")]}\n"), 2_000),
		"escaped quotes":  bytes.Repeat([]byte("\\\"\"\"\n"), MaxLines-1),
		"backslashes":     bytes.Repeat([]byte("\\\n"), 5_000),
		"format fields":   []byte("f'" + strings.Repeat("{f'", 2_000)),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			g, err := python3()
			require.NoError(t, err)
			tree, err := g.read(string(src), nil)
			require.NoError(t, err)
			check(t, tree)
			assert.Less(t, time.Since(start), 30*time.Second)
		})
	}
}

// deep is n lines, each indented further than the one before.
func deep(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + line)
	}
	return b.String()
}
