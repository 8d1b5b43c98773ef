package names

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Disk loads modules from files. Parsed files are kept until they change on
// disk.
type Disk struct {
	mu     sync.Mutex
	loaded map[string]diskModule
	roots  map[string]string
}

type diskModule struct {
	module   *Module
	modified time.Time
	size     int64
}

// NewDisk returns an empty loader.
func NewDisk() *Disk {
	return &Disk{loaded: map[string]diskModule{}, roots: map[string]string{}}
}

// Module reads and parses the file at path.
func (d *Disk) Module(ctx context.Context, path string) *Module {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > syntax.MaxBytes {
		return nil
	}
	d.mu.Lock()
	have, ok := d.loaded[path]
	d.mu.Unlock()
	if ok && have.modified.Equal(info.ModTime()) && have.size == info.Size() {
		return have.module
	}
	if ctx.Err() != nil {
		return nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	have = diskModule{modified: info.ModTime(), size: info.Size()}
	if tree, err := syntax.Parse(src); err == nil {
		have.module = NewModule(path, tree)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other, ok := d.loaded[path]; ok && other.modified.Equal(have.modified) && other.size == have.size {
		return other.module // parsed at the same time: a file is one module
	}
	d.loaded[path] = have
	return have.module
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
	d.mu.Lock()
	d.roots[dir] = root
	d.mu.Unlock()
	return root
}

func findRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, marker := range rootMarkers {
			if _, err := os.Stat(filepath.Join(at, marker)); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			break
		}
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
