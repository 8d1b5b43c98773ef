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
	// Texts are the sources that the findings and their evidence speak of, by
	// path.
	Texts   map[string][]byte
	Files   int // how many files were checked
	Skipped []sources.Skipped
	Rules   []*rules.Rule // those that ran
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
	l := newLocator(result.Texts)
	switch format {
	case Text:
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
	texts   map[string][]byte
	mappers map[string]*text.Mapper
}

func newLocator(texts map[string][]byte) locator {
	return locator{texts: texts, mappers: make(map[string]*text.Mapper)}
}

func (l locator) mapper(path string) *text.Mapper {
	m := l.mappers[path]
	if m == nil {
		m = text.NewMapper(l.texts[path])
		l.mappers[path] = m
	}
	return m
}

func (l locator) position(path string, offset int) position {
	p := l.mapper(path).Position(offset, text.UTF32)
	return position{Line: p.Line + 1, Column: p.Column + 1}
}

func (l locator) extent(path string, span text.Span) extent {
	return extent{Start: l.position(path, span.Start), End: l.position(path, span.End)}
}

// slashed is a path as reports for programs write it on every system.
func slashed(path string) string { return filepath.ToSlash(path) }
