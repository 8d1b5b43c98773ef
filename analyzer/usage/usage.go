// Package usage knows who uses what a file of a project defines: which files may run
// in one program with it, and which of those mention a name. What one file defines
// may be used in any file of such a program, whether that imports it or is handed it.
//
// Files are told apart by their import statements and words, and only those that
// mention a name are parsed.
package usage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Project is the files of some directories. Many goroutines may use one Project.
type Project struct {
	dirs     []string
	open     func(path string) ([]byte, bool)
	resolver func(path string) *names.Resolver

	mu     sync.Mutex
	index  *names.Index // nil before somebody asks
	words  map[string][]uint32
	marked map[string]top // by directory

	telling sync.Mutex // who is told of changes does not wait for who reads
	moved   bool       // since the files were listed
	changed []string   // since they were read
}

// top is the top of a project.
type top struct {
	dir string
	// known says that the project has one.
	known bool
	// distributed says that a package is made of it, which others install.
	distributed bool
}

// New returns the project of all files in absolute directories. open, if not nil,
// gives the code of files that differ from what is on disk, and resolver is what the
// imports of a file are followed with.
func New(dirs []string, open func(path string) ([]byte, bool), resolver func(path string) *names.Resolver) *Project {
	return &Project{dirs: dirs, open: open, resolver: resolver, marked: map[string]top{}}
}

// Changed tells p that the files at paths have changed.
func (p *Project) Changed(paths ...string) {
	p.telling.Lock()
	defer p.telling.Unlock()
	for _, path := range paths {
		if !slices.Contains(p.changed, path) {
			p.changed = append(p.changed, path)
		}
	}
}

// Moved tells p that files have come or gone.
func (p *Project) Moved() {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.moved = true
}

// catchUp does what p was told. It reports whether all files are read.
func (p *Project) catchUp(ctx context.Context) bool {
	p.telling.Lock()
	moved, changed := p.moved, p.changed
	p.moved, p.changed = false, nil
	p.telling.Unlock()
	if moved {
		p.index = nil
		clear(p.marked)
	}
	if p.index == nil {
		return p.readAll(ctx)
	}
	for _, path := range changed {
		if sources.IsPython(path) && p.isInside(path) {
			p.read(path)
		}
	}
	return true
}

// Users are who may use what a file defines besides the file itself.
type Users struct {
	// Files are the files of its programs that mention one of the words asked for.
	Files []*names.Module
	// Programs are all files of its programs.
	Programs []string
	// Complete says that there are no other files. Distributed says that the file
	// belongs to a package that programs elsewhere may install.
	Complete, Distributed bool
}

// Using are the users of a word in the file at an absolute path.
func (p *Project) Using(ctx context.Context, path, word string) Users {
	p.mu.Lock()
	top := p.top(path)
	if !p.covers(path, top) || !p.catchUp(ctx) {
		p.mu.Unlock()
		return Users{}
	}
	users := Users{Complete: true, Distributed: top.distributed && isPackaged(path), Programs: p.index.Programs(path, p.mentioning(p.all(), dynamicImports...))}
	mentioning := p.mentioning(users.Programs, word)
	p.mu.Unlock()
	for _, other := range mentioning {
		if m := p.module(ctx, other); m != nil {
			users.Files = append(users.Files, m)
		} else {
			users.Complete = false // it cannot be read as Python
		}
	}
	return users
}

// dynamicImports are words in files that may import any other.
var dynamicImports = []string{"import_module", "__import__", "run_path", "run_module", "spec_from_file_location"}

func (p *Project) all() []string {
	out := make([]string, 0, len(p.words))
	for path := range p.words {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

func (p *Project) mentioning(paths []string, words ...string) []string {
	var out []string
	for _, path := range paths {
		if slices.ContainsFunc(words, func(w string) bool {
			_, ok := slices.BinarySearch(p.words[path], hash([]byte(w)))
			return ok
		}) {
			out = append(out, path)
		}
	}
	return out
}

// maxFiles bounds the files of a project: beyond that it is not known.
const maxFiles = 20_000

// readAll reads all files of the project.
func (p *Project) readAll(ctx context.Context) bool {
	// Files that are not to be checked may use what others define, too.
	listing, err := sources.Find(ctx, slices.DeleteFunc(slices.Clone(p.dirs), isGone), nil)
	if err != nil || len(listing.Files) > maxFiles {
		return false
	}
	p.index, p.words = names.NewIndex(), map[string][]uint32{}
	for _, path := range listing.Files {
		if ctx.Err() != nil {
			p.index, p.words = nil, nil
			return false
		}
		if abs, err := filepath.Abs(path); err == nil {
			p.read(abs)
		}
	}
	return true
}

func isGone(dir string) bool {
	_, err := os.Stat(dir)
	return err != nil
}

// read takes in the file at path.
func (p *Project) read(path string) {
	code, ok := p.code(path)
	if !ok {
		p.index.Remove(path)
		delete(p.words, path)
		return
	}
	p.index.Add(path, code, p.resolver(path))
	p.words[path] = wordsIn(code)
}

// code is the Python text of the file at path.
func (p *Project) code(path string) ([]byte, bool) {
	if p.open != nil {
		if text, ok := p.open(path); ok {
			return text, true
		}
	}
	source, err := sources.Load(path)
	return source.Code, err == nil
}

// module is the file at path, parsed, nil when it cannot be.
func (p *Project) module(ctx context.Context, path string) *names.Module {
	if !sources.IsNotebook(path) {
		return p.resolver(path).Module(ctx, path)
	}
	code, ok := p.code(path)
	if !ok {
		return nil
	}
	tree, err := syntax.ParseNotebook(code)
	if err != nil {
		return nil
	}
	return names.NewModule(path, tree)
}

// covers reports whether all of the project that the file at path belongs to is
// among the directories.
func (p *Project) covers(path string, top top) bool {
	return slices.ContainsFunc(p.dirs, func(dir string) bool {
		return isWithin(path, dir) && (!top.known || isWithin(top.dir, dir))
	})
}

func (p *Project) isInside(path string) bool {
	return slices.ContainsFunc(p.dirs, func(dir string) bool { return isWithin(path, dir) })
}

func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// top is the top of the project that the file at path belongs to.
func (p *Project) top(path string) top {
	dir := filepath.Dir(path)
	if t, ok := p.marked[dir]; ok {
		return t
	}
	var t top
	t.dir, t.known = names.Top(dir)
	if t.known {
		t.distributed = isDistributed(t.dir)
	}
	p.marked[dir] = t
	return t
}

// distributing is the part of a pyproject.toml that makes a package.
var distributing = regexp.MustCompile(`(?m)^\[(project|build-system|tool\.(poetry|flit|setuptools|hatch)\b[^\]]*)\]`)

// isDistributed reports whether a package is made of what is in a directory.
func isDistributed(dir string) bool {
	for _, name := range []string{"setup.py", "setup.cfg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, "pyproject.toml"))
	return err == nil && distributing.Match(content)
}

// isPackaged reports whether the file at path is in a package and not a script.
func isPackaged(path string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(path), "__init__.py"))
	return err == nil
}

// wordsIn are the hashes of the words in a text, sorted. Two words of one hash make
// a file be parsed in vain.
func wordsIn(src []byte) []uint32 {
	var out []uint32
	for word := range bytes.FieldsFuncSeq(src, func(r rune) bool { return !isWord(r) }) {
		out = append(out, hash(word))
	}
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

func isWord(r rune) bool {
	return r == '_' || r >= 0x80 || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// hash is FNV-1a.
func hash(word []byte) uint32 {
	h := uint32(2166136261)
	for _, b := range word {
		h = (h ^ uint32(b)) * 16777619
	}
	return h
}
