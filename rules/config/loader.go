package config

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/rules"
)

// maxFile is how large a configuration file may be.
const maxFile = 4 << 20

// Loader finds the configuration of each file. What it has read once it does not
// read again. Many goroutines may use one Loader.
type Loader struct {
	rules  []*rules.Rule
	only   *Config            // holds for all files
	sound  map[string]*Config // by path: what files said when they were last in order
	mu     sync.Mutex
	dirs   map[string]*Config // the configuration of the files in a directory
	broken map[string]Problems
}

// NewLoader returns a loader that has read nothing. Configurations may name the
// given rules.
func NewLoader(all []*rules.Rule) *Loader {
	return &Loader{rules: all, dirs: map[string]*Config{}, broken: map[string]Problems{}, sound: map[string]*Config{}}
}

// None returns a loader that reads nothing: no file is configured.
func None() *Loader { return &Loader{only: &Config{}} }

// Only returns a loader with which one file configures all others, wherever
// they are.
func Only(path string, all []*rules.Rule) (*Loader, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	src, err := sources.Read(path, maxFile)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	c, err := parse(path, src, all)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, errors.New(path + " has no table [tool.graphleak]")
	}
	return &Loader{only: c}, nil
}

// Again returns a loader that reads all files anew. A file that has become wrong
// counts as it was. Whether those that were wrong still are is known at once.
func (l *Loader) Again() *Loader {
	next := NewLoader(l.rules)
	next.only = l.only
	l.mu.Lock()
	maps.Copy(next.sound, l.sound)
	l.mu.Unlock()
	for path := range l.Problems() {
		next.For(path)
	}
	return next
}

// For is the configuration of the file at an absolute path. It is never nil: a
// file that is wrong counts as it last was in order, or is passed over.
func (l *Loader) For(path string) *Config {
	if l.only != nil {
		return l.only
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in(filepath.Dir(path))
}

// Excludes reports whether the configuration of a file or directory says that it
// is not to be checked.
func (l *Loader) Excludes(path string, isDir bool) bool { return l.For(path).Excludes(path, isDir) }

// Problems are all that is wrong with the files that were read so far, by path.
func (l *Loader) Problems() map[string]Problems {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.broken)
}

// Err is what is wrong with the files that were read so far, or nil.
func (l *Loader) Err() error {
	broken := l.Problems()
	var all Problems
	for _, path := range slices.Sorted(maps.Keys(broken)) {
		all = append(all, broken[path]...)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// in is the configuration of the files in a directory.
func (l *Loader) in(dir string) *Config {
	if c, known := l.dirs[dir]; known {
		return c
	}
	c := l.read(filepath.Join(dir, FileName))
	if up := filepath.Dir(dir); c == nil && up != dir {
		c = l.in(up)
	} else if c == nil {
		c = &Config{}
	}
	l.dirs[dir] = c
	return c
}

// read is the configuration in one file, nil if it has none.
func (l *Loader) read(path string) *Config {
	src, err := sources.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		delete(l.sound, path)
		return nil
	}
	var c *Config
	if err != nil {
		err = Problems{{Path: path, Line: 1, Column: 1, Message: err.Error()}}
	} else {
		c, err = parse(path, src, l.rules)
	}
	if problems := (Problems)(nil); errors.As(err, &problems) {
		l.broken[path] = problems
		return l.sound[path]
	}
	if c == nil {
		delete(l.sound, path)
	} else {
		l.sound[path] = c
	}
	return c
}
