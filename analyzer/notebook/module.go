// Package notebook makes one Python module of the code cells of a notebook, and
// leads back from the module to the cells: a kernel runs cells in one namespace,
// so a loop in one cell may keep what another has made, and only all of them
// together tell.
//
// A Module is the joined text with the map to its cells. A File is a module that
// was read from an .ipynb file, with the way back into its JSON: an edit of the
// module changes the strings that hold the edited lines and no other byte.
package notebook

import (
	"bytes"
	"errors"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

// Module is the Python code of a notebook as one text, in the order in which the
// cells stand. It is what syntax.ParseNotebook reads. A module is immutable.
type Module struct {
	src   []byte
	cells []text.Span
}

// Join makes a module of the sources of cells.
func Join(cells [][]byte) *Module {
	size := 0
	for _, cell := range cells {
		size += len(syntax.CellMarker) + len(cell) + 1
	}
	m := &Module{src: make([]byte, 0, size), cells: make([]text.Span, len(cells))}
	for i, cell := range cells {
		m.src = append(m.src, syntax.CellMarker...)
		m.cells[i] = text.Span{Start: len(m.src), End: len(m.src) + len(cell)}
		m.src = append(m.src, cell...)
		m.src = append(m.src, '\n')
	}
	return m
}

// Text is the joined text.
func (m *Module) Text() []byte { return m.src }

// Len is the number of cells.
func (m *Module) Len() int { return len(m.cells) }

// Cell is where in the text the source of cell i stands.
func (m *Module) Cell(i int) text.Span { return m.cells[i] }

// At is the cell that offset lies in. What lies between two cells belongs to
// the first of them. A module without cells has none: -1.
func (m *Module) At(offset int) int {
	i, found := slices.BinarySearchFunc(m.cells, offset, func(c text.Span, offset int) int { return c.Start - offset })
	if found || i == 0 && len(m.cells) > 0 {
		return i
	}
	return i - 1
}

// Locate is the cell that s starts in, and the part of s that lies in it,
// counted from its start.
func (m *Module) Locate(s text.Span) (cell int, local text.Span) {
	cell = m.At(s.Start)
	if cell < 0 {
		return cell, text.Span{}
	}
	within := m.cells[cell]
	clamp := func(offset int) int { return min(max(offset, within.Start), within.End) - within.Start }
	return cell, text.Span{Start: clamp(s.Start), End: clamp(s.End)}
}

// Edit is an edit of the module as one of a cell. It reports false for an edit
// that belongs to no single cell.
//
// Lines that are put behind the last line of a cell go to its end.
func (m *Module) Edit(e text.Edit) (cell int, local text.Edit, ok bool) {
	cell = m.At(e.Start)
	if cell < 0 {
		return 0, text.Edit{}, false
	}
	within := m.cells[cell]
	// The line end after a cell is none of its own.
	if e.End == within.End+1 {
		lines, whole := cutLineEnd(e.New)
		startsLine := e.Start > within.Start && e.Start <= within.End && m.src[e.Start-1] == '\n'
		switch {
		case whole && e.Start > within.End: // lines behind the last
			lines = "\n" + lines
		case whole, e.New == "" && e.Start == within.Start:
		case e.New == "" && startsLine: // the last lines go
			e.Start--
		default:
			return 0, text.Edit{}, false
		}
		e = text.Edit{Span: text.Span{Start: min(e.Start, within.End), End: within.End}, New: lines}
	}
	if !within.Covers(e.Span) {
		return 0, text.Edit{}, false
	}
	return cell, text.Edit{Span: text.Span{Start: e.Start - within.Start, End: e.End - within.Start}, New: e.New}, true
}

// cutLineEnd is s without its last line end, and whether it had one.
func cutLineEnd(s string) (string, bool) {
	if n := len(s) - 1; n >= 0 && s[n] == '\n' {
		return s[:n], true
	}
	return s, false
}

// ErrCellsChanged says that an edited text no longer has the cells of its module.
var ErrCellsChanged = errors.New("an edit reaches from one cell of the notebook into another")

// Split is the sources of the cells in src, an edited version of the module's
// text.
func (m *Module) Split(src []byte) ([][]byte, error) {
	if len(m.cells) == 0 && len(src) == 0 {
		return nil, nil
	}
	marker := []byte(syntax.CellMarker)
	rest, ok := bytes.CutPrefix(src, marker)
	if !ok {
		return nil, ErrCellsChanged
	}
	cells := bytes.Split(rest, slices.Concat([]byte{'\n'}, marker))
	last := len(cells) - 1
	cells[last], ok = bytes.CutSuffix(cells[last], []byte{'\n'})
	if !ok || len(cells) != len(m.cells) {
		return nil, ErrCellsChanged
	}
	return cells, nil
}
