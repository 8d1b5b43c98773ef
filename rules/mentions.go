package rules

import (
	"bytes"

	"github.com/graphleak/graphleak/analyzer/torch"
)

// MentionsTorch reports whether a text has one of the words by which programs
// that use PyTorch are known, or imports a framework on top of it. In a text of
// which this is false there is something to find only if it imports one of which
// it is true from the project.
func MentionsTorch(src []byte) bool {
	for _, word := range torch.Mentions {
		if bytes.Contains(src, []byte(word)) {
			return true
		}
	}
	for rest := src; ; {
		i := bytes.Index(rest, []byte("import"))
		if i < 0 {
			return false
		}
		begin, end := bytes.LastIndexByte(rest[:i], '\n')+1, bytes.IndexByte(rest[i:], '\n')
		line := rest[begin:]
		if end >= 0 {
			line = rest[begin : i+end]
		}
		for _, word := range bytes.FieldsFunc(line, func(r rune) bool { return r != '_' && (r < '0' || '9' < r && r < 'A' || 'Z' < r && r < 'a' || 'z' < r) }) {
			if torch.Frameworks[string(word)] {
				return true
			}
		}
		if end < 0 {
			return false
		}
		rest = rest[i+end:]
	}
}
