package names

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Programs are the files that may run in one program with the file at path: those
// that import it, directly or through others, those of which it is not known what
// they import, and what all of these import. The file itself is not among them.
func (x *Index) Programs(path string, dynamic []string) []string {
	above := closure(append([]string{path}, dynamic...), func(path string) []string {
		importers := x.Importers(path)
		if filepath.Base(path) == packageFile {
			importers = append(importers, x.below(filepath.Dir(path))...)
		}
		return importers
	})
	all := closure(slices.Collect(maps.Keys(above)), func(path string) []string { return append(x.Imports(path), x.packages(path)...) })
	delete(all, path)
	return slices.Sorted(maps.Keys(all))
}

// packageFile runs before any file in its directory does.
const packageFile = "__init__.py"

// closure are the paths that lead from some others.
func closure(from []string, leads func(string) []string) map[string]bool {
	found := map[string]bool{}
	for len(from) > 0 {
		path := from[len(from)-1]
		from = from[:len(from)-1]
		if !found[path] {
			found[path] = true
			from = append(from, leads(path)...)
		}
	}
	return found
}

// packages are the files of the packages that the file at path is in.
func (x *Index) packages(path string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		of := filepath.Join(dir, packageFile)
		if _, ok := x.files[of]; !ok {
			return out
		}
		out = append(out, of)
	}
}

// below are the files in a directory and those within it.
func (x *Index) below(dir string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []string
	for path := range x.files {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			out = append(out, path)
		}
	}
	return out
}
