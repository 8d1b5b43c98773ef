package usage

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/names"
)

// workspace is a project in a directory of its own; open has what differs from disk.
type workspace struct {
	*Project
	dir  string
	open map[string][]byte
}

func newWorkspace(t *testing.T, files map[string]string, dirs ...string) workspace {
	t.Helper()
	dir := t.TempDir()
	w := workspace{dir: dir, open: map[string][]byte{}}
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(w.at(name)), 0o700))
		require.NoError(t, os.WriteFile(w.at(name), []byte(content), 0o600))
	}
	open := func(path string) ([]byte, bool) { text, ok := w.open[path]; return text, ok }
	resolver := names.NewResolver(names.NewDisk(open))
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	for i := range dirs {
		dirs[i] = w.at(dirs[i])
	}
	w.Project = New(dirs, open, func(string) *names.Resolver { return resolver })
	return w
}

func (w workspace) at(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// using are the names of the files that use a word.
func (w workspace) using(t *testing.T, name, word string) []string {
	t.Helper()
	users := w.Using(t.Context(), w.at(name), word)
	out := []string{}
	for _, m := range users.Files {
		rel, err := filepath.Rel(w.dir, m.Path)
		require.NoError(t, err)
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

const cells = `{"cells": [{"cell_type": "code", "source": ["%matplotlib inline\n", "import meter\n", "meter.total"], "outputs": [], "metadata": {}, "execution_count": null}],
"metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}`

func TestUsersOfAWord(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		"pyproject.toml": "", "meter.py": "total = 0\n", "train.py": "import meter\nprint(meter.total)\n", "plot.py": "import meter\nprint(subtotal, totals)\n",
		"handed.py": "def f(m):\n    return m.total\n", "main.py": "import handed, train\n", "apart.py": "total = 1\n", "explore.ipynb": cells,
	})
	assert.Equal(t, []string{"explore.ipynb", "handed.py", "train.py"}, w.using(t, "meter.py", "total"))
	assert.Empty(t, w.using(t, "meter.py", "average"))
	assert.True(t, w.Using(t.Context(), w.at("meter.py"), "average").Complete)
	assert.Len(t, w.Using(t.Context(), w.at("meter.py"), "average").Programs, 5, "whether they mention it or not")

	w.open[w.at("plot.py")] = []byte("from meter import total\n")
	w.Changed(w.at("plot.py"), w.at("elsewhere.py"))
	assert.Contains(t, w.using(t, "meter.py", "total"), "plot.py")

	require.NoError(t, os.WriteFile(w.at("new.py"), []byte("from meter import total\n"), 0o600))
	assert.NotContains(t, w.using(t, "meter.py", "total"), "new.py", "nobody has told")
	w.Moved()
	assert.Contains(t, w.using(t, "meter.py", "total"), "new.py")
}

func TestWhatIsKnownOfTheUsers(t *testing.T) {
	files := func(top, content string) map[string]string {
		return map[string]string{top: content, "code/meter.py": "total = 0\n", "pkg/__init__.py": "", "pkg/meter.py": "total = 0\n", "notes.txt": ""}
	}
	known := func(w workspace, name string) (complete, distributed bool) {
		users := w.Using(t.Context(), w.at(name), "total")
		return users.Complete, users.Distributed
	}
	type want struct{ complete, distributed bool }
	for name, c := range map[string]struct {
		files         map[string]string
		dirs          []string
		script, inPkg want
	}{
		"the whole project":      {files(".git/HEAD", ""), nil, want{true, false}, want{true, false}},
		"a part of it":           {files(".git/HEAD", ""), []string{"code", "pkg"}, want{}, want{}},
		"no top":                 {files("readme", ""), []string{"code"}, want{true, false}, want{}},
		"a package to install":   {files("setup.py", ""), nil, want{true, false}, want{true, true}},
		"one by its metadata":    {files("pyproject.toml", "[project]\nname = 'x'\n"), nil, want{true, false}, want{true, true}},
		"settings of tools only": {files("pyproject.toml", "[tool.ruff]\n"), nil, want{true, false}, want{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t, c.files, c.dirs...)
			complete, distributed := known(w, "code/meter.py")
			assert.Equal(t, c.script, want{complete, distributed}, "script")
			complete, distributed = known(w, "pkg/meter.py")
			assert.Equal(t, c.inPkg, want{complete, distributed}, "in a package")
		})
	}
}

func TestWhatCannotBeReadIsNotLookedAt(t *testing.T) {
	w := newWorkspace(t, map[string]string{".git/HEAD": "", "meter.py": "total = 0\n", "data.py": "import meter\ntotal = [" + string(make([]byte, 10)) + "]\n"})
	assert.False(t, w.Using(t.Context(), w.at("meter.py"), "total").Complete)
	assert.True(t, w.Using(t.Context(), w.at("meter.py"), "average").Complete, "it does not mention that")
}

func TestACheckThatIsGivenUpLeavesNothingBehind(t *testing.T) {
	w := newWorkspace(t, map[string]string{".git/HEAD": "", "meter.py": "total = 0\n", "train.py": "import meter\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, w.Using(ctx, w.at("meter.py"), "total").Complete)
	users := w.Using(t.Context(), w.at("meter.py"), "total")
	assert.True(t, users.Complete)
	assert.Len(t, users.Programs, 1)
}
