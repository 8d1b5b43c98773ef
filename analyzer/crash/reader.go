package crash

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	chunkSize   = 256 << 10 // read at once
	historySize = 64 << 10  // of output kept to look back at
	maxSegment  = 32 << 10  // of one line; the rest of a longer one is a line of its own
)

// reader walks over a log in bounded memory. It skips from one interesting line
// to the next: ordinary output costs a search for literals and a count of
// newlines. While the visitor says that it wants every line, because it is
// inside a traceback, it gets every line.
type reader struct {
	literals *literals
	// common are the literals of lines that may be many, and alike: of those that
	// have none of the others pick takes a part.
	common *literals
	short  []string // literals too, but shorter than the others may be
	pick   func(line int) bool
	visit  func(line int, raw []byte)
	every  func() bool

	line    int // number of the line that starts at the current offset
	bytes   int64
	history history
	suspect int // bytes seen at the start that text does not have
	sampled int
}

// history is the output just before the current line.
type history struct {
	carried []byte // from earlier chunks
	current []byte // of this chunk, up to the current line
	line    int    // number of the current line
}

// tail calls f for the kept lines from the latest back, until f returns false.
// Parts of a line that progress bars overwrote are lines of the same number.
func (h history) tail(f func(line int, raw []byte) bool) {
	line := h.line
	for _, part := range [][]byte{h.current, h.carried} {
		for len(part) > 0 {
			end := len(part)
			if part[end-1] == '\n' {
				end--
				line--
			} else if part[end-1] == '\r' {
				end--
			}
			start := bytes.LastIndexAny(part[:end], "\r\n") + 1
			if start < end && !f(line, part[start:end]) {
				return
			}
			part = part[:start]
		}
	}
}

// run reads r to its end.
func (s *reader) run(ctx context.Context, r io.Reader) error {
	s.line = 1
	buf := make([]byte, 0, chunkSize+maxSegment)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf[len(buf):min(len(buf)+chunkSize, cap(buf))])
		s.bytes += int64(n)
		read := buf[len(buf) : len(buf)+n]
		s.sample(read)
		buf = buf[:len(buf)+len(withoutNUL(read))]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		whole := len(buf)
		if !last {
			whole = wholeLines(buf)
		}
		s.chunk(buf[:whole])
		buf = buf[:copy(buf, buf[whole:])]
		if last {
			return nil
		}
	}
}

// wholeLines is how much of buf ends with a line end, or with a return of the
// carriage, or else all but a few bytes: whatever keeps the rest short.
func wholeLines(buf []byte) int {
	short := max(0, len(buf)-maxSegment)
	if i := bytes.LastIndexByte(buf[short:], '\n'); i >= 0 {
		return short + i + 1
	}
	// A carriage return at the very end may be half of a CR LF.
	if i := bytes.LastIndexByte(buf[short:max(short, len(buf)-1)], '\r'); i >= 0 {
		return short + i + 1
	}
	return len(buf)
}

// chunk goes over b, which starts and ends between lines.
func (s *reader) chunk(b []byte) {
	rare, common := newHits(b, s.literals, nil), newHits(b, s.common, s.short)
	at := 0
	for at < len(b) {
		if !s.every() {
			event, other := rare.next(at), common.next(at)
			hit := min(event, other)
			if hit == len(b) {
				s.line += bytes.Count(b[at:], newline)
				break
			}
			start := at + bytes.LastIndexByte(b[at:hit], '\n') + 1
			s.line += bytes.Count(b[at:start], newline)
			at = start
			if event > other && !s.pick(s.line) {
				end := len(b)
				if i := bytes.IndexByte(b[other:], '\n'); i >= 0 {
					end = other + i
				}
				if event > end {
					if at = end; end < len(b) {
						at++
						s.line++
					}
					continue
				}
			}
		}
		at += s.oneLine(b, at)
	}
	s.history.carried = appendTail(s.history.carried, b)
	s.history.current, s.history.line = nil, s.line
}

// hits finds the places of literals in a chunk, one after the other.
type hits struct {
	text  []byte
	words *literals
	short [][]byte
	// found are the next places, of the words first and then of each short one;
	// the length of the text if there is none.
	found []int
}

func newHits(text []byte, words *literals, short []string) *hits {
	h := &hits{text: text, words: words, found: make([]int, 1+len(short))}
	for _, w := range short {
		h.short = append(h.short, []byte(w))
	}
	for i := range h.found {
		h.found[i] = -1
	}
	return h
}

// next is the first place at or after at.
func (h *hits) next(at int) int {
	first := len(h.text)
	for i, place := range h.found {
		if place < at {
			switch {
			case i > 0:
				place = bytes.Index(h.text[at:], h.short[i-1])
			case h.words != nil:
				place = h.words.find(h.text[at:])
			}
			if place < 0 {
				place = len(h.text)
			} else {
				place += at
			}
			h.found[i] = place
		}
		first = min(first, place)
	}
	return first
}

var newline = []byte{'\n'}

// oneLine visits the line at offset at, piece by piece where carriage returns
// or its length cut it, and returns its length.
func (s *reader) oneLine(b []byte, at int) int {
	end, next := len(b), len(b)
	if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
		end, next = at+i, at+i+1
	}
	for from := at; from < end; {
		to := end
		if i := bytes.IndexByte(b[from:end], '\r'); i >= 0 {
			to = from + i
		}
		to = min(to, from+maxSegment)
		if to > from {
			s.history.current, s.history.line = b[:from], s.line
			s.visit(s.line, b[from:to])
		}
		from = to
		if from < end && b[from] == '\r' {
			from++
		}
	}
	if end == at { // an empty line ends a message
		s.visit(s.line, nil)
	}
	if next > end {
		s.line++
	}
	return next - at
}

// appendTail keeps the last historySize bytes of kept followed by b.
func appendTail(kept, b []byte) []byte {
	if len(b) >= historySize {
		return append(kept[:0], b[len(b)-historySize:]...)
	}
	if over := len(kept) + len(b) - historySize; over > 0 {
		kept = kept[:copy(kept, kept[over:])]
	}
	return append(kept, b...)
}

// sample counts in the first bytes of the input what text does not contain. NUL
// bytes do not count: a log that was cut while it was open begins with a hole.
func (s *reader) sample(b []byte) {
	b = b[:min(len(b), max(0, chunkSize-s.sampled))]
	for _, c := range b {
		if c != 0 {
			s.sampled++
		}
		if 0 < c && c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != escape && c != bell && c != '\b' && c != '\f' {
			s.suspect++
		}
	}
}

// binary reports whether the input does not look like text.
func (s *reader) binary() bool { return s.suspect > 16 && s.suspect*32 > s.sampled }
