package crash

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// project writes files under a new folder and returns it.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte("def train():\n    step("+name+")\n"), 0o644))
	}
	return dir
}

func located(t *testing.T, root, name string, calls ...Frame) (string, error) {
	t.Helper()
	w := openWorkspace([]string{root})
	defer w.close()
	f, err := w.locate(t.Context(), name, calls)
	if err == nil {
		assert.NotEmpty(t, f.Text)
		assert.FileExists(t, f.Name())
	}
	return f.Path, err
}

func TestFramesAreFoundInTheWorkspace(t *testing.T) {
	root := project(t, "train.py", "src/model.py", "src/data/loader.py", "tools/loader.py", "a/x.py", "b/x.py", ".git/hook.py", "venv/lib/y.py", "readme.md")
	for name, want := range map[string]string{
		filepath.Join(root, "train.py"):                     "train.py",
		filepath.Join(root, "src", "..", "src", "model.py"): "src/model.py",
		"train.py":                       "train.py",
		"./src/model.py":                 "src/model.py",
		"/workspace/proj/train.py":       "train.py",
		"/app/src/model.py":              "src/model.py",
		"/app/src/data/loader.py":        "src/data/loader.py",
		`C:\Users\kim\proj\src\model.py`: "src/model.py",
		filepath.Join(filepath.Dir(root), "elsewhere", "train.py"): "train.py",
		"/app/other/a/x.py": "a/x.py",
	} {
		got, err := located(t, root, name)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
	for _, name := range []string{"/app/nothere.py", "/app/hook.py", "/app/y.py", "/app/readme.md", "../../etc/passwd", "", "/", "/app/lib/model.py", `\\host\share\q.py`} {
		_, err := located(t, root, name)
		assert.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	_, err := located(t, root, "/app/x.py")
	assert.ErrorIs(t, err, errAmbiguous)
}

func TestFileInAnotherDirectoryIsBelievedIfTheCodeAgrees(t *testing.T) {
	root := project(t, "deep/train.py")
	_, err := located(t, root, "/app/train.py", Frame{Func: "train", Code: "step(deep/train.py)"})
	assert.NoError(t, err)
	for name, call := range map[string]Frame{
		"other code":     {Func: "train", Code: "loss.backward()"},
		"other function": {Func: "fit", Code: "step(deep/train.py)"},
		"no code":        {Func: "train"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := located(t, root, "/app/train.py", call)
			assert.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

func TestNothingOutsideTheWorkspaceIsOpened(t *testing.T) {
	outside := project(t, "secret.py", "dir/inner.py")
	root := project(t, "train.py")
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.py"), filepath.Join(root, "link.py")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "dir"), filepath.Join(root, "dir")))
	require.NoError(t, os.Symlink("../"+filepath.Base(outside)+"/secret.py", filepath.Join(root, "up.py")))
	require.NoError(t, os.Symlink("train.py", filepath.Join(root, "inside.py")))

	for _, name := range []string{
		filepath.Join(outside, "secret.py"), filepath.Join(root, "link.py"), "link.py", "/app/link.py", "up.py", "dir/inner.py",
		filepath.Join(root, "dir", "inner.py"), filepath.Join(root, "..", filepath.Base(outside), "secret.py"),
		"../" + filepath.Base(outside) + "/secret.py",
	} {
		_, err := located(t, root, name)
		assert.Error(t, err, name)
	}
	got, err := located(t, root, filepath.Join(root, "inside.py"))
	require.NoError(t, err)
	assert.Equal(t, "inside.py", got)
}

func TestWorkspaceThatIsALink(t *testing.T) {
	real := project(t, "train.py")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	for _, name := range []string{filepath.Join(real, "train.py"), filepath.Join(link, "train.py")} {
		got, err := located(t, link, name)
		require.NoError(t, err)
		assert.Equal(t, "train.py", got)
	}
	_, err := located(t, filepath.Join(real, "missing"), "train.py")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestLargeFilesAreNotRead(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "big.py"), []byte(strings.Repeat("#", maxSource+1)), 0o644))
	_, err := located(t, root, "big.py")
	assert.ErrorContains(t, err, "larger than 1.00 MiB")
}

func TestLibraryFrames(t *testing.T) {
	for _, p := range []string{
		"/opt/conda/lib/python3.10/site-packages/torch/nn/modules/module.py", "/usr/lib/python3/dist-packages/torch/x.py",
		"/usr/lib/python3.11/threading.py", "<frozen runpy>", "<string>", "/usr/local/bin/torchrun", `C:\Python311\Lib\threading.py`,
		"/home/u/proj/.venv/bin/accelerate", "/home/u/.local/lib/python3.11/site-packages/x/y.py",
	} {
		assert.True(t, libraryFrame(p), p)
	}
	for _, p := range []string{"train.py", "/home/u/proj/lib/net.py", "/workspace/torch_utils/a.py", `C:\Users\u\proj\train.py`, "/app/python/train.py", "/srv/bin/run.py"} {
		assert.False(t, libraryFrame(p), p)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
}

func TestOfNamesakesTheOneWithTheCodeCounts(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/train.py", "def fit():\n    loss.backward()\n")
	write(t, root, "b/train.py", "def fit():\n    total.backward()\n")
	write(t, root, "c/train.py", "def run():\n    total.backward()\n")
	got, err := located(t, root, "/app/train.py", Frame{Func: "fit", Code: "total.backward()"})
	require.NoError(t, err)
	assert.Equal(t, "b/train.py", got)
	_, err = located(t, root, "/app/train.py", Frame{Code: "total.backward()"})
	assert.ErrorIs(t, err, errAmbiguous)
}

func TestInstalledProjectsAreFoundInTheirSource(t *testing.T) {
	root := t.TempDir()
	write(t, root, "src/birds/train.py", "def fit():\n    loss.backward()\n")
	write(t, root, "train.py", "def fit():\n    loss.backward()\n")
	w := openWorkspace([]string{root})
	defer w.close()
	call := Frame{Func: "fit", Code: "loss.backward()"}
	got, err := w.locateInstalled(t.Context(), "/usr/lib/python3.11/site-packages/birds/train.py", []Frame{call})
	require.NoError(t, err)
	assert.Equal(t, "src/birds/train.py", got.Path)
	for name, c := range map[string]struct {
		path string
		call Frame
	}{
		"other code":    {"/usr/lib/python3.11/site-packages/birds/train.py", Frame{Func: "fit", Code: "x()"}},
		"other package": {"/usr/lib/python3.11/site-packages/fish/train.py", call},
		"no package":    {"/usr/lib/python3.11/site-packages/train.py", call},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.locateInstalled(t.Context(), c.path, []Frame{c.call})
			assert.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

const notebookText = `{"cells": [
 {"cell_type": "markdown", "source": ["# title"]},
 {"cell_type": "code", "execution_count": 2, "source": ["def fit(x):\n", "    loss.backward()"]},
 {"cell_type": "code", "execution_count": 3, "source": "x = 1\nfit(x)"},
 {"cell_type": "code", "execution_count": 9, "source": "y = 1\ny += 1"}
]}`

func TestCallsInCellsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		call Frame
		cell int
	}{
		"by the number":                     {Frame{Path: "Cell In[3]", Line: 2, Code: "fit(x)"}, 3},
		"by the number alone":               {Frame{Path: "Cell In[3]", Line: 2}, 3},
		"of older IPython":                  {Frame{Path: "<ipython-input-2-0a1b>", Line: 2, Code: "loss.backward()"}, 2},
		"run again since":                   {Frame{Path: "Cell In[7]", Line: 2, Code: "fit(x)"}, 3},
		"the kernel's own file":             {Frame{Path: "/tmp/ipykernel_34/3349.py", Line: 2, Code: "loss.backward()"}, 2},
		"run again since, nothing to tell":  {Frame{Path: "Cell In[7]", Line: 2}, 0},
		"the number of another cell by now": {Frame{Path: "Cell In[9]", Line: 2, Code: "fit(x)"}, 3},
		"a line that is not there":          {Frame{Path: "Cell In[3]", Line: 9}, 0},
		"code that is nowhere":              {Frame{Path: "Cell In[3]", Line: 2, Code: "gone()"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			placed := placeInCells([]byte(notebookText), []Frame{c.call})
			if c.cell == 0 {
				assert.Empty(t, placed)
				return
			}
			require.Len(t, placed, 1)
			assert.Equal(t, c.cell, placed[0].cell)
		})
	}
	assert.Empty(t, placeInCells([]byte("no JSON"), []Frame{{Path: "Cell In[3]", Line: 1}}))

	root := t.TempDir()
	write(t, root, "work/birds.ipynb", notebookText)
	write(t, root, "other.ipynb", `{"cells": [{"cell_type": "code", "execution_count": 3, "source": "z"}]}`)
	w := openWorkspace([]string{root})
	defer w.close()
	calls := []Frame{{Path: "Cell In[2]", Line: 2, Code: "loss.backward()"}, {Path: "Cell In[3]", Line: 2, Code: "fit(x)"}}
	file, placed, err := w.locateCells(t.Context(), calls)
	require.NoError(t, err)
	assert.Equal(t, "work/birds.ipynb", file.Path)
	assert.Len(t, placed, 2)
	_, _, err = w.locateCells(t.Context(), []Frame{{Path: "Cell In[3]", Line: 1}})
	assert.ErrorIs(t, err, errAmbiguous)
	_, _, err = w.locateCells(t.Context(), []Frame{{Path: "Cell In[77]", Line: 1}})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
