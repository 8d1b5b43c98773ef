package names

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Closure is what the code of a statement refers to by name, and what that refers to.
func TestClosure(t *testing.T) {
	for _, tc := range []struct{ name, src, of, want string }{
		{"nothing", "a = 1\ndef f(x):\n    return x\n", "def f", "def f"},
		{"what is called", "def f():\n    pass\ndef g():\n    f()\n", "def g", "def f|def g"},
		{"what that refers to", "a = 1\ndef f():\n    return a\ndef g():\n    f()\n", "def g", "a = 1|def f|def g"},
		{"a base class", "class A:\n    pass\nclass B(A):\n    pass\n", "class B", "class A|class B"},
		{"a default", "a = 1\ndef f(a=a):\n    return a\n", "def f", "a = 1|def f"},
		{"a decorator", "def d(f):\n    return f\n@d\ndef f():\n    pass\n", "@d", "def d|@d"},
		{"an annotation, also as a string", "class A:\n    pass\nclass B:\n    pass\ndef f(a: A) -> 'B':\n    pass\n", "def f", "class A|class B|def f"},
		{"not a parameter of the same name", "a = 1\ndef f(a):\n    return a\n", "def f", "def f"},
		{"not a local", "a = 1\ndef f():\n    a = 2\n    return a\n", "def f", "def f"},
		{"what a function declares global", "a = 1\ndef f():\n    global a\n    a = 2\n", "def f", "a = 1|def f"},
		{"not an attribute or a keyword", "a = 1\ndef f(x):\n    return x.a(a=x)\n", "def f", "def f"},
		{"all that changes it", "a = []\na.append(1)\na[0] = 2\ndef f():\n    return a\n", "def f", "a = []|a.append(1)|a[0] = 2|def f"},
		{"one of two definitions", "try:\n    import a\nexcept ImportError:\n    a = None\ndef f():\n    a.b()\n", "def f", "try:|def f"},
		{"in a circle", "def f():\n    g()\ndef g():\n    f()\n", "def f", "def f|def g"},
		{"stars belong to all", "from a import *\nb = 1\ndef f():\n    pass\n", "def f", "from a import *|def f"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := syntax.Parse([]byte(tc.src))
			require.NoError(t, err)
			m := NewModule("", tree)
			line := func(i int) string {
				first, _, _ := strings.Cut(tree.Text(m.Statements()[i].Node), "\n")
				return first
			}
			var got []string
			for i := range m.Statements() {
				if strings.HasPrefix(line(i), tc.of) {
					for _, j := range m.Closure(i) {
						got = append(got, line(j))
					}
				}
			}
			want := strings.Split(tc.want, "|")
			require.Len(t, got, len(want), "%q", got)
			for i := range want {
				assert.True(t, strings.HasPrefix(got[i], want[i]), "%q", got)
			}
		})
	}
}

func TestStatementAt(t *testing.T) {
	tree, err := syntax.Parse([]byte("a = 1\n\n\ndef f(x):\n    return x\n"))
	require.NoError(t, err)
	m := NewModule("", tree)
	assert.Equal(t, -1, m.StatementAt(tree.Root()))
	for i, s := range m.Statements() {
		for n := s.Node; n < tree.End(s.Node); n++ {
			assert.Equal(t, i, m.StatementAt(n))
		}
	}
}
