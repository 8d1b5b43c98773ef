package names

import (
	"path/filepath"
	"slices"
	"strings"
	"unique"
)

// Dependencies are the files that the outcome of an analysis rests on besides the
// one that was analysed: those that its imports lead to, directly or through
// others, and those that would be read instead if they were there. Beyond one
// analysis they are kept for each file of a workspace, so they are small.
type Dependencies struct {
	files []unique.Handle[string]
	// sought are where imports were looked for: paths without an extension, and of
	// absolute imports, which are looked for in many directories, the ends of such
	// paths.
	sought []unique.Handle[string]
}

// Add notes that an import of the file at path from has the answer.
func (d *Dependencies) Add(from string, level int, dotted string, answer Import) {
	if answer.Module != nil {
		add(&d.files, answer.Module.Path)
	}
	rel := strings.ReplaceAll(dotted, ".", "/")
	switch {
	case level == 0:
		if rel != "" && !installed[firstPart(dotted)] {
			add(&d.sought, rel)
		}
	case from != "":
		dir := filepath.Dir(from)
		for range level - 1 {
			dir = filepath.Dir(dir)
		}
		add(&d.sought, filepath.ToSlash(filepath.Join(dir, rel)))
	}
}

// Use notes that what files at paths do with the analysed one counts too.
func (d *Dependencies) Use(paths ...string) {
	for _, path := range paths {
		add(&d.files, path)
	}
}

func add(to *[]unique.Handle[string], s string) {
	if h := unique.Make(s); !slices.Contains(*to, h) {
		*to = append(*to, h)
	}
}

// Files are the paths of the files that were read.
func (d Dependencies) Files() []string {
	out := make([]string, len(d.files))
	for i, h := range d.files {
		out[i] = h.Value()
	}
	return out
}

// On reports whether the outcome may be another if the file at an absolute path
// changes, comes or goes.
func (d Dependencies) On(path string) bool {
	if slices.Contains(d.files, unique.Make(path)) {
		return true
	}
	for stem := importStem(path); stem != ""; {
		if slices.Contains(d.sought, unique.Make(stem)) {
			return true
		}
		next := strings.IndexByte(stem, '/') + 1
		if next == 0 {
			break
		}
		stem = stem[next:]
	}
	return false
}

// importStem is how imports spell the path of a file: without its extension, or
// the directory of a package.
func importStem(path string) string {
	stem := filepath.ToSlash(strings.TrimSuffix(path, ".py"))
	return strings.TrimSuffix(stem, "/__init__")
}
