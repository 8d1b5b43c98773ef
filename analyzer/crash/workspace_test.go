package crash

import (
	"context"
	"errors"
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

func TestSuspectsAreRanked(t *testing.T) {
	root := project(t, "train.py", "model.py")
	at := func(line int) Range { return Range{Position{line, 1}, Position{line, 9}} }
	found := map[string][]Suspect{
		"train.py": {
			{Path: "train.py", Range: at(3), Code: "hint elsewhere", Severity: SeverityHint, Function: "log"},
			{Path: "train.py", Range: at(5), Code: "error elsewhere", Severity: SeverityError, Function: "log"},
			{Path: "train.py", Range: at(8), Code: "warning on the stack", Severity: SeverityWarning, Function: "fit"},
			{Path: "train.py", Range: at(30), Code: "error at module level", Severity: SeverityError},
		},
		"model.py": {{Path: "model.py", Range: at(2), Code: "error in a method", Severity: SeverityError, Function: "forward"}},
	}
	var asked []string
	d := New(Options{Roots: []string{root}, Suspects: func(_ context.Context, f File) ([]Suspect, error) {
		asked = append(asked, f.Path)
		return found[f.Path], nil
	}})
	trace := &Traceback{Frames: []Frame{
		{Path: "/app/train.py", Line: 40, Func: "<module>"}, {Path: "/app/train.py", Line: 9, Func: "fit"},
		{Path: "/usr/lib/python3/dist-packages/torch/x.py", Line: 1, Func: "log"}, {Path: "/app/model.py", Line: 7, Func: "Net.forward"},
		{Path: "/app/gone.py", Line: 7, Func: "f"},
	}}
	got, missing, err := d.findSuspects(t.Context(), trace)
	require.NoError(t, err)
	var codes []string
	for _, s := range got {
		codes = append(codes, s.Code)
	}
	assert.Equal(t, []string{"error in a method", "error at module level", "warning on the stack", "error elsewhere", "hint elsewhere"}, codes)
	assert.Equal(t, []string{"model.py", "train.py"}, asked, "each file once, innermost first")
	assert.Empty(t, missing)
}

func TestFailingAnalysisIsAMissingFact(t *testing.T) {
	root := project(t, "train.py")
	d := New(Options{Roots: []string{root}, Suspects: func(context.Context, File) ([]Suspect, error) { return nil, errors.New("not Python") }})
	got, missing, err := d.findSuspects(t.Context(), &Traceback{Frames: []Frame{{Path: "/app/train.py", Line: 1, Func: "f"}}})
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.Equal(t, []string{"findings for train.py: not Python"}, missing)

	_, missing, err = d.findSuspects(t.Context(), &Traceback{Frames: []Frame{{Path: "/app/other.py", Line: 1, Func: "f"}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"the code: /app/other.py is not in the workspace, so it was not analysed"}, missing)
}
