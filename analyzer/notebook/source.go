package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/graphleak/graphleak/analyzer/text"
)

// source is the source of a cell as it stands in the file: one string, or a
// list of strings whose texts follow one another. Jupyter writes one string for
// each line.
type source struct {
	number   int         // of the cell among all cells
	literals []text.Span // the strings in the file, without their quotes
	// separator ends one string of a list and begins another, formatted like
	// those around it. It is empty for a source that is no list.
	separator string
}

// text is the text of the cell.
func (s *source) text(data []byte) []byte {
	var out []byte
	for _, literal := range s.literals {
		raw := data[literal.Start:literal.End]
		if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
			out = append(out, raw...)
			continue
		}
		for len(raw) > 0 {
			r, size := decode(raw)
			out = utf8.AppendRune(out, r)
			raw = raw[size:]
		}
	}
	return out
}

// decode is the first character of raw, part of a JSON string, and how many
// bytes it takes there.
func decode(raw []byte) (rune, int) {
	if raw[0] != '\\' || len(raw) < 2 {
		return utf8.DecodeRune(raw)
	}
	if i := strings.IndexByte(`bfnrt`, raw[1]); i >= 0 {
		return rune("\b\f\n\r\t"[i]), 2
	}
	if raw[1] != 'u' {
		return rune(raw[1]), 2
	}
	r := unit(raw)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, unit(raw[min(6, len(raw)):])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6 // half a character
}

// unit is the UTF-16 unit that raw starts with in the form \u1234, or -1.
func unit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// raw is where in the file the text of span stands. Where one string ends and
// the next begins, a span begins in the next and ends in the first; an empty
// span lies in the next.
func (s *source) raw(data []byte, span text.Span) text.Span {
	at := 0 // in the text
	raw := text.Span{Start: -1}
	for _, literal := range s.literals {
		for here := literal.Start; here < literal.End; {
			if raw.Start < 0 && at >= span.Start {
				raw = text.Span{Start: here, End: here}
			}
			if at >= span.End {
				return raw
			}
			r, size := decode(data[here:literal.End])
			at += utf8.RuneLen(r)
			here += size
			raw.End = here
		}
	}
	if raw.Start < 0 {
		end := s.literals[len(s.literals)-1].End
		raw = text.Span{Start: end, End: end}
	}
	return raw
}

var errNoString = errors.New("a cell without any text cannot be edited")

// edit is an edit of the text src as one of the file. In a list the new lines
// become strings of their own.
func (s *source) edit(data []byte, e text.Edit, src []byte) (text.Edit, error) {
	if len(s.literals) == 0 {
		return text.Edit{}, errNoString
	}
	raw := s.raw(data, e.Span)
	if e.End < len(src) { // the string that what follows is in goes on from here
		raw.End = s.raw(data, text.Span{Start: e.End, End: e.End}).Start
	}
	lines := strings.SplitAfter(e.New, "\n")
	if last := len(lines) - 1; lines[last] == "" && e.End == len(src) {
		lines = lines[:last] // nothing follows the last line end
	}
	if e.Start == len(src) && bytes.HasSuffix(src, []byte{'\n'}) {
		lines = append([]string{""}, lines...)
	}
	for i, line := range lines {
		quoted, err := quote(line)
		if err != nil {
			return text.Edit{}, err
		}
		lines[i] = quoted
	}
	return text.Edit{Span: raw, New: strings.Join(lines, s.separator)}, nil
}

// quote is line as it stands within the quotes of a JSON string.
func quote(line string) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n"), nil
}
