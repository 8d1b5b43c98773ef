// Package fixes makes the edits that remove a finding and says which of them
// keep the program's behaviour.
package fixes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// Detach are the fixes of a growth: keep the value without its graph, or, where
// every later use takes a float, the Python number.
func Detach(p *rules.Pass, g flow.Growth) []rules.Fix {
	if len(g.Parts) == 0 {
		return nil
	}
	u := uses{module: p.Module, target: g.Target, collects: g.Collects && !g.ThroughCall}
	what := source(g.Parts[0].Location)
	if len(g.Parts) > 1 {
		what = "what is stored"
	}
	fix := rules.Fix{Title: fmt.Sprintf("Detach %s from its graph", what), Safety: rules.Unsafe, Edits: call(g.Parts, ".detach()")}
	if u.collects && onDevice(g.Parts) && u.leavesDevice() {
		fix.Title, fix.Edits = fmt.Sprintf("Detach %s from its graph and store it in host memory", what), call(g.Parts, ".detach().cpu()")
	}
	if len(g.Seeds) > 0 && u.together(g) {
		// The first value carries a graph as well: without it in the fix, each
		// iteration would still add a node to its graph.
		fix.Edits = append(fix.Edits, call(asParts(g.Seeds), ".detach()")...)
		fix.Title = fmt.Sprintf("Detach %s and the first value from their graphs", what)
	}
	doubtful := slices.IndexFunc(g.Parts, func(p flow.Part) bool { return !p.Tensor })
	switch {
	case doubtful >= 0:
		fix.Title += fmt.Sprintf(" (check that %s is a tensor each time)", source(g.Parts[doubtful].Location))
	case len(g.Seeds) > 0 && !u.together(g):
		fix.Title += fmt.Sprintf(" (the first value, %s, keeps its graph: detach it too)", source(g.Seeds[0]))
	case u.needGraph():
		fix.Title += " (its graph is used later: check that)"
	case !g.Activations:
		fix.Safety = rules.Safe // its graph is freed: nothing can run a backward on it
	case g.Escapes:
		fix.Title += " (check that no caller runs backward on it)"
	case !u.local():
		fix.Title += " (check that nothing elsewhere runs backward on it)"
	default:
		fix.Safety = rules.Safe
	}
	out := []rules.Fix{fix}
	for _, part := range g.Parts {
		if !part.Scalar {
			return out
		}
	}
	if len(g.Seeds) == 0 && !g.ThroughCall && u.local() && u.takeFloats() {
		out = append(out, rules.Fix{
			Title:  fmt.Sprintf("Keep the number: `%s` (waits for the device)", methodCall(g.Parts[0].Location, ".item()")),
			Safety: fix.Safety, Edits: call(g.Parts, ".item()"),
		})
	}
	return out
}

// onDevice reports whether all parts are tensors on an accelerator that are
// worth to be moved.
func onDevice(parts []flow.Part) bool {
	return !slices.ContainsFunc(parts, func(p flow.Part) bool { return !p.OnDevice || p.Scalar })
}

// together reports whether the first values of a place can be detached in the
// same fix: they are in the same file, and the place is given a new tensor by
// each store, so that no tensor is changed under another name.
func (u uses) together(g flow.Growth) bool {
	t := u.module.Tree
	for _, l := range g.Seeds {
		if l.Module != u.module || l.Node == g.Kept.Node || g.ThroughCall {
			return false
		}
		switch t.Kind(l.Node) {
		case syntax.Identifier, syntax.Call, syntax.Attribute, syntax.Subscript, syntax.BinaryOperator, syntax.ParenthesizedExpression:
		default:
			return false
		}
	}
	return t.Kind(g.Store.Node) == syntax.Assignment
}

func asParts(ls []flow.Location) []flow.Part {
	var out []flow.Part
	for _, l := range ls {
		out = append(out, flow.Part{Location: l})
	}
	return out
}

// methodCall is an expression with a method call appended, shortened.
func methodCall(l flow.Location, method string) string {
	s := strings.Trim(source(l), "`")
	if !isPrimary(l.Module.Tree, l.Node) {
		s = "(" + s + ")"
	}
	return s + method
}

// Advice is the expression to keep instead of a growth's: "`loss.detach()`",
// or empty when it cannot be written as one.
func Advice(g flow.Growth) string {
	if len(g.Parts) != 1 {
		return ""
	}
	return "`" + methodCall(g.Parts[0].Location, ".detach()") + "`"
}

func source(l flow.Location) string {
	return "`" + Shorten(l.Text(), 30) + "`"
}

// Shorten puts code on one line of at most so many characters, for titles and
// messages.
func Shorten(code string, limit int) string {
	s := strings.Join(strings.Fields(code), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit-3]) + "…"
	}
	return s
}

// call appends a method call to expressions.
func call(parts []flow.Part, method string) []rules.FileEdit {
	var edits []rules.FileEdit
	insert := func(l flow.Location, at int, s string) {
		edits = append(edits, rules.FileEdit{Path: l.Module.Path, Edit: text.Edit{Span: text.Span{Start: at, End: at}, New: s}})
	}
	for _, p := range parts {
		s := p.Span()
		if isPrimary(p.Module.Tree, p.Node) {
			insert(p.Location, s.End, method)
			continue
		}
		insert(p.Location, s.Start, "(")
		insert(p.Location, s.End, ")"+method)
	}
	return edits
}

// isPrimary reports whether a method call can be appended to an expression
// without parentheses.
func isPrimary(t *syntax.Tree, n syntax.NodeID) bool {
	switch t.Kind(n) {
	case syntax.Identifier, syntax.Attribute, syntax.Call, syntax.Subscript, syntax.ParenthesizedExpression:
		return true
	}
	return false
}

// DetachStored is the fix of an attribute that keeps a graph in vain. Another
// file may read the attribute: it is not safe.
func DetachStored(stored flow.Location) []rules.Fix {
	switch t := stored.Module.Tree; t.Kind(stored.Node) {
	case syntax.Tuple, syntax.List, syntax.Dictionary, syntax.ExpressionList, syntax.ConditionalExpression:
		return nil
	}
	return []rules.Fix{{
		Title:  fmt.Sprintf("Detach %s from its graph (check that no other file needs it)", source(stored)),
		Safety: rules.Unsafe, Edits: call(asParts([]flow.Location{stored}), ".detach()"),
	}}
}
