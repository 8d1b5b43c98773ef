package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// DropRetention is the fix of a backward that keeps its graph for nothing.
func DropRetention(r flow.Retention) []rules.Fix {
	fix := rules.Fix{Title: fmt.Sprintf("Remove `%s`", Shorten(r.Argument.Text(), 30)), Safety: rules.Safe, Edits: []rules.FileEdit{dropArgument(r.Argument)}}
	if !r.Seen {
		fix.Safety = rules.Unsafe
		fix.Title += " (check that no code out of view runs backward through the same graph)"
	}
	return []rules.Fix{fix}
}

// dropArgument removes an argument of a call together with its comma.
func dropArgument(l flow.Location) rules.FileEdit {
	t := l.Module.Tree
	s := l.Span()
	var before, after syntax.NodeID = syntax.NoNode, t.Next(l.Node)
	for c := range t.Children(t.Parent(l.Node)) {
		if c == l.Node {
			break
		}
		before = c
	}
	switch {
	case before >= 0:
		s.Start = t.Span(before).End
	case after >= 0:
		s.End = t.Span(after).Start
	default: // f(x=1,)
		s = text.Span{Start: t.Span(t.Parent(l.Node)).Start + 1, End: t.Span(t.Parent(l.Node)).End - 1}
	}
	return rules.FileEdit{Path: l.Module.Path, Edit: text.Edit{Span: s}}
}
