package server

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What a document imports decides what is found in it. Open documents are read
// as they are in the editor, so a change of one of them concerns those that
// import it, too. Which ones these are is told by names: to resolve the imports
// of every document at each keystroke would cost more than a check too many.

// importers are the open programs that may import of, directly or through
// others that are open.
func (v *snapshot) importers(of *program) []*program {
	found := []*program{of}
	for i := 0; i < len(found); i++ {
		found = append(found, v.files(func(p *program) bool {
			return !slices.ContainsFunc(found, func(f *program) bool { return f.uri == p.uri }) && p.mayImport(found[i])
		})...)
	}
	return found[1:]
}

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

// mayImport reports whether an import in the program names the file of other,
// or a package that the file may belong to.
func (p *program) mayImport(other *program) bool {
	return other.path != "" && other.cells == nil && namesFile(p.imported(), other.path)
}

// namesFile reports whether words, those of imports, name the file at path or a
// package that it may belong to.
func namesFile(words map[string]bool, path string) bool {
	names := strings.Split(filepath.ToSlash(strings.TrimSuffix(path, filepath.Ext(path))), "/")
	return slices.ContainsFunc(names, func(name string) bool { return words[name] })
}

// importLine is a line with an import, up to the end of the names in
// parentheses.
var importLine = regexp.MustCompile(`(?m)^.*\bimport\b(?:[^(\\\n]|\\\r?\n)*(?:\([^)]*\))?`)

var word = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

// importedNames are the words of all imports in src.
func importedNames(src []byte) map[string]bool {
	names := make(map[string]bool)
	for _, line := range importLine.FindAll(src, -1) {
		for _, name := range word.FindAll(line, -1) {
			names[string(name)] = true
		}
	}
	return names
}
