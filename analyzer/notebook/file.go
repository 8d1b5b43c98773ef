package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/graphleak/graphleak/analyzer/text"
)

// MaxBytes is how large a notebook may be. Most of one is outputs, images among
// them, so this is far more than the code that may be in it.
const MaxBytes = 64 << 20

// Why a file is not read as a notebook. Each is one line for people.
var (
	ErrOldFormat = errors.New("the notebook has a format from before 2015; save it with a current Jupyter to convert it")
	ErrNoCells   = errors.New("not a notebook: there are no cells")
)

// File is a notebook on disk.
type File struct {
	*Module
	data []byte
	code []source // one for each cell of the module
}

// Parse reads the content of an .ipynb file. Cells that are not Python, by their
// type or by the language of the notebook, are no part of the module.
func Parse(data []byte) (*File, error) {
	r := reader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	if err := r.notebook(); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends in the middle")
		}
		return nil, fmt.Errorf("not a notebook: %w", err)
	}
	switch {
	case r.format < 4 && r.format != 0:
		return nil, ErrOldFormat
	case !r.hasCells:
		return nil, ErrNoCells
	case !isPython(r.language):
		r.code = nil
	}
	texts := make([][]byte, len(r.code))
	for i, cell := range r.code {
		texts[i] = cell.text(data)
	}
	return &File{Module: Join(texts), data: data, code: r.code}, nil
}

func isPython(language string) bool {
	language = strings.ToLower(language)
	return language == "" || strings.HasPrefix(language, "python") || language == "ipython"
}

// Number is the number of cell i of the module among all cells of the notebook,
// those that are not code too, counted from 1.
func (f *File) Number(i int) int { return f.code[i].number }

// Raw is the bytes of the file that hold the text of a span of the module. An
// empty cell without any string has none.
func (f *File) Raw(s text.Span) (raw text.Span, ok bool) {
	i, local := f.Locate(s)
	if i < 0 || len(f.code[i].literals) == 0 {
		return text.Span{}, false
	}
	return f.code[i].raw(f.data, local), true
}

// RawEdit is an edit of the module as one of the file. It reports false for an
// edit that belongs to no single cell.
func (f *File) RawEdit(e text.Edit) (raw text.Edit, ok bool) {
	i, local, ok := f.Edit(e)
	if !ok {
		return text.Edit{}, false
	}
	raw, err := f.code[i].edit(f.data, local, f.cell(i))
	return raw, err == nil
}

// cell is the text of cell i.
func (f *File) cell(i int) []byte { return f.src[f.cells[i].Start:f.cells[i].End] }

// With returns the content of the file with src, an edited version of the
// module's text, in place of that text. Strings whose text is the same are the
// same byte for byte, and so is all else. Lists of lines stay lists of lines.
func (f *File) With(src []byte) ([]byte, error) {
	cells, err := f.Split(src)
	if err != nil {
		return nil, err
	}
	var edits []text.Edit
	for i, after := range cells {
		before := f.cell(i)
		if bytes.Equal(before, after) {
			continue
		}
		for _, e := range udiff.Strings(string(before), string(after)) {
			edit, err := f.code[i].edit(f.data, text.Edit{Span: text.Span{Start: e.Start, End: e.End}, New: e.New}, before)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit)
		}
	}
	return text.Apply(f.data, edits)
}

// reader goes through the JSON of a notebook once.
type reader struct {
	data []byte
	dec  *json.Decoder

	format   int
	language string
	hasCells bool
	cells    int // seen so far
	code     []source
}

var errSyntax = errors.New("it has not the structure of one")

func (r *reader) notebook() error {
	err := r.object(func(key string) error {
		switch key {
		case "nbformat":
			return r.dec.Decode(&r.format)
		case "metadata":
			var meta struct {
				Kernelspec   struct{ Language string }
				LanguageInfo struct{ Name string } `json:"language_info"`
			}
			err := r.value(&meta)
			r.language = meta.LanguageInfo.Name
			if r.language == "" {
				r.language = meta.Kernelspec.Language
			}
			return err
		case "cells":
			r.hasCells = true
			return r.array(r.cell)
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return errSyntax
	}
	return nil
}

// cell reads one cell.
func (r *reader) cell() error {
	r.cells++
	cell := source{number: r.cells}
	var kind, language string
	err := r.object(func(key string) error {
		switch key {
		case "cell_type":
			return r.dec.Decode(&kind)
		case "metadata":
			var meta struct {
				VSCode struct{ LanguageID string }
			}
			err := r.value(&meta)
			language = meta.VSCode.LanguageID
			return err
		case "source":
			cell.literals = nil
			return r.source(&cell)
		}
		return r.skip()
	})
	if kind == "code" && isPython(language) {
		r.code = append(r.code, cell)
	}
	return err
}

// source reads the source of a cell: a string, or a list of lines.
func (r *reader) source(to *source) error {
	literal := func() error {
		start := r.next()
		token, err := r.dec.Token()
		if err != nil {
			return err
		}
		if _, ok := token.(string); !ok {
			return errSyntax
		}
		to.literals = append(to.literals, text.Span{Start: start + 1, End: int(r.dec.InputOffset()) - 1})
		return nil
	}
	at := r.next()
	if at < len(r.data) && r.data[at] == '[' {
		err := r.array(literal)
		if len(to.literals) > 0 {
			to.separator = `",` + string(r.data[at+1:to.literals[0].Start])
		}
		return err
	}
	return literal()
}

// next is the offset of the value that the decoder reads next.
func (r *reader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

// value decodes into v what is of the type of v; what is of another is left out.
func (r *reader) value(v any) error {
	err := r.dec.Decode(v)
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		return nil
	}
	return err
}

// skip goes over a value.
func (r *reader) skip() error {
	var raw json.RawMessage
	return r.dec.Decode(&raw)
}

// object reads an object, with read for the value of each key.
func (r *reader) object(read func(key string) error) error {
	return r.within('{', func() error {
		key, err := r.dec.Token()
		if err != nil {
			return err
		}
		return read(key.(string)) // the decoder takes no other keys
	})
}

// array reads an array, with read for each element.
func (r *reader) array(read func() error) error { return r.within('[', read) }

func (r *reader) within(open json.Delim, read func() error) error {
	token, err := r.dec.Token()
	if err != nil {
		return err
	}
	if token != open {
		return errSyntax
	}
	for r.dec.More() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err = r.dec.Token()
	return err
}
