package names

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestImportersOfAFile(t *testing.T) {
	root := t.TempDir()
	sources := map[string]string{
		".git/HEAD":            "",
		"train.py":             "from net import blocks\nimport meters\n",
		"meters.py":            "import torch",
		"net/__init__.py":      "from .blocks import Block",
		"net/blocks.py":        "from . import layers",
		"net/layers.py":        "",
		"net/meters.py":        "from .. import meters\nimport net.meters",
		"tools/run.py":         "import net.blocks as b, other.meters",
		"tools/meters.py":      "",
		"tools/plot.py":        "import meters",
		"tools/deep/above.py":  "from ....outside import meters",
		"src/pkg/__init__.py":  "",
		"src/pkg/part.py":      "from pkg import other\nblocks = 1",
		"src/pkg/other.py":     "",
		"notebooks/explore.py": "try:\n    from pkg.other import x\nexcept ImportError:\n    import pkg",
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	resolver, index := NewResolver(NewDisk(nil)), NewIndex()
	for name, src := range sources {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
		require.NoError(t, os.WriteFile(at(name), []byte(src), 0o600))
	}
	for name, src := range sources {
		index.Add(at(name), []byte(src), resolver)
	}
	importers := func(name string) []string {
		var out []string
		for _, path := range index.Importers(at(name)) {
			rel, err := filepath.Rel(root, path)
			require.NoError(t, err)
			out = append(out, filepath.ToSlash(rel))
		}
		return out
	}
	assert.Equal(t, []string{"net/__init__.py", "tools/run.py", "train.py"}, importers("net/blocks.py"))
	assert.Equal(t, []string{"net/meters.py", "train.py"}, importers("meters.py"))
	assert.Equal(t, []string{"tools/plot.py"}, importers("tools/meters.py"))
	assert.Equal(t, []string{"net/blocks.py"}, importers("net/layers.py"))
	assert.Equal(t, []string{"net/blocks.py", "train.py"}, importers("net/__init__.py"))
	assert.Equal(t, []string{"notebooks/explore.py", "src/pkg/part.py"}, importers("src/pkg/other.py"))
	assert.Equal(t, []string{"notebooks/explore.py", "src/pkg/part.py"}, importers("src/pkg/__init__.py"))
	assert.Empty(t, importers("train.py"))

	assert.Equal(t, []string{at("net/blocks.py")}, index.Imports(at("tools/run.py")))
	assert.Equal(t, []string{at("net/__init__.py"), at("net/blocks.py"), at("meters.py")}, index.Imports(at("train.py")))
	assert.Equal(t, []ImportedName{{0, "net.blocks"}, {0, "other.meters"}}, index.Asks(at("tools/run.py")))

	index.Remove(at("tools/meters.py"))
	assert.Equal(t, []string{"net/meters.py", "tools/plot.py", "train.py"}, importers("meters.py"), "the nearer one is gone")
	index.Add(at("tools/plot.py"), []byte("import net.layers"), resolver)
	assert.Equal(t, []string{"net/blocks.py", "tools/plot.py"}, importers("net/layers.py"))
	assert.Equal(t, []string{"net/meters.py", "train.py"}, importers("meters.py"))
	index.Remove(at("net/blocks.py"))
	assert.Equal(t, []string{"tools/plot.py"}, importers("net/layers.py"))
}
