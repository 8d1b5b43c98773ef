package syntax

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatementsJoinedAcrossLines(t *testing.T) {
	for _, c := range []struct {
		name, src string
		errors    []string // the text of the Error nodes
		alive     string   // a statement that is not damaged
	}{
		{"operand", "total +=\nopt.step()\n", []string{"total +="}, "opt.step()"},
		{"attribute", "loss.\nopt.step()\n", []string{"loss."}, "opt.step()"},
		{"assignment", "x =\ny = 2\n", []string{"x ="}, "y = 2"},
		{"behind a comment", "x = # soon\ny\n", []string{"x ="}, "y"},
		{"with CR LF", "x =\r\ny\r\n", []string{"x ="}, "y"},
		{"in a block", "def f():\n    a.\n    b()\n", []string{"a."}, "b()"},
		{"return in brackets only", "return (a\n + b)\nx +\ny\n", []string{"x +"}, "y"},
		{"decorator", "@a.\ndef f(): pass\n", []string{"@a."}, "def f(): pass"},
		{"import", "from a import\nb\n", []string{"from a import"}, "b"},
		{"two words of an operator", "a is\nnot b\n", []string{"a is"}, "not b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, err := Parse([]byte(c.src))
			require.NoError(t, err)
			check(t, tree)
			var errors []string
			alive := false
			for n := tree.Root(); int(n) < tree.Len(); n++ {
				if tree.Kind(n) == Error {
					errors = append(errors, tree.Text(n))
				}
				alive = alive || tree.Text(n) == c.alive && !tree.Damaged(n)
			}
			assert.Equal(t, c.errors, errors)
			assert.True(t, alive, dump(tree))
		})
	}
}

func TestHeaderJoinedAcrossLinesKeepsItsLoop(t *testing.T) {
	tree, err := Parse([]byte("for x in\n    loader:\n    step(x)\n"))
	require.NoError(t, err)
	check(t, tree)
	loop := tree.First(tree.Root())
	assert.Equal(t, ForStatement, tree.Kind(loop))
	assert.True(t, tree.Damaged(loop))
	assert.Contains(t, tree.Text(tree.Child(loop, FieldBody)), "step(x)")
}

func TestLinesThatBelongTogether(t *testing.T) {
	for _, src := range []string{
		"x = (1\n+ 2)\n", "x = f(\n)[\n0\n]\n", "x = 1 + \\\n  2\n", "x = 1 + \\\r\n  2\r\n", "x = '''\n\n'''.join(a)\n",
		"from a import (\n  b,\n  c\n)\n", "with (\n  a as b,\n  c\n):\n  pass\n", "def f[\n  T\n](\n  a,\n) -> list[\n  int\n]:\n  pass\n",
		"class A(\n  B,\n):\n  x = {\n    1: 2,\n  }\n", "@a(\n  b\n)\ndef f(): pass\n", "if (a and # c\n    b):\n  pass\n# d\nelse:\n  pass\n",
		"x = f'''{\na\n}'''\n", "assert x, (\n  'a'\n  'b'\n)\n", "x = 'a' \\\n  'b'\n", "x; y\nz\n", "a = [x\n  for x in y\n  if x]\n",
		"for x in (\n  1, 2):\n  pass\nwhile x[\n  0]: pass\n", "try:\n  x\n\n\nexcept (\n  A, B\n) as e:\n  y\nfinally:\n\n  z\n",
		"match x:\n\n  case (\n    1 | 2\n  ):\n    pass\n", "x = lambda a: (\n  a)\n", "del (\n  a,\n  b)\n", "x: dict[\n  str, int\n] = {}\n",
	} {
		tree, err := Parse([]byte(src))
		require.NoError(t, err)
		assert.False(t, tree.Damaged(tree.Root()), "%q\n%s", src, dump(tree))
		assert.Equal(t, src, tree.Source())
	}
}
