package names

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Disk loads modules from files. Parsed files are kept until they change, the most
// used ones.
type Disk struct {
	open   func(path string) ([]byte, bool)
	within []string

	mu     sync.Mutex
	loaded map[string]diskModule
	bytes  int               // of the sources of what is loaded
	limit  int               // for them
	asked  map[string]uint64 // by path: when it was asked for last
	clock  uint64
	roots  map[string]string
}

// maxLoaded is how much source a loader keeps the trees of: beyond it those that
// nobody has asked for the longest are forgotten, and parsed again if they are
// needed.
const maxLoaded = 16 << 20

type diskModule struct {
	module *Module
	// whole is the last tree without errors, to which the next one will be
	// similar where somebody types.
	whole    *syntax.Tree
	modified time.Time
	size     int64
	text     string // of a file that is open in an editor
}

// NewDisk returns an empty loader. open, if not nil, gives the text of files
// that differ from what is on disk, such as those open in an editor. Nothing is
// read above the directories of within for the files below them.
func NewDisk(open func(path string) ([]byte, bool), within ...string) *Disk {
	return &Disk{open: open, within: within, loaded: map[string]diskModule{}, asked: map[string]uint64{}, limit: maxLoaded, roots: map[string]string{}}
}

// Module reads and parses the file at path.
func (d *Disk) Module(ctx context.Context, path string) *Module {
	if d.open != nil {
		if src, ok := d.open(path); ok {
			return d.parsed(path, diskModule{text: string(src), size: int64(len(src))}, func() ([]byte, error) { return src, nil })
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > syntax.MaxBytes || ctx.Err() != nil {
		return nil
	}
	return d.parsed(path, diskModule{modified: info.ModTime(), size: info.Size()}, func() ([]byte, error) { return os.ReadFile(path) })
}

// parsed is the module of a file in the state that is described by now. A file
// is one module however many ask for it at the same time.
func (d *Disk) parsed(path string, now diskModule, read func() ([]byte, error)) *Module {
	known := func() (*Module, bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.clock++
		d.asked[path] = d.clock
		have, ok := d.loaded[path]
		return have.module, ok && have.modified.Equal(now.modified) && have.size == now.size && have.text == now.text
	}
	if m, ok := known(); ok {
		return m
	}
	src, err := read()
	if err != nil {
		return nil
	}
	d.mu.Lock()
	now.whole = d.loaded[path].whole
	d.mu.Unlock()
	if tree, err := reparse(now.whole, src); err == nil {
		now.module = NewModule(path, tree)
		if !tree.Damaged(tree.Root()) {
			now.whole = tree
		}
	}
	if m, ok := known(); ok {
		return m
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes += int(now.size) - int(d.loaded[path].size)
	d.loaded[path] = now
	if d.bytes > d.limit {
		d.forget(d.limit * 3 / 4)
	}
	return now.module
}

// Forget drops what is kept of the file at path. If somebody asks for it again it
// is read again.
func (d *Disk) Forget(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(path)
}

func (d *Disk) drop(path string) {
	d.bytes -= int(d.loaded[path].size)
	delete(d.loaded, path)
	delete(d.asked, path)
}

// Moved forgets where projects begin: files have come or gone. Those that are
// loaded are looked at each time they are asked for.
func (d *Disk) Moved() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.roots)
}

// forget leaves of what is loaded what was asked for last, up to so many bytes.
func (d *Disk) forget(limit int) {
	paths := slices.SortedFunc(maps.Keys(d.loaded), func(a, b string) int { return cmp.Compare(d.asked[a], d.asked[b]) })
	for _, path := range paths[:len(paths)-1] {
		if d.bytes <= limit {
			break
		}
		d.drop(path)
	}
}

func reparse(before *syntax.Tree, src []byte) (*syntax.Tree, error) {
	if before == nil {
		return syntax.Parse(src)
	}
	return syntax.Reparse(before, src)
}

// rootMarkers are what stands at the top of a project.
var rootMarkers = []string{".git", "pyproject.toml", "setup.py", "setup.cfg", ".hg"}

// Root is the nearest directory above path that looks like the top of a
// project. Where none does, it is a few directories above the file's outermost
// package, short of the user's home: a folder of scripts often imports from the
// folder that holds it.
func (d *Disk) Root(path string) string {
	dir := filepath.Dir(path)
	d.mu.Lock()
	root, ok := d.roots[dir]
	d.mu.Unlock()
	if ok {
		return root
	}
	root = findRoot(dir)
	for _, bound := range d.within {
		if isWithin(dir, bound) && !isWithin(root, bound) {
			root = bound
		}
	}
	d.mu.Lock()
	d.roots[dir] = root
	d.mu.Unlock()
	return root
}

// isWithin reports whether dir is bound or lies below it.
func isWithin(dir, bound string) bool {
	rel, err := filepath.Rel(bound, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Top is the nearest directory at or above another one that is marked as the top of
// a project.
func Top(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, marker := range rootMarkers {
			if _, err := os.Stat(filepath.Join(at, marker)); err == nil {
				return at, true
			}
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

func findRoot(dir string) string {
	if top, ok := Top(dir); ok {
		return top
	}
	at := dir
	for at != filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "__init__.py")); err != nil {
			break
		}
		at = filepath.Dir(at)
	}
	home, _ := os.UserHomeDir()
	for range looseAscent {
		up := filepath.Dir(at)
		if up == home || up == filepath.Dir(up) {
			break
		}
		at = up
	}
	return at
}

// looseAscent is how far above a package without a project imports are looked
// for.
const looseAscent = 2
