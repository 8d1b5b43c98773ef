package syntax

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDamagedSpans(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"none", "def f():\n    x\n", nil},
		{"empty", "", nil},
		{"one function", "x = 1\ndef f():\n    g(\ndef h():\n    pass\n", []string{"def f():\n    g(\n"}},
		{"to what follows", "def f():\n    g(\n\n# about h\nh()\n", []string{"def f():\n    g(\n\n"}},
		{"last function", "x = 1\ndef f():\n    g(\n\n", []string{"def f():\n    g(\n\n"}},
		{"header", "def f(a:\n    return a\ndef g(): pass\n", []string{"def f(a:\n    return a\n"}},
		{"decorator", "def g(): pass\n@a(\ndef f(): pass\n", []string{"@a(\n"}},
		{"decorated", "@a\ndef f():\n    x =\n    y\nz\n", []string{"@a\ndef f():\n    x =\n    y\n"}},
		{"inner function", "def f():\n    def g():\n        x.\n    return g\n", []string{"def f():\n    def g():\n        x.\n    return g\n"}},
		{"method", "class A:\n    def f(self):\n        x.\n    def g(self):\n        pass\n", []string{"def f(self):\n        x.\n    "}},
		{"two methods", "class A:\n    def f(self):\n        x.\n    def g(self):\n        y.\nz\n", []string{"def f(self):\n        x.\n    def g(self):\n        y.\n"}},
		{"module", "a = (\ndef f():\n    pass\nb = 1\n", []string{"a = (\n", "b = 1\n"}},
		{"module and function", "a = (\ndef f():\n    x.\nb = 1\n", []string{"a = (\ndef f():\n    x.\nb = 1\n"}},
		{"class body", "class A:\n    a = (\n    def f(self):\n        pass\n", []string{"class A:\n    a = (\n    "}},
		{"loop of the module", "for x in y\n    f(x)\n", []string{"for x in y\n    f(x)\n"}},
		{"indentation", "if x:\n    f(\n  y\ndef f():\n    pass\n", []string{"if x:\n    f(\n  y\n"}},
		{"lost header", "def f():\n    x\nde g():\n    y\n", []string{"de g():\n    y\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, err := Parse([]byte(c.src))
			require.NoError(t, err)
			check(t, tree)
			var got []string
			for _, s := range tree.DamagedSpans() {
				got = append(got, c.src[s.Start:s.End])
			}
			assert.Equal(t, c.want, got, dump(tree))
		})
	}
}
