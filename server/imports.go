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

// importers are the open documents that may import of, directly or through
// others that are open.
func (v *snapshot) importers(of *document) []*document {
	found := []*document{of}
	for i := 0; i < len(found); i++ {
		found = append(found, v.files(func(doc *document) bool {
			return !slices.ContainsFunc(found, func(f *document) bool { return f.uri == doc.uri }) && doc.mayImport(found[i])
		})...)
	}
	return found[1:]
}

// files are the open Python files of which keep is true. What is not a file
// imports nothing.
func (v *snapshot) files(keep func(*document) bool) []*document {
	var files []*document
	for _, doc := range v.documents {
		if doc.path != "" && doc.python() && keep(doc) {
			files = append(files, doc)
		}
	}
	return files
}

// mayImport reports whether an import in the document names the file of other,
// or a package that the file may belong to.
func (d *document) mayImport(other *document) bool {
	if other.path == "" {
		return false
	}
	names := strings.Split(filepath.ToSlash(strings.TrimSuffix(other.path, filepath.Ext(other.path))), "/")
	return slices.ContainsFunc(names, func(name string) bool { return d.imported()[name] })
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
