package syntax

import (
	"strings"
	"unicode/utf8"
)

// CellMarker is the line that stands before each cell in the joined text of a
// notebook. It is a statement so that no block or bracket of one cell reaches
// into the next.
const CellMarker = "pass  # the next cell of the notebook\n"

// blankMagics turns what IPython does not pass on to Python into comments, in
// place: no byte moves. In src the cells of a notebook follow one another, each
// behind a [CellMarker]; src may also be one cell.
//
// These become comments: line magics (%matplotlib inline), shell commands
// (!pip install x), help (?x, x?, x??), and whole cells under a magic whose
// body is not Python (%%bash). Under one whose body is (%%time) only the magic
// is, and %time gives way to the statement behind it. In x = !ls and x = %pwd
// the right side becomes the name _, of which nothing is known.
func blankMagics(src string) string {
	if !strings.ContainsAny(src, escapes) && !strings.Contains(src, CellMarker) {
		return src
	}
	b := blanker{src: src}
	for at := 0; at < len(src); {
		end := cellEnd(src, at)
		b.cell(at, end)
		at = end
	}
	return b.String()
}

// escapes are the characters by which IPython knows its own lines.
const escapes = "%!?,;/"

// cellEnd is the end of the cell at at: the start of the next marker.
func cellEnd(src string, at int) int {
	if i := strings.Index(src[at:], "\n"+CellMarker); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// pythonMagics run the body of their cell as Python in the notebook's process.
var pythonMagics = map[string]bool{
	"capture": true, "debug": true, "memit": true, "prun": true, "time": true, "timeit": true, "wandb": true,
}

func magicName(text string) string { return word(strings.TrimLeft(text, "%")) }

// blanker copies a text up to done and changes bytes on the way.
type blanker struct {
	src  string
	out  []byte
	done int
}

func (b *blanker) String() string {
	if b.done == 0 {
		return b.src
	}
	return string(append(b.out, b.src[b.done:]...))
}

// blank replaces the bytes from start to end, which lie on one line, by s and
// spaces.
func (b *blanker) blank(start, end int, s string) {
	b.out = append(b.out, b.src[b.done:start]...)
	b.out = append(b.out, s...)
	for i := start + len(s); i < end; i++ {
		b.out = append(b.out, ' ')
	}
	b.done = end
}

// cell looks at the lines of one cell, from at to end.
func (b *blanker) cell(at, end int) {
	src := b.src[:end]
	if strings.HasPrefix(src[at:], CellMarker) {
		at += len(CellMarker)
	}
	fresh := true // only blank lines and comments so far
	for at < end {
		stop := lineStop(src, at)
		text := strings.TrimSpace(src[at:stop])
		switch {
		case text == "" || text[0] == '#':
		case fresh && strings.HasPrefix(src[at:], "%%"):
			if !pythonMagics[magicName(text)] {
				b.comments(at, end)
				return
			}
			b.comments(at, stop)
		default:
			fresh = false
			at = b.statement(src, at)
			continue
		}
		at = min(stop+1, end)
	}
}

// comments makes every line between start and end a comment. It returns the
// start of the next line.
func (b *blanker) comments(start, end int) int {
	for at := start; at < end; at = nextStart(b.src, at) {
		text := strings.TrimSpace(b.src[at:lineStop(b.src, at)])
		if text == "" {
			continue
		}
		first := at + strings.Index(b.src[at:], text)
		_, size := utf8.DecodeRuneInString(text)
		b.blank(first, first+size, "#")
	}
	return nextStart(b.src, end-1)
}

// statement looks at the statement that starts on the line at at of src, which
// ends with the cell, and returns the start of the line after it.
func (b *blanker) statement(src string, at int) int {
	_, start, _, _ := firstToken(src, at)
	stop := lineStop(src, start)
	switch {
	case timed(src[start:stop]):
		b.blank(start, start+len(timeMagic), "0;")
		at = start + len(timeMagic)
	case strings.IndexByte(escapes, src[start]) >= 0:
		return b.comments(at, continued(src, start))
	}
	if name, ok := strings.CutSuffix(strings.TrimRight(strings.TrimSpace(src[start:stop]), ";"), "?"); ok && isObject(strings.TrimSuffix(name, "?")) {
		return b.comments(at, stop)
	}
	if value, ok := magicValue(src, start, stop); ok {
		end := continued(src, value)
		stop := lineStop(src, value)
		b.blank(value, value+len(strings.TrimRight(src[value:stop], "\r")), "_")
		return b.comments(min(stop+1, end), end)
	}
	l, ok := nextLine(src, at)
	if !ok {
		return len(src)
	}
	if l.open && len(src) < len(b.src) && tripleOpen(src[l.start:], l.next-l.start) {
		return b.comments(start, len(src)) // a string does not go on in the next cell
	}
	return l.next
}

const timeMagic = "%time"

// timed reports whether a line runs a statement under %time, which keeps what
// the statement assigns.
func timed(line string) bool {
	rest, ok := strings.CutPrefix(line, timeMagic+" ")
	rest = strings.TrimSpace(rest)
	return ok && rest != "" && (isWordByte(rest[0]) || rest[0] == '(')
}

// tripleOpen reports whether a string in triple quotes that starts within the
// first bytes of s does not close.
func tripleOpen(s string, first int) bool {
	for i := 0; i < first; {
		switch s[i] {
		case '#':
			i = lineStop(s, i)
		case '\'', '"':
			end, closed := stringEnd(s, i, formatted(s[:i]), 0)
			if !closed {
				return strings.HasPrefix(s[i:], strings.Repeat(s[i:i+1], 3))
			}
			i = end
		default:
			i++
		}
	}
	return false
}

// continued is the line end behind at, lines that end in a backslash joined.
func continued(src string, at int) int {
	stop := lineStop(src, at)
	for stop < len(src) && strings.HasSuffix(strings.TrimSuffix(src[at:stop], "\r"), "\\") {
		at, stop = stop+1, lineStop(src, stop+1)
	}
	return stop
}

// isObject reports whether s is what help may be asked about: a dotted name,
// with stars for any letters and indices, or a magic.
func isObject(s string) bool {
	s = strings.TrimLeft(s, "%")
	if s == "" {
		return false
	}
	for i := range len(s) {
		if !isWordByte(s[i]) && strings.IndexByte(".*[]'\"", s[i]) < 0 {
			return false
		}
	}
	return true
}

// magicValue finds the value of an assignment of a magic or a shell command on
// the line from start to stop.
func magicValue(src string, start, stop int) (at int, ok bool) {
	i := strings.IndexByte(src[start:stop], '=')
	if i < 0 {
		return 0, false
	}
	for _, c := range []byte(src[start : start+i]) {
		if !isWordByte(c) && strings.IndexByte(" \t.,[]", c) < 0 {
			return 0, false
		}
	}
	at = start + i + 1
	at += len(src[at:stop]) - len(strings.TrimLeft(src[at:stop], " \t"))
	return at, at+1 < stop && (src[at] == '!' || src[at] == '%') && src[at+1] != '='
}
