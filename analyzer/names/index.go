package names

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Index knows which of many files import which others. It looks at their import
// statements only, and where these lead among the files that it has been given.
// Many goroutines may use one Index.
type Index struct {
	mu    sync.RWMutex
	files map[string]indexed
	// importing are the files with an import that ends in a word.
	importing map[string]map[string]bool
}

type indexed struct {
	resolver *Resolver
	imports  []ImportedName
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{files: map[string]indexed{}, importing: map[string]map[string]bool{}}
}

// Add adds the file at an absolute path, or its next version, whose imports are
// found by resolver.
func (x *Index) Add(path string, src []byte, resolver *Resolver) {
	imports := ImportsIn(src)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(path)
	x.files[path] = indexed{resolver, imports}
	for _, name := range imports {
		word := lastWord(path, name)
		if x.importing[word] == nil {
			x.importing[word] = map[string]bool{}
		}
		x.importing[word][path] = true
	}
}

// Remove removes the file at path.
func (x *Index) Remove(path string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(path)
}

func (x *Index) remove(path string) {
	for _, name := range x.files[path].imports {
		delete(x.importing[lastWord(path, name)], path)
	}
	delete(x.files, path)
}

// Importers are the files that have an import which leads to the file at path, by
// path.
func (x *Index) Importers(path string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []string
	word := filepath.Base(filepath.FromSlash(importStem(path)))
	for _, importer := range slices.Sorted(maps.Keys(x.importing[word])) {
		file := x.files[importer]
		if importer != path && slices.ContainsFunc(file.imports, func(name ImportedName) bool {
			return lastWord(importer, name) == word && x.find(importer, file.resolver, name) == path
		}) {
			out = append(out, importer)
		}
	}
	return out
}

// Imports are the files that the imports of the file at path lead to, in their
// order.
func (x *Index) Imports(path string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	file := x.files[path]
	var out []string
	for _, name := range file.imports {
		if found := x.find(path, file.resolver, name); found != "" && !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out
}

// Asks are the names in the imports of the file at path.
func (x *Index) Asks(path string) []ImportedName {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.files[path].imports
}

// find is the file that an import of another leads to, empty for a library.
func (x *Index) find(from string, resolver *Resolver, name ImportedName) string {
	rel := filepath.Join(strings.Split(name.Dotted, ".")...)
	for dir := range resolver.places(from, name.Level, name.Dotted) {
		for _, path := range candidates(dir, rel) {
			if _, ok := x.files[path]; ok && path != from {
				return path
			}
		}
	}
	return ""
}

// lastWord is the last word of the path that an import leads to.
func lastWord(from string, name ImportedName) string {
	if name.Dotted != "" {
		return name.Dotted[strings.LastIndexByte(name.Dotted, '.')+1:]
	}
	dir := filepath.Dir(from)
	for range name.Level - 1 {
		dir = filepath.Dir(dir)
	}
	return filepath.Base(dir)
}
