package sources

import (
	"github.com/graphleak/graphleak/analyzer/notebook"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Source is a file with Python code and the code in it.
type Source struct {
	Path string
	Data []byte // the content of the file
	// Code is what is checked: Data, or the joined cells of a notebook.
	Code []byte
	// Notebook leads from Code back to the cells; nil for a Python file.
	Notebook *notebook.File
}

// New is the source at path with the given content; the name tells notebooks.
// The text of its error is one line for a person, without the path.
func New(path string, data []byte) (Source, error) {
	s := Source{Path: path, Data: data, Code: data}
	if IsNotebook(path) {
		file, err := notebook.Parse(data)
		if err != nil {
			return Source{}, err
		}
		s.Notebook, s.Code = file, file.Text()
	}
	return s, nil
}

// Load reads the source at path. Its error is like that of New.
func Load(path string) (Source, error) {
	data, err := Read(path, Limit(path))
	if err != nil {
		return Source{}, err
	}
	return New(path, data)
}

// Limit is how large a file of this name may be. Most of a notebook is what its
// code has put out.
func Limit(path string) int {
	if IsNotebook(path) {
		return notebook.MaxBytes
	}
	return syntax.MaxBytes
}

// With is the content of the file with code in place of the code that it has.
func (s Source) With(code []byte) ([]byte, error) {
	if s.Notebook == nil {
		return code, nil
	}
	return s.Notebook.With(code)
}
