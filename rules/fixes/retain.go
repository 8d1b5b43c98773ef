package fixes

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// DropRetention is the fix of a backward that keeps its graph for nothing.
func DropRetention(r flow.Retention) []rules.Fix {
	fix := rules.Fix{Title: fmt.Sprintf("Remove `%s`", Shorten(r.Argument.Text(), 30)), Safety: rules.Safe, Edits: []rules.FileEdit{dropArgument(r.Argument)}}
	state, carried := elementCarried(r.Call)
	switch {
	case !r.Seen:
		fix.Safety = rules.Unsafe
		fix.Title += " (check that no code out of view runs backward through the same graph)"
	case carried:
		fix.Safety = rules.Unsafe
		fix.Title += fmt.Sprintf(" (check that %s carries no graph into the next iteration)", source(state))
	}
	return []rules.Fix{fix}
}

// elementCarried is an element of a collection that a loop around a call computes
// from itself: of many elements under computed keys the analysis does not know which
// one the backward comes to.
func elementCarried(l flow.Location) (flow.Location, bool) {
	t := l.Module.Tree
	outer := syntax.NoNode
	for n := l.Node; n > t.Root() && t.Kind(n) != syntax.FunctionDefinition; n = t.Parent(n) {
		if k := t.Kind(n); k == syntax.ForStatement || k == syntax.WhileStatement {
			outer = n
		}
	}
	if outer < 0 {
		return flow.Location{}, false
	}
	for n := outer; n < t.End(outer); n++ {
		left := t.Child(n, syntax.FieldLeft)
		if t.Kind(n) != syntax.Assignment || t.Kind(left) != syntax.Subscript {
			continue
		}
		if base := t.Text(t.Child(left, syntax.FieldValue)); strings.Contains(t.Text(t.Child(n, syntax.FieldRight)), base+"[") {
			return flow.Location{Module: l.Module, Node: left}, true
		}
	}
	return flow.Location{}, false
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
