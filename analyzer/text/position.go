package text

import (
	"bytes"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// Mapper translates between the byte offsets and the positions of one text. It
// is immutable; many goroutines may share it.
//
// Lines end at LF, CR LF or a lone CR, as in LSP and in Python. The line end is
// not part of the line: no position lies behind it on the same line, nor
// between CR and LF. A text that ends in a line end has an empty last line.
//
// Positions lie between whole characters. Text need not be valid UTF-8: each
// byte that is not part of a well-formed character counts as one character of
// one unit, in every encoding.
type Mapper struct {
	src    []byte
	starts []int // offset of the start of every line
	ascii  bool  // a column is a number of bytes in every encoding
}

// NewMapper returns the mapper of src, which must not change afterwards.
func NewMapper(src []byte) *Mapper {
	m := &Mapper{src: src, starts: make([]int, 1, 1+len(src)/32), ascii: isASCII(src)}
	carriageReturns := bytes.IndexByte(src, '\r') >= 0
	for at := 0; ; {
		end, n := bytes.IndexByte(src[at:], '\n'), 1
		if carriageReturns {
			end, n = lineEnd(src[at:])
		}
		if end < 0 {
			return m
		}
		at += end + n
		m.starts = append(m.starts, at)
	}
}

// lineEnd finds the first line end of b and how many bytes it has.
func lineEnd(b []byte) (at, n int) {
	at = bytes.IndexAny(b, "\r\n")
	if at >= 0 && b[at] == '\r' && at+1 < len(b) && b[at+1] == '\n' {
		return at, 2
	}
	return at, 1
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Lines is the number of lines, at least 1.
func (m *Mapper) Lines() int { return len(m.starts) }

// Line is the span of line i without its line end. Lines before the first and
// after the last are empty spans at the ends of the text.
func (m *Mapper) Line(i int) Span {
	switch {
	case i < 0:
		return Span{}
	case i >= len(m.starts):
		return Span{len(m.src), len(m.src)}
	}
	s := Span{m.starts[i], len(m.src)}
	if i+1 < len(m.starts) {
		s.End = m.starts[i+1] - 1
		if m.src[s.End] == '\n' && s.End > s.Start && m.src[s.End-1] == '\r' {
			s.End--
		}
	}
	return s
}

// LineAt is the line that offset lies on. A line end belongs to the line it
// ends; offsets outside the text belong to the nearest line.
func (m *Mapper) LineAt(offset int) int {
	i := sort.Search(len(m.starts), func(i int) bool { return m.starts[i] > offset })
	return max(i-1, 0)
}

// Position is where offset lies. An offset within a character or a line end
// gives the position before it, one outside the text the nearest position.
func (m *Mapper) Position(offset int, enc Encoding) Position {
	i := m.LineAt(offset)
	line := m.Line(i)
	offset = min(max(offset, line.Start), line.End)
	if m.ascii {
		return Position{i, offset - line.Start}
	}
	offset = m.characterStart(offset)
	return Position{i, units(m.src[line.Start:offset], enc)}
}

// Offset is the byte offset of p. Lines and columns out of range give the
// nearest offset: a column behind the line its end, a line behind the text the
// end of the text. A column within a character or between the two halves of a
// surrogate pair gives the offset before the character.
func (m *Mapper) Offset(p Position, enc Encoding) int {
	line := m.Line(p.Line)
	if m.ascii || enc == UTF8 {
		offset := line.Start + min(max(p.Column, 0), line.Len())
		if m.ascii {
			return offset
		}
		return m.characterStart(offset)
	}
	offset := line.Start
	for column := 0; column < p.Column && offset < line.End; {
		r, size := utf8.DecodeRune(m.src[offset:line.End])
		column++
		if enc == UTF16 && utf16.RuneLen(r) == 2 {
			column++
		}
		if column > p.Column {
			break
		}
		offset += size
	}
	return offset
}

// characterStart is offset, or the start of the character that it lies in.
func (m *Mapper) characterStart(offset int) int {
	if offset >= len(m.src) || utf8.RuneStart(m.src[offset]) {
		return min(offset, len(m.src))
	}
	for at := offset - 1; at >= 0 && offset-at < utf8.UTFMax; at-- {
		if utf8.RuneStart(m.src[at]) {
			if _, size := utf8.DecodeRune(m.src[at:]); at+size > offset {
				return at
			}
			break
		}
	}
	return offset
}

// units counts b, whole characters of one line, in the unit of enc.
func units(b []byte, enc Encoding) int {
	switch enc {
	case UTF8:
		return len(b)
	case UTF32:
		return utf8.RuneCount(b)
	}
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += utf16.RuneLen(r)
		b = b[size:]
	}
	return n
}
