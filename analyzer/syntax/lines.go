package syntax

import "strings"

// A line is a logical line: a simple statement, or the header of a compound
// one, with all physical lines that brackets, backslashes and strings join.
type line struct {
	begin      int    // start of the first physical line
	start, end int    // first byte to behind the last, comments left out
	next       int    // start of the physical line that follows
	width      int    // columns of indentation
	word       string // the first word: a keyword, a name, "@" or empty
	colon      bool   // ends in a colon that opens a block
	inline     bool   // has such a colon, with a statement behind it
	colonAt    int    // the first such colon
	open       bool   // a bracket or string does not close
	cost       int    // bytes that were read to find the end, beyond those of the line
	closers    string // the brackets that close what is open
}

func (l *line) multi(src string) bool {
	return strings.IndexByte(src[l.start:l.end], '\n') >= 0
}

// maxLogicalLine bounds how far an open bracket is followed, in physical lines.
const maxLogicalLine = 1000

// nextLine reads the logical line at or after at, the start of a physical line.
// It reports false at the end of the text.
//
// What is half-typed often lacks a closing bracket. So brackets end where a
// line begins with a keyword that cannot stand in them.
func nextLine(src string, at int) (line, bool) {
	begin, start, width, ok := firstToken(src, at)
	if !ok {
		return line{}, false
	}
	l := line{begin: begin, start: start, end: start, width: width, word: word(src[start:])}
	lines := 0
	lambda := 0 // colons that belong to a lambda
	for i := start; ; {
		if i >= len(src) {
			l.next = len(src)
			l.open = l.open || l.closers != ""
			return l, true
		}
		c := src[i]
		switch {
		case c == '\n':
			lines++
			if l.closers == "" {
				l.next = i + 1
				return l, true
			}
			if lines > maxLogicalLine || interrupts(src, i+1, width) {
				l.next, l.open = i+1, true
				return l, true
			}
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			i++
			continue
		case c == '#':
			i = lineStop(src, i)
			continue
		case strings.HasPrefix(src[i:], "\\\n"), strings.HasPrefix(src[i:], "\\\r\n"):
			lines++
			i = lineStop(src, i) + 1
			l.end = i
			continue
		case c == '\'' || c == '"':
			end, closed := stringEnd(src, i, formatted(src[l.start:i]), 0)
			if !closed {
				l.open = true
				l.cost += len(src) - i
			}
			i = end
			l.end, l.colon, l.inline = i, false, l.inline || l.colon
			continue
		case c == '(' || c == '[' || c == '{':
			l.closers = closer(c) + l.closers
		case c == ')' || c == ']' || c == '}':
			if l.closers != "" && l.closers[0] == c {
				l.closers = l.closers[1:]
			}
		case isWordByte(c):
			end := i + 1
			for end < len(src) && isWordByte(src[end]) {
				end++
			}
			if l.closers == "" && src[i:end] == "lambda" {
				lambda++
			}
			if l.colon {
				l.colon, l.inline = false, true
			}
			i = end
			l.end = i
			continue
		}
		colon := c == ':' && l.closers == "" && (i+1 >= len(src) || src[i+1] != '=')
		if colon && lambda > 0 {
			lambda--
			colon = false
		}
		if l.colon && !colon {
			l.inline = true
		}
		if colon && !l.inline {
			l.colonAt = i
		}
		l.colon = colon
		i++
		l.end = i
	}
}

// firstToken finds the first physical line at or after at that has more than
// blanks and a comment, and where and at which column its text starts.
func firstToken(src string, at int) (begin, start, width int, ok bool) {
	begin = at
	for i := at; i < len(src); i++ {
		switch src[i] {
		case ' ':
			width++
		case '\t':
			width += 8 // as the grammar counts
		case '\f':
			width = 0
		case '\r':
		case '\n':
			begin, width = i+1, 0
		case '#':
			i = lineStop(src, i) - 1
		default:
			if strings.HasPrefix(src[i:], "\ufeff") && i == 0 {
				i += 2
				continue
			}
			return begin, i, width, true
		}
	}
	return len(src), len(src), 0, false
}

// lineStop is the offset of the line end at or after at.
func lineStop(src string, at int) int {
	if n := strings.IndexByte(src[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(src)
}

// nextStart is the start of the physical line after the one that at is on.
func nextStart(src string, at int) int { return min(lineStop(src, at)+1, len(src)) }

func closer(open byte) string {
	switch open {
	case '(':
		return ")"
	case '[':
		return "]"
	}
	return "}"
}

func isWordByte(c byte) bool { return isAlphanumeric(c) || c == '_' || c >= 0x80 }

// word is the word that s begins with; "@" for a decorator.
func word(s string) string {
	if strings.HasPrefix(s, "@") {
		return "@"
	}
	end := 0
	for end < len(s) && isWordByte(s[end]) {
		end++
	}
	if s[:end] == "async" {
		rest := strings.TrimLeft(s[end:], " \t")
		if w := word(rest); w == "def" || w == "for" || w == "with" {
			return w
		}
	}
	return s[:end]
}

// formatted reports whether a string that follows before has an f in its
// prefix.
func formatted(before string) bool {
	prefix := before[len(strings.TrimRight(before, "rRbBuUfF")):]
	return len(prefix) <= 2 && strings.ContainsAny(prefix, "fF")
}

// maxNesting bounds strings within replacement fields of strings.
const maxNesting = 8

// stringEnd is the offset behind the string whose quote is at at. If it does
// not close, the offset is that of the line end, and closed is false.
func stringEnd(src string, at int, format bool, nesting int) (end int, closed bool) {
	quote := src[at : at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(src[at:], triple) {
		quote = triple
	}
	for i := at + len(quote); i < len(src); {
		switch c := src[i]; {
		case c == '\\':
			i += 2
		case strings.HasPrefix(src[i:], quote):
			return i + len(quote), true
		case c == '\n' && len(quote) == 1:
			return i, false
		case c == '{' && format && strings.HasPrefix(src[i:], "{{"):
			i += 2
		case c == '{' && format && nesting < maxNesting:
			// A field that is not one is text, and so is all that follows. This
			// is decided once, in the outermost string: every level would have
			// every brace tried again.
			i, format = fieldEnd(src, i, quote, nesting)
			if !format && nesting > 0 {
				return i, false
			}
		default:
			i++
		}
	}
	return lineStop(src, at), false
}

// fieldEnd is the offset behind the replacement field whose brace is at at; if
// it does not close, ok is false and the offset is that behind the brace. Since
// Python 3.12 a field may hold strings with the quotes of the string around;
// before, such a quote ended the string.
func fieldEnd(src string, at int, quote string, nesting int) (end int, ok bool) {
	depth := 0
	for i := at; i < len(src); i++ {
		switch c := src[i]; {
		case c == '{' || c == '(' || c == '[':
			depth++
		case c == '}' || c == ')' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case c == '\n' && len(quote) == 1:
			return at + 1, false
		case c == '\'' || c == '"':
			end, closed := stringEnd(src, i, formatted(src[at:i]), nesting+1)
			if !closed {
				return at + 1, false
			}
			i = end - 1
		}
	}
	return at + 1, false
}

// interrupts reports whether the first physical line from at on that is not
// blank, cannot stand in a bracket that a statement indented by
// width has opened.
func interrupts(src string, at, width int) bool {
	_, start, w, ok := firstToken(src, at)
	if !ok {
		return false
	}
	code := src[start:lineStop(src, start)]
	switch word(code) {
	case "def", "class", "import", "while", "with", "try", "except", "finally", "return", "raise", "del", "assert",
		"global", "nonlocal", "pass", "break", "continue":
		return true
	case "for", "if", "elif", "else":
		code, _, _ = strings.Cut(code, "#")
		return w <= width && strings.HasSuffix(strings.TrimSpace(code), ":")
	case "from":
		return strings.Contains(code, " import ")
	case "@":
		_, after, _, _ := firstToken(src, start+len(code))
		next := word(src[after:])
		return next == "@" || next == "def" || next == "class"
	}
	return false
}
