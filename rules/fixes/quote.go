package fixes

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Quote is the code of a location in backquotes, on one line of at most so many
// characters, without its comments.
func Quote(l flow.Location, limit int) string {
	t := l.Module.Tree
	src, at := t.Source(), t.Span(l.Node)
	var b strings.Builder
	for n := l.Node; n < t.End(l.Node); n++ {
		if t.Kind(n) == syntax.Comment {
			b.WriteString(src[at.Start:t.Span(n).Start])
			at.Start = t.Span(n).End
		}
	}
	b.WriteString(src[at.Start:at.End])
	return "`" + Shorten(b.String(), limit) + "`"
}
