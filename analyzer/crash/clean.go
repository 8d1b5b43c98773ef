package crash

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

const (
	escape = 0x1b
	bell   = 0x07
)

// clean turns one raw line into the text that a person sees: terminal control
// sequences, NUL bytes, byte order marks and invisible characters gone, odd
// spaces made plain, HTML entities resolved, bytes that are not UTF-8 read as
// Latin-1 in Windows' form, and links that an editor made of paths are the paths.
// Spaces at the start stay, they are structure; those at the end go.
func clean(raw []byte) string {
	text := asPrinted(raw)
	if strings.Contains(text, "](http") {
		text = markdownLink.ReplaceAllString(text, "$1")
	}
	return text
}

var markdownLink = regexp.MustCompile(`\[([^\[\]]+)\]\(https?://[^()\s]+\)`)

// asPrinted is clean but for links.
func asPrinted(raw []byte) string {
	if plain(raw) {
		return strings.TrimRight(string(raw), " \t")
	}
	var b strings.Builder
	b.Grow(len(raw))
	for len(raw) > 0 {
		c := raw[0]
		switch {
		case c == escape:
			raw = raw[escapeLength(raw):]
			continue
		case c == '\t':
			b.WriteByte(c)
		case c == '\b':
			// Old progress bars step back to overwrite; what they wrote is
			// noise either way.
		case c < ' ' || c == 0x7f:
		case c < utf8.RuneSelf:
			b.WriteByte(c)
		default:
			r, n := utf8.DecodeRune(raw)
			switch {
			case r == utf8.RuneError && n == 1:
				if w := charmap.Windows1252.DecodeByte(c); w >= 0xa0 {
					b.WriteRune(w)
				}
			case r == '\u00a0' || r == '\u202f' || r == '\u2007' || r == '\u3000':
				b.WriteByte(' ')
			case r == '\ufeff' || '\u200b' <= r && r <= '\u200f' || r == '\u2060' || 0x80 <= r && r < 0xa0:
			default:
				b.WriteRune(r)
			}
			raw = raw[n:]
			continue
		}
		raw = raw[1:]
	}
	s := b.String()
	if entity.MatchString(s) {
		s = strings.ReplaceAll(html.UnescapeString(s), "\u00a0", " ")
	}
	return strings.TrimRight(s, " \t")
}

var entity = regexp.MustCompile(`&(?:gt|lt|amp|quot|apos|nbsp|#\d{1,4}|#x[0-9a-fA-F]{1,4});`)

// plain reports whether raw is printable ASCII without anything to resolve.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return bytes.IndexByte(raw, '&') < 0
}

// escapeLength is the length of the terminal control sequence at the start of
// b: CSI (colours, cursor), OSC (links, titles, shell marks) or two bytes. A
// sequence that does not end on the line is only its introducer.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if 0x40 <= b[i] && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x3f {
				return 2
			}
		}
	case ']', 'P', '_', '^':
		for i := 2; i < len(b); i++ {
			if b[i] == bell {
				return i + 1
			}
			if b[i] == escape {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
	}
	return 2
}
