package syntax

import (
	"os"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
)

// check verifies what every tree promises.
func check(t *testing.T, tree *Tree) {
	t.Helper()
	require.Positive(t, tree.Len())
	require.Equal(t, Module, tree.Kind(tree.Root()))
	require.Equal(t, NoNode, tree.Parent(tree.Root()))
	visited := 0
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		d := tree.nodes[n]
		span := tree.Span(n)
		require.True(t, Invalid < d.kind && d.kind < kindCount, "node %d has kind %d", n, d.kind)
		require.True(t, 0 <= span.Start && span.Start <= span.End && span.End <= len(tree.src), "node %d at %v", n, span)
		if d.kind == Error || d.flags&(flagMissing|flagBroken) != 0 {
			require.True(t, tree.Damaged(n))
		}
		if n > 0 {
			require.Less(t, d.parent, n, "parents come first")
			require.True(t, tree.Span(d.parent).Covers(span), "node %d (%v) at %v is not within its parent (%v) at %v", n, d.kind, span, tree.Kind(d.parent), tree.Span(d.parent))
			require.True(t, !tree.Damaged(n) || tree.Damaged(d.parent))
		}
		at := span.Start
		for c := d.first; c >= 0; c = tree.nodes[c].next {
			visited++
			require.Equal(t, n, tree.Parent(c))
			require.GreaterOrEqual(t, tree.Span(c).Start, at, "children of node %d are not in order", n)
			at = tree.Span(c).End
		}
		require.LessOrEqual(t, tree.End(n), NodeID(tree.Len()))
		require.Greater(t, tree.End(n), n)
	}
	require.Equal(t, tree.Len()-1, visited, "every node is the child of one other")

	spans := tree.DamagedSpans()
	require.Equal(t, tree.Damaged(tree.Root()), len(spans) > 0 || tree.Damaged(tree.Root()) && tree.src == "")
	at := -1
	for _, s := range spans {
		require.Greater(t, s.Start, at)
		require.Positive(t, s.Len())
		require.LessOrEqual(t, s.End, len(tree.src))
		at = s.End
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "\ufeffx = 1\n", "def f(a):\n    return a\n", "class A:\n\tdef f(self,\n\t\tx = (\n", "try:\n  x\nelse\n y",
		"match x:\n case 1:\n  a\n b = (\n", "f'{x!r:{w}}' \\\n", "if x:\n  a\n else:\n b\n", "@a\n@\ndef\n x", "\"\"\"a\ndef f():\n \"\"\"\n",
		"total +=\nopt.step()\n", "a\rb\r\n(\n", "for x in y\n try:\n  try:\n   x = [\n",
		"\x01{{{\r\\",
	} {
		f.Add([]byte(s))
	}
	for _, file := range []string{"testdata/training.py", "testdata/broken.py"} {
		src, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, parse := range []func([]byte) (*Tree, error){Parse, ParseNotebook} {
			tree, err := parse(src)
			if err != nil {
				require.Contains(t, []error{ErrBinary, ErrDenseLine, ErrNotPython, ErrNotUTF8, ErrTooLarge, ErrTooManyLines, ErrTooSlow, ErrUTF16}, err)
				continue
			}
			check(t, tree)
			require.Len(t, tree.Source(), len(src), "no byte is lost")
			require.True(t, utf8.ValidString(tree.Source()))
		}
	})
}

func TestTreeLinks(t *testing.T) {
	tree, err := Parse([]byte("# first\nx = f(a,  # last\n      b)\ny = 2\n"))
	require.NoError(t, err)
	check(t, tree)
	statement := tree.First(tree.Root())
	assert.Equal(t, ExpressionStatement, tree.Kind(statement), "comments are left out")
	call := tree.Child(tree.First(statement), FieldRight)
	assert.Equal(t, Call, tree.Kind(call))
	assert.Equal(t, FieldRight, tree.Role(call))
	assert.Equal(t, "f(a,  # last\n      b)", tree.Text(call))
	assert.Equal(t, text.Span{Start: 12, End: 33}, tree.Span(call))
	var arguments []string
	for a := range tree.Children(tree.Child(call, FieldArguments)) {
		arguments = append(arguments, tree.Text(a))
	}
	assert.Equal(t, []string{"a", "b"}, arguments)
	next := tree.Next(statement)
	assert.Equal(t, "y = 2", tree.Text(next))
	assert.Equal(t, next, tree.End(statement))
	assert.Equal(t, NodeID(tree.Len()), tree.End(next))

	assert.Equal(t, NoNode, tree.Child(call, FieldBody))
	assert.Equal(t, NoNode, tree.Child(NoNode, FieldBody))
	assert.Equal(t, Invalid, tree.Kind(NoNode))
	for range tree.Children(NoNode) {
		t.Fatal("no node has no children")
	}
}
