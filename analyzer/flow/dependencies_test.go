package flow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/names"
)

// What an analysis rests on is the same whether it finds it out or knows it from
// another one.
func TestDependencies(t *testing.T) {
	m := newInMemory(map[string]string{
		"/w/train.py": torchImports + "from tools import make\nfrom unused import nothing\ntotal = 0\nfor x in data:\n    total += make(x)\n",
		"/w/tools.py": torchImports + "from deep import scale\nfrom library.part import size\nimport library.other\ndef make(x):\n    return scale(size * nn.Linear(2, 2)(x).mean())\n",
		"/w/deep.py":  "def scale(x):\n    return x * 2\n",
		"/w/alone.py": torchImports + "import tools\n",
		"/w/plain.py": "import tools\n",
	})
	dependencies := func(path string) names.Dependencies {
		facts, err := m.Analyze(t.Context(), m.disk.Module(t.Context(), path))
		require.NoError(t, err)
		return facts.Dependencies
	}
	for range 2 {
		d := dependencies("/w/train.py")
		assert.ElementsMatch(t, []string{"/w/tools.py", "/w/deep.py"}, d.Files())
		assert.True(t, d.On("/w/unused.py"), "it may come")
		assert.True(t, d.On("/w/library/part.py"), "an import of an import")
		assert.False(t, d.On("/w/part.py"))
		assert.False(t, d.On("/w/library/other.py"), "nobody looks at it")
	}
	assert.Equal(t, []string{"/w/tools.py"}, dependencies("/w/alone.py").Files(), "nothing of it is used")
	assert.Equal(t, []string{"/w/tools.py"}, dependencies("/w/plain.py").Files(), "it decides whether there is anything to look at")
}
