// Package names gives the names of Python programs their meaning: which scope
// a name lives in, which file an import reads, and what a dotted path of a
// library is called.
package names

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Module is one parsed Python file.
type Module struct {
	Path string // as the loader knows it
	Tree *syntax.Tree

	scopes  map[syntax.NodeID]*Scope
	imports []ImportedName

	mentions struct {
		once   sync.Once
		answer bool
	}
	units      units
	statements statements
}

// ImportedName is a dotted name that an import statement may read a file for,
// with its leading dots counted.
type ImportedName struct {
	Level  int
	Dotted string
}

// NewModule finds the scopes of a parsed file.
func NewModule(path string, tree *syntax.Tree) *Module {
	return &Module{Path: path, Tree: tree, scopes: scopes(tree), imports: importedNames(tree)}
}

// Imports are the names that the module's import statements may read files
// for: in from a import b, both a and a.b.
func (m *Module) Imports() []ImportedName { return m.imports }

// Mentions reports whether the text contains one of the words. The answer is
// kept: it must be asked for the same words each time.
func (m *Module) Mentions(words []string) bool {
	m.mentions.once.Do(func() {
		m.mentions.answer = slices.ContainsFunc(words, func(w string) bool { return strings.Contains(m.Tree.Source(), w) })
	})
	return m.mentions.answer
}

func importedNames(t *syntax.Tree) []ImportedName {
	var out []ImportedName
	for n := t.Root(); int(n) < t.Len(); n++ {
		var level int
		var prefix string
		switch t.Kind(n) {
		case syntax.ImportStatement:
		case syntax.ImportFromStatement:
			level, prefix = ImportSource(t, n)
			out = append(out, ImportedName{level, prefix})
			if prefix != "" {
				prefix += "."
			}
		default:
			continue
		}
		for c := range t.Children(n) {
			if t.Role(c) != syntax.FieldName {
				continue
			}
			if name := t.Child(c, syntax.FieldName); name >= 0 {
				c = name
			}
			out = append(out, ImportedName{level, prefix + t.Text(c)})
		}
	}
	return out
}

// ImportSource is what follows from in an import: the number of dots and the
// dotted name.
func ImportSource(t *syntax.Tree, n syntax.NodeID) (level int, dotted string) {
	source := t.Child(n, syntax.FieldModuleName)
	if source < 0 {
		return 0, ""
	}
	text := t.Text(source)
	dotted = strings.TrimLeft(text, ". ")
	return strings.Count(text[:len(text)-len(dotted)], "."), dotted
}

// Scope is the scope that the block n opens, or nil when n opens none.
func (m *Module) Scope(n syntax.NodeID) *Scope { return m.scopes[n] }

// A Loader finds and parses the files of a workspace.
type Loader interface {
	// Module is the file at path, nil when there is none or it cannot be
	// analysed: an import that leads out of the workspace is no fault.
	Module(ctx context.Context, path string) *Module
	// Root is the directory above which the imports of the file at path are
	// not looked for.
	Root(path string) string
}

// Import is what the import of a dotted module name refers to.
type Import struct {
	Module *Module // in the workspace, or nil
	Name   string  // the dotted name of a library module
}

// Resolver follows imports from the files of a workspace.
type Resolver struct {
	loader Loader
	roots  []string

	mu    sync.Mutex
	found map[string]lookup // by directory and dotted name
}

// lookup is where a name was found, or that it was not.
type lookup struct {
	path string // empty: nowhere
	at   time.Time
}

// absent is how long a file that was not there is taken not to be there.
const absent = 2 * time.Second

// NewResolver returns a resolver that reads files through loader; a nil loader
// makes every import a library. In the directories of roots absolute imports are
// looked for when the file's own has nothing.
func NewResolver(loader Loader, roots ...string) *Resolver {
	return &Resolver{loader: loader, roots: roots, found: map[string]lookup{}}
}

// Module is the file at path, parsed once for all that ask; nil when it cannot
// be read.
func (r *Resolver) Module(ctx context.Context, path string) *Module {
	if r.loader == nil || path == "" {
		return nil
	}
	return r.loader.Module(ctx, path)
}

// Resolve finds the module that from names by a dotted name with level leading
// dots. An absolute name is looked for beside the file, then in each directory
// above it up to the root of the project: that covers scripts, packages and
// src layouts without configuration.
func (r *Resolver) Resolve(ctx context.Context, from *Module, level int, dotted string) Import {
	if r.loader == nil || from.Path == "" {
		return Import{Name: dotted}
	}
	rel := filepath.Join(strings.Split(dotted, ".")...)
	for dir := range r.places(from.Path, level, dotted) {
		if m := r.load(ctx, from, dir, rel); m != nil {
			return Import{Module: m}
		}
	}
	return Import{Name: strings.Repeat(".", level) + dotted}
}

// places are the directories in which an import of the file at path from is looked
// for, in order. A relative one may lead out of the project: then there are none.
func (r *Resolver) places(from string, level int, dotted string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if r.loader == nil || from == "" || level == 0 && installed[firstPart(dotted)] {
			return
		}
		dir, root := filepath.Dir(from), r.loader.Root(from)
		if level > 0 {
			for range level - 1 {
				if dir == root {
					return
				}
				dir = filepath.Dir(dir)
			}
			yield(dir)
			return
		}
		for at := dir; ; at = filepath.Dir(at) {
			if !yield(at) || !yield(filepath.Join(at, "src")) {
				return
			}
			if at == dir {
				for _, given := range r.roots {
					if !yield(given) {
						return
					}
				}
			}
			if at == root || at == filepath.Dir(at) {
				return
			}
		}
	}
}

// candidates are the files that a path in a directory may name as a module.
func candidates(dir, rel string) []string {
	return []string{filepath.Join(dir, rel+".py"), filepath.Join(dir, rel, "__init__.py")}
}

// installed are packages that come from the environment even where the
// workspace is their own repository's neighbour: looking for them on disk at
// every level costs time and finds only folders of the same name.
var installed = map[string]bool{"torch": true, "numpy": true, "os": true, "sys": true, "math": true, "time": true, "re": true,
	"json": true, "random": true, "argparse": true, "collections": true, "functools": true, "itertools": true, "pathlib": true,
	"typing": true, "logging": true, "copy": true, "datetime": true, "dataclasses": true, "contextlib": true, "warnings": true,
	"abc": true, "enum": true, "pickle": true, "shutil": true, "tqdm": true, "__future__": true}

func firstPart(dotted string) string {
	first, _, _ := strings.Cut(dotted, ".")
	return first
}

func (r *Resolver) load(ctx context.Context, from *Module, dir, rel string) *Module {
	key := dir + "\x00" + rel
	r.mu.Lock()
	have, known := r.found[key]
	r.mu.Unlock()
	switch {
	case known && have.path == "" && time.Since(have.at) < absent, known && have.path == from.Path:
		return nil
	case known && have.path != "":
		if m := r.loader.Module(ctx, have.path); m != nil {
			return m
		}
	}
	self := false
	for _, candidate := range candidates(dir, rel) {
		if candidate == from.Path {
			self = true // for another file that asks, it is an answer
			continue
		}
		if m := r.loader.Module(ctx, candidate); m != nil {
			r.remember(key, candidate)
			return m
		}
	}
	if !self {
		r.remember(key, "")
	}
	return nil
}

func (r *Resolver) remember(key, path string) {
	r.mu.Lock()
	r.found[key] = lookup{path, time.Now()}
	r.mu.Unlock()
}

// Moved forgets where imports lead: files have come or gone.
func (r *Resolver) Moved() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.found)
}
