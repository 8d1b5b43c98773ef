package syntax

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what is parsed. Beyond them tree-sitter needs seconds and hundreds
// of megabytes for what is hardly ever a program.
const (
	MaxBytes = 1 << 20
	MaxLines = 30_000
	// MaxLineMarks is how many punctuation characters one line may have: a
	// long line is data, and costs a node or two per mark.
	MaxLineMarks = 50_000

	// maxParse is the time that one pass of the parser may take.
	maxParse = 5 * time.Second
)

// Why a text has no tree. Each is one line for people.
var (
	ErrTooLarge     = errors.New("the file is larger than 1 MiB, the most that is analysed")
	ErrTooManyLines = errors.New("the file has more than 30,000 lines, the most that is analysed")
	ErrDenseLine    = errors.New("the file has a line of data with more than 50,000 punctuation marks")
	ErrTooSlow      = errors.New("the file took more than 5 seconds to parse")
	ErrNotUTF8      = errors.New("the file is not UTF-8 and declares no other encoding")
	ErrUTF16        = errors.New("the file is UTF-16, which Python does not read; save it as UTF-8")
	ErrNotPython    = errors.New("most lines of the file are not Python")
	ErrBinary       = errors.New("the file has NUL bytes: it is not Python source")
)

// admit returns the text to parse for src: the same length, with the bytes that
// the grammar cannot read replaced.
//
// As in Python, a lone CR is a line end. A file that declares an encoding other
// than UTF-8 is read byte by byte: those that are not UTF-8 mostly lie in
// comments and strings, and become underscores, which keep an identifier an
// identifier.
func admit(src []byte) (string, error) {
	switch {
	case len(src) > MaxBytes:
		return "", ErrTooLarge
	case bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")):
		return "", ErrUTF16
	case bytes.IndexByte(src, 0) >= 0:
		if i := bytes.IndexByte(src, 0); i < 2 && len(src) > 3 && src[i+2] == 0 {
			return "", ErrUTF16 // without a byte order mark
		}
		return "", ErrBinary
	}
	if lines := 1 + bytes.Count(src, []byte("\n")) + bytes.Count(src, []byte("\r")) - bytes.Count(src, []byte("\r\n")); lines > MaxLines {
		return "", ErrTooManyLines
	}
	if dense(src) {
		return "", ErrDenseLine
	}
	if !utf8.Valid(src) {
		if !declaresOtherEncoding(src) {
			return "", ErrNotUTF8
		}
		src = replaceInvalid(src)
	}
	if text, ok := loneCRToLF(src); ok {
		return text, nil
	}
	return string(src), nil
}

// dense reports whether some line has more than MaxLineMarks marks.
func dense(src []byte) bool {
	for len(src) > MaxLineMarks {
		end := bytes.IndexAny(src, "\r\n")
		if end < 0 {
			end = len(src)
		}
		if end > MaxLineMarks {
			marks := 0
			for _, c := range src[:end] {
				if isMark(c) {
					marks++
				}
			}
			if marks > MaxLineMarks {
				return true
			}
		}
		src = src[min(end+1, len(src)):]
	}
	return false
}

// isMark reports whether c is ASCII punctuation, underscores left out.
func isMark(c byte) bool {
	return c > ' ' && c < 0x7f && c != '_' && !isAlphanumeric(c)
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// cookie is PEP 263's declaration of an encoding.
var cookie = regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

func declaresOtherEncoding(src []byte) bool {
	for range 2 {
		line, rest, _ := bytes.Cut(src, []byte("\n"))
		if m := cookie.FindSubmatch(line); m != nil {
			name := strings.ReplaceAll(strings.ToLower(string(m[1])), "_", "-")
			return name != "utf-8" && name != "utf8" && !strings.HasPrefix(name, "utf-8-")
		}
		src = rest
	}
	return false
}

func replaceInvalid(src []byte) []byte {
	out := bytes.Clone(src)
	for i := 0; i < len(out); {
		r, size := utf8.DecodeRune(out[i:])
		if r == utf8.RuneError && size == 1 {
			out[i] = '_'
		}
		i += size
	}
	return out
}

// loneCRToLF replaces every CR that no LF follows. It reports false if there is
// none.
func loneCRToLF(src []byte) (string, bool) {
	if bytes.Count(src, []byte("\r")) == bytes.Count(src, []byte("\r\n")) {
		return "", false
	}
	out := bytes.Clone(src)
	for i, c := range out {
		if c == '\r' && (i+1 == len(out) || out[i+1] != '\n') {
			out[i] = '\n'
		}
	}
	return string(out), true
}
