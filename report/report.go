// Package report writes what a check found: as text for people, as JSON and
// SARIF for programs, and as annotations for GitHub's review pages.
//
// All of them count lines and columns from 1, columns in Unicode code points.
package report

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// Result is the outcome of a check of several files.
type Result struct {
	Findings []rules.Finding // in the order in which they are written
	// Sources are what the findings and their evidence speak of, by path.
	Sources map[string]sources.Source
	Files   int // how many files were checked
	Skipped []sources.Skipped
	Rules   []*rules.Rule // those that ran
	// Statistics asks for the number of findings of each rule: as text in place of
	// the findings, in JSON beside them.
	Statistics bool
	// Version is that of the program, for formats that name it.
	Version string
}

// Format is how a result is written.
type Format string

// The formats of a report.
const (
	Text   Format = "text"
	JSON   Format = "json"
	SARIF  Format = "sarif"
	GitHub Format = "github"
)

// Write writes the result to w. Color concerns Text alone.
func Write(w io.Writer, result Result, format Format, color bool) error {
	l := newLocator(result.Sources)
	switch format {
	case Text:
		if result.Statistics {
			return writeStatistics(w, result, color)
		}
		return writeText(w, result, l, color)
	case JSON:
		return writeJSON(w, result, l)
	case SARIF:
		return writeSARIF(w, result, l)
	case GitHub:
		return writeGitHub(w, result, l)
	}
	return fmt.Errorf("unknown report format %q", format)
}

// position is a place in a file for people and programs: line and column from
// 1, the column in Unicode code points.
type position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// extent is a half-open range of positions.
type extent struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// locator translates spans of the sources of one report.
type locator struct {
	sources map[string]sources.Source
	mappers map[unit]*text.Mapper
}

// unit is a text whose lines are counted: a file, or a cell of a notebook.
type unit struct {
	path string
	cell int // from 1; 0 for the file
}

func newLocator(from map[string]sources.Source) locator {
	return locator{sources: from, mappers: make(map[unit]*text.Mapper)}
}

// mapper is that of a unit with the given text.
func (l locator) mapper(u unit, src []byte) *text.Mapper {
	m := l.mappers[u]
	if m == nil {
		m = text.NewMapper(src)
		l.mappers[u] = m
	}
	return m
}

// place is a span as people know it: in a file, or in a cell of a notebook.
type place struct {
	unit
	src    []byte // of the unit
	mapper *text.Mapper
	span   text.Span // in src
}

func (l locator) place(path string, span text.Span) place {
	source := l.sources[path]
	p := place{unit: unit{path: path}, src: source.Code, span: span}
	if nb := source.Notebook; nb != nil {
		if i, local := nb.Locate(span); i >= 0 {
			cell := nb.Cell(i)
			p = place{unit: unit{path, nb.Number(i)}, src: source.Code[cell.Start:cell.End], span: local}
		}
	}
	p.mapper = l.mapper(p.unit, p.src)
	return p
}

func (p place) extent() extent { return extentOf(p.mapper, p.span) }

// edit is the place that an edit replaces and what it puts there.
func (l locator) edit(e rules.FileEdit) (string, place) {
	at := l.place(e.Path, e.Span)
	if nb := l.sources[e.Path].Notebook; nb != nil {
		if _, local, ok := nb.Edit(e.Edit); ok {
			at.span = local.Span
			return local.New, at
		}
	}
	return e.New, at
}

// inFile is where a span is in its file. A notebook is JSON there.
func (l locator) inFile(path string, span text.Span) extent {
	source := l.sources[path]
	if source.Notebook != nil {
		span, _ = source.Notebook.Raw(span)
	}
	return l.ofFile(path, span)
}

// ofFile is a span of the bytes of a file.
func (l locator) ofFile(path string, span text.Span) extent {
	return extentOf(l.mapper(unit{path: path}, l.sources[path].Data), span)
}

func extentOf(m *text.Mapper, span text.Span) extent {
	at := func(offset int) position {
		p := m.Position(offset, text.UTF32)
		return position{Line: p.Line + 1, Column: p.Column + 1}
	}
	return extent{Start: at(span.Start), End: at(span.End)}
}

// slashed is a path as reports for programs write it on every system.
func slashed(path string) string { return filepath.ToSlash(path) }
