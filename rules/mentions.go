package rules

import (
	"bytes"

	"github.com/graphleak/graphleak/analyzer/torch"
)

// MentionsTorch reports whether a text has one of the words by which programs
// that use PyTorch are known. In a text without them there is something to find
// only if it imports one with them from the project.
func MentionsTorch(src []byte) bool {
	for _, word := range torch.Mentions {
		if bytes.Contains(src, []byte(word)) {
			return true
		}
	}
	for name := range torch.Frameworks {
		if bytes.Contains(src, []byte(name)) {
			return true
		}
	}
	return false
}
