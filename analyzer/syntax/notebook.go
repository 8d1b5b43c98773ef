package syntax

import (
	"strings"
	"unicode/utf8"
)

// blankMagics turns what IPython does not pass on to Python into comments, in
// place: no byte moves. In src the cells of a notebook follow one another; a
// line that starts with "# %%" begins a cell, as the text does.
//
// These become comments: line magics (%matplotlib inline), shell commands
// (!pip install x), help (?x, x?, x??), and whole cells under a magic whose
// body is not Python (%%bash). Under one whose body is (%%time) only the magic
// is. In x = !ls and x = %pwd the right side becomes the name _, of which
// nothing is known.
func blankMagics(src string) string {
	if !strings.ContainsAny(src, "%!?") {
		return src
	}
	b := blanker{src: src}
	fresh := true // only blank lines and comments in this cell so far
	for at := 0; at < len(src); {
		stop := lineStop(src, at)
		text := strings.TrimSpace(src[at:stop])
		switch {
		case strings.HasPrefix(src[at:], cellMarker):
			fresh = true
		case text == "" || text[0] == '#':
		case fresh && strings.HasPrefix(src[at:], "%%"):
			if !pythonMagics[magicName(text)] {
				at = b.comments(at, cellEnd(src, stop))
				continue
			}
			b.comments(at, stop)
		default:
			fresh = false
			at = b.statement(at)
			continue
		}
		at = min(stop+1, len(src))
	}
	return b.String()
}

// cellMarker begins the line before a cell.
const cellMarker = "# %%"

// pythonMagics run the body of their cell as Python in the notebook's process.
var pythonMagics = map[string]bool{
	"capture": true, "debug": true, "memit": true, "prun": true, "time": true, "timeit": true, "wandb": true,
}

func magicName(text string) string { return word(strings.TrimLeft(text, "%")) }

// cellEnd is the start of the marker of the next cell.
func cellEnd(src string, at int) int {
	if i := strings.Index(src[at:], "\n"+cellMarker); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

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

// statement looks at the statement that starts on the line at at, and returns
// the start of the line after it.
func (b *blanker) statement(at int) int {
	_, start, _, _ := firstToken(b.src, at)
	switch b.src[start] {
	case '%', '!', '?':
		end := continued(b.src, start)
		return b.comments(at, end)
	}
	stop := lineStop(b.src, start)
	if name, ok := strings.CutSuffix(strings.TrimRight(strings.TrimSpace(b.src[start:stop]), ";"), "?"); ok && isObject(strings.TrimSuffix(name, "?")) {
		return b.comments(at, stop)
	}
	if value, ok := magicValue(b.src, start, stop); ok {
		end := continued(b.src, value)
		stop := lineStop(b.src, value)
		b.blank(value, value+len(strings.TrimRight(b.src[value:stop], "\r")), "_")
		return b.comments(min(stop+1, end), end)
	}
	l, ok := nextLine(b.src, at)
	if !ok {
		return len(b.src)
	}
	return l.next
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
