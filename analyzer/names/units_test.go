package names

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestUnit asks which statements make a name what it is.
func TestUnit(t *testing.T) {
	tests := []struct{ name, src, of, want string }{
		{"an assignment", "x = 1\ny = 2\n", "x", "x = 1"},
		{"all assignments, in order", "x = 1\ny = 2\nx += 1\n", "x", "x = 1 | x += 1"},
		{"names bound together", "x, y = f()\ny = 2\nz = 3\n", "x", "x, y = f() | y = 2"},
		{"a definition with its decorator", "@register\ndef f(): pass\n", "f", "@register\ndef f(): pass"},
		{"a decorator's own name", "def register(f): return f\n@register\ndef f(): pass\n", "register", "def register(f): return f"},
		{"either arm of a try", "try:\n    import a as x\nexcept E:\n    x = None\n", "x", "try:\n    import a as x\nexcept E:\n    x = None"},
		{"what is done to it", "x = []\nx.append(1)\nx[0] = 2\nx.y.z = 3\ndel x[0]\nf(x)\n", "x", "x = [] | x.append(1) | x[0] = 2 | x.y.z = 3 | del x[0]"},
		{"a loop over its parts", "x = Net()\nfor p in x.parameters():\n    p.frozen = True\n", "x", "x = Net()|for p in x.parameters():\n    p.frozen = True"},
		{"what is done to something imported", "import sys\nsys.path.append('a')\n", "sys", "import sys"},
		{"an alias", "from a import b as x\n", "x", "from a import b as x"},
		{"a patched class", "class A: pass\nA.f = g\n", "A", "class A: pass | A.f = g"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := parse(t, "a.py", tt.src)
			_, unit, ok := m.Unit(tt.of)
			assert.True(t, ok)
			var got []string
			for _, n := range unit {
				got = append(got, strings.TrimSpace(m.Tree.Text(n)))
			}
			assert.Equal(t, strings.ReplaceAll(tt.want, " | ", "|"), strings.Join(got, "|"))
		})
	}
	m := parse(t, "a.py", "import b\nfrom c import *\nx, _y = 1, 2\ndef f():\n    z = 1\n")
	_, _, ok := m.Unit("z")
	assert.False(t, ok, "a local of a function")
	assert.Equal(t, []string{"b", "f", "x"}, m.Exports())
	assert.Len(t, m.Stars(), 1)
}
