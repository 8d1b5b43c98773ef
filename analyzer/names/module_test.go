package names

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// project writes empty Python files, by their paths with slashes, into a new
// directory that looks like the top of a project.
func project(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "pyproject.toml"), "")
	for _, file := range files {
		write(t, filepath.Join(root, filepath.FromSlash(file)), "# "+file+"\n")
	}
	return root
}

func write(t *testing.T, path, src string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(src), 0o644))
}

func TestResolve(t *testing.T) {
	root := project(t,
		"train.py", "meters.py", "tools/evaluate.py", "tools/local.py", "tools/meters_of_tools.py",
		"src/engine/__init__.py", "src/engine/loop.py", "src/engine/losses/__init__.py", "src/engine/losses/focal.py",
		"net/__init__.py", "net/blocks.py", "net/data/__init__.py", "net/data/images.py", "net/data/blocks.py",
		"torch.py", "numpy/__init__.py", "both.py", "both/__init__.py", "scripts/deep/run.py",
	)
	tests := []struct {
		name, from string
		level      int
		dotted     string
		file, lib  string
	}{
		{"a neighbour", "train.py", 0, "meters", "meters.py", ""},
		{"a neighbour comes before the root", "net/data/images.py", 0, "blocks", "net/data/blocks.py", ""},
		{"from a folder of scripts", "tools/evaluate.py", 0, "meters", "meters.py", ""},
		{"from two folders down", "scripts/deep/run.py", 0, "net.blocks", "net/blocks.py", ""},
		{"a package", "train.py", 0, "net", "net/__init__.py", ""},
		{"a module of a package", "train.py", 0, "net.data.images", "net/data/images.py", ""},
		{"below src", "train.py", 0, "engine.loop", "src/engine/loop.py", ""},
		{"a package below src, from inside it", "src/engine/losses/focal.py", 0, "engine.loop", "src/engine/loop.py", ""},
		{"a module comes before a package of its name", "train.py", 0, "both", "both.py", ""},
		{"a library", "train.py", 0, "transformers.trainer", "", "transformers.trainer"},
		{"torch is the library", "train.py", 0, "torch.nn", "", "torch.nn"},
		{"numpy is the library", "train.py", 0, "numpy", "", "numpy"},
		{"itself is no module to read", "train.py", 0, "train", "", "train"},
		{"one dot", "net/data/images.py", 1, "blocks", "net/data/blocks.py", ""},
		{"two dots", "net/data/images.py", 2, "blocks", "net/blocks.py", ""},
		{"the package itself", "net/blocks.py", 1, "", "net/__init__.py", ""},
		{"a package next door", "net/data/images.py", 2, "data", "net/data/__init__.py", ""},
		{"a relative module that does not exist", "net/blocks.py", 1, "missing", "", ".missing"},
		{"a relative import does not search", "net/data/images.py", 1, "meters", "", ".meters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := NewDisk(nil)
			from := disk.Module(t.Context(), filepath.Join(root, filepath.FromSlash(tt.from)))
			require.NotNil(t, from)
			got := NewResolver(disk).Resolve(t.Context(), from, tt.level, tt.dotted)
			if tt.file == "" {
				assert.Nil(t, got.Module)
				assert.Equal(t, tt.lib, got.Name)
				return
			}
			require.NotNil(t, got.Module)
			assert.Equal(t, filepath.Join(root, filepath.FromSlash(tt.file)), got.Module.Path)
		})
	}
}

func TestResolveTwiceGivesTheSameModule(t *testing.T) {
	root := project(t, "train.py", "meters.py")
	disk := NewDisk(nil)
	r := NewResolver(disk)
	from := disk.Module(t.Context(), filepath.Join(root, "train.py"))
	first := r.Resolve(t.Context(), from, 0, "meters")
	assert.NotNil(t, first.Module)
	assert.Same(t, first.Module, r.Resolve(t.Context(), from, 0, "meters").Module)
	assert.Equal(t, Import{Name: "missing"}, r.Resolve(t.Context(), from, 0, "missing"))
	assert.Equal(t, Import{Name: "missing"}, r.Resolve(t.Context(), from, 0, "missing"))
}

func TestImportsStayInTheProject(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "outside.py"), "")
	root := filepath.Join(top, "project")
	write(t, filepath.Join(root, "pyproject.toml"), "")
	write(t, filepath.Join(root, "pkg", "train.py"), "")
	disk := NewDisk(nil)
	from := disk.Module(t.Context(), filepath.Join(root, "pkg", "train.py"))
	require.NotNil(t, from)
	assert.Equal(t, Import{Name: "outside"}, NewResolver(disk).Resolve(t.Context(), from, 0, "outside"))
}

func TestImportsStayWithinTheBounds(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "outside.py"), "")
	write(t, filepath.Join(top, "open", "scripts", "train.py"), "")
	path := filepath.Join(top, "open", "scripts", "train.py")

	loose := NewDisk(nil)
	assert.NotNil(t, NewResolver(loose).Resolve(t.Context(), loose.Module(t.Context(), path), 0, "outside").Module,
		"loose scripts find what lies a little above them")

	bounded := NewDisk(nil, filepath.Join(top, "open"))
	assert.Equal(t, filepath.Join(top, "open"), bounded.Root(path))
	assert.Nil(t, NewResolver(bounded).Resolve(t.Context(), bounded.Module(t.Context(), path), 0, "outside").Module)
}

func TestWithoutLoaderEverythingIsALibrary(t *testing.T) {
	m := parse(t, "train.py", "import meters\n")
	assert.Equal(t, Import{Name: "meters"}, NewResolver(nil).Resolve(t.Context(), m, 0, "meters"))
	unsaved := parse(t, "", "import meters\n")
	assert.Equal(t, Import{Name: "meters"}, NewResolver(NewDisk(nil)).Resolve(t.Context(), unsaved, 0, "meters"))
}

func TestRoot(t *testing.T) {
	for _, marker := range rootMarkers {
		top := t.TempDir()
		write(t, filepath.Join(top, "a", marker), "")
		write(t, filepath.Join(top, "a", "b", "c", "train.py"), "")
		assert.Equal(t, filepath.Join(top, "a"), NewDisk(nil).Root(filepath.Join(top, "a", "b", "c", "train.py")), marker)
	}
}

func TestDiskSeesChanges(t *testing.T) {
	root := project(t)
	path := filepath.Join(root, "meters.py")
	disk := NewDisk(nil)
	assert.Nil(t, disk.Module(t.Context(), path), "there is no file yet")

	write(t, path, "a = 1\n")
	first := disk.Module(t.Context(), path)
	require.NotNil(t, first)
	assert.Same(t, first, disk.Module(t.Context(), path), "an unchanged file is not parsed again")

	write(t, path, "b = 2\n")
	later := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(path, later, later))
	second := disk.Module(t.Context(), path)
	require.NotNil(t, second)
	assert.Equal(t, "b = 2\n", second.Tree.Source())

	require.NoError(t, os.Remove(path))
	assert.Nil(t, disk.Module(t.Context(), path), "the file is gone")
}

func TestDiskPrefersOpenText(t *testing.T) {
	root := project(t, "meters.py")
	path := filepath.Join(root, "meters.py")
	text := "typed = 1\n"
	disk := NewDisk(func(p string) ([]byte, bool) { return []byte(text), p == path && text != "" })
	assert.Equal(t, text, disk.Module(t.Context(), path).Tree.Source())
	text = "typed = 12\n"
	assert.Equal(t, text, disk.Module(t.Context(), path).Tree.Source())
	text = "" // closed
	assert.Equal(t, "# meters.py\n", disk.Module(t.Context(), path).Tree.Source())
}

func TestDiskPassesByWhatIsNoModule(t *testing.T) {
	root := project(t)
	for name, src := range map[string]string{
		"binary.py": "\x7fELF\x02\x01\x01\x00",
		"latin.py":  "x = '\xe9'\n",
		"large.py":  strings.Repeat("#", syntax.MaxBytes+1),
	} {
		write(t, filepath.Join(root, name), src)
		assert.Nil(t, NewDisk(nil).Module(t.Context(), filepath.Join(root, name)), name)
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder.py"), 0o755))
	assert.Nil(t, NewDisk(nil).Module(t.Context(), filepath.Join(root, "folder.py")))

	write(t, filepath.Join(root, "half.py"), "def f(:\n    x = 1\n")
	assert.NotNil(t, NewDisk(nil).Module(t.Context(), filepath.Join(root, "half.py")), "half-typed code is read")
}

func TestDiskStopsWithItsContext(t *testing.T) {
	root := project(t, "meters.py")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Nil(t, NewDisk(nil).Module(ctx, filepath.Join(root, "meters.py")))
}

func TestAFileIsOneModuleForAllWhoAsk(t *testing.T) {
	root := project(t, "train.py", "meters.py")
	disk := NewDisk(nil)
	got := make([]*Module, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = disk.Module(t.Context(), filepath.Join(root, "meters.py")) })
	}
	wg.Wait()
	require.NotNil(t, got[0])
	for _, m := range got {
		assert.Same(t, got[0], m)
	}
}

func TestDiskKeepsWhatIsUsed(t *testing.T) {
	dir := t.TempDir()
	const source = "value = 1\nother = value\n"
	path := func(i int) string { return filepath.Join(dir, fmt.Sprintf("m%d.py", i)) }
	for i := range 60 {
		require.NoError(t, os.WriteFile(path(i), []byte(source), 0o600))
	}
	disk := NewDisk(nil)
	disk.limit = 30 * len(source)
	used := disk.Module(t.Context(), path(0))
	require.NotNil(t, used)
	for i := range 60 {
		require.NotNil(t, disk.Module(t.Context(), path(i)))
		assert.Same(t, used, disk.Module(t.Context(), path(0)), "asked for again and again")
		assert.LessOrEqual(t, disk.bytes, disk.limit)
	}
	assert.Less(t, len(disk.loaded), 31)
	assert.Len(t, disk.asked, len(disk.loaded))
	sum := 0
	for _, m := range disk.loaded {
		sum += len(m.module.Tree.Source())
	}
	assert.Equal(t, sum, disk.bytes)
}

func TestImportsLeadElsewhereWhenFilesMove(t *testing.T) {
	top := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(top, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	write(".git/HEAD")
	disk := NewDisk(nil)
	r := NewResolver(disk)
	from := disk.Module(t.Context(), write("a/b/train.py"))
	leads := func() string {
		if m := r.Resolve(t.Context(), from, 0, "meters").Module; m != nil {
			return m.Path
		}
		return ""
	}
	require.Empty(t, leads())
	far := write("meters.py")
	r.Moved()
	assert.Equal(t, far, leads(), "a file that was not there")
	near := write("a/meters.py")
	r.Moved()
	assert.Equal(t, near, leads(), "a nearer file")
	require.NoError(t, os.Remove(near))
	r.Moved()
	assert.Equal(t, far, leads(), "that is gone again")

	write("a/pyproject.toml")
	disk.Moved()
	r.Moved()
	assert.Empty(t, leads(), "the project begins further down")
}
