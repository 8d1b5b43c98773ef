package server

import "slices"

// What a document imports decides what is found in it, and open documents are read
// as they are in the editor. A check knows which files it has read, through however
// many imports, and where it looked for others. When one of these changes, comes or
// goes, it is made again.

// files are the open Python files and notebooks of which keep is true. What is
// not a file imports nothing.
func (v *snapshot) files(keep func(*program) bool) []*program {
	var files []*program
	for _, p := range v.programs {
		if p.path != "" && p.python() && keep(p) {
			files = append(files, p)
		}
	}
	return files
}

// affected are the open programs in which other things may be found when the
// files at paths change, come or go: those that the last check of each is known to
// rest on. A check that is running, and may have read such a file before, looks
// at its end.
func (v *snapshot) affected(paths []string) []*program {
	return v.files(func(p *program) bool {
		if slices.Contains(paths, p.path) {
			return false
		}
		p.check.note(paths)
		return slices.ContainsFunc(paths, p.dependencies().On)
	})
}

// pathsOf are the paths under which imports may read a program: its own, and where
// it really is if that is a link.
func (v *snapshot) pathsOf(p *program) []string {
	if p.path == "" {
		return nil
	}
	paths := []string{p.path}
	for real, link := range v.links {
		if link == p.path {
			paths = append(paths, real)
		}
	}
	return paths
}
