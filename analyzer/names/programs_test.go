package names

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilesOfOneProgram(t *testing.T) {
	root := t.TempDir()
	sources := map[string]string{
		".git/HEAD":            "",
		"train.py":             "from lib.trainer import Trainer\nimport reports",
		"reports.py":           "import numbers_of",
		"numbers_of.py":        "",
		"other.py":             "import numbers_of",
		"lib/__init__.py":      "from . import registry",
		"lib/trainer.py":       "import torch",
		"lib/registry.py":      "",
		"lib/unrelated.py":     "",
		"notebook/dynamic.py":  "import importlib\nimportlib.import_module(name)\nimport extra",
		"notebook/extra.py":    "",
		"notebook/separate.py": "import extra",
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
	programs := func(name string, dynamic ...string) []string {
		var out []string
		for _, path := range index.Programs(at(name), dynamic) {
			rel, err := filepath.Rel(root, path)
			require.NoError(t, err)
			out = append(out, filepath.ToSlash(rel))
		}
		return out
	}
	assert.Equal(t, []string{"lib/__init__.py", "lib/registry.py", "numbers_of.py", "reports.py", "train.py"}, programs("lib/trainer.py"),
		"importers, what they import, and the package")
	assert.Equal(t, []string{"lib/__init__.py", "lib/registry.py", "lib/trainer.py", "other.py", "reports.py", "train.py"}, programs("numbers_of.py"),
		"every program with it")
	assert.Contains(t, programs("lib/registry.py"), "lib/unrelated.py", "its package runs the registry")
	assert.Equal(t, []string{"lib/__init__.py", "lib/registry.py", "notebook/dynamic.py", "notebook/extra.py", "numbers_of.py", "reports.py", "train.py"},
		programs("lib/trainer.py", at("notebook/dynamic.py")), "a file may import any")
	assert.Empty(t, programs("nowhere.py"))
}
