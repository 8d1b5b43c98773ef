// Package text maps byte offsets of a document to the line and column that
// editors, terminals and Python tools speak of, and applies edits to it.
//
// Everything in the analyser counts in bytes. Positions exist only at the
// edges: LSP clients count UTF-16 code units (or UTF-8 or UTF-32 where both
// sides agree on it), the command line counts Unicode code points from 1.
package text

// Span is a half-open range of byte offsets [Start, End).
type Span struct{ Start, End int }

// Len is the length of s in bytes.
func (s Span) Len() int { return s.End - s.Start }

// Contains reports whether offset lies in s; the end is not part of it.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset < s.End }

// Covers reports whether all of t lies within s.
func (s Span) Covers(t Span) bool { return s.Start <= t.Start && t.End <= s.End }

// Encoding is the unit in which the column of a Position counts.
type Encoding uint8

// The units that LSP knows. UTF32 counts Unicode code points.
const (
	UTF8 Encoding = iota
	UTF16
	UTF32
)

// Position is a zero-based line and a zero-based column within it.
type Position struct{ Line, Column int }

// Edit replaces the bytes of Span with New.
type Edit struct {
	Span
	New string
}
