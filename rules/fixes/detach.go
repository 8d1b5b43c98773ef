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
	g = withOperand(g)
	doubtful := slices.ContainsFunc(g.Parts, func(part flow.Part) bool { return !part.Tensor })
	if len(g.Parts) == 0 || doubtful && len(g.Parts) == 1 && g.Parts[0].Node == g.Kept.Node && shown(g.Kept.Module, g.Kept.Node) != unknownForm {
		return detachInside(g)
	}
	u := uses{module: p.Module, view: newView(p, p.Module, g.Target.Module), target: g.Target, loop: g.Loop, collects: g.Collects && !g.ThroughCall}
	if v, ok := storedParameter(g); ok && g.ThroughCall {
		u.argument, u.call = &v, callAround(g.Kept)
	} else if g.ThroughCall {
		u.view.loses(g.Kept.Module, g.Kept.Node) // what else the call does with it is not known
	}
	what := source(g.Parts[0].Location)
	if len(g.Parts) > 1 {
		what = "what is stored"
	}
	fix := rules.Fix{Title: fmt.Sprintf("Detach %s from its graph", what), Edits: call(g.Parts, ".detach()")}
	if u.collects && onDevice(g.Parts) && u.leavesDevice() {
		fix.Title, fix.Edits = fmt.Sprintf("Detach %s from its graph and store it in host memory", what), call(g.Parts, ".detach().cpu()")
	}
	first := firstValueOf(p.Module, g)
	if first.detachable {
		// The first value carries a graph as well: without it in the fix, each
		// iteration would still add a node to its graph.
		fix.Edits = append(fix.Edits, call(asParts(first.seeds), ".detach()")...)
		if first.seeds[0].Text() != g.Parts[0].Text() {
			fix.Title = fmt.Sprintf("Detach %s and the first value from their graphs", what)
		}
	}
	caution := u.caution(g, first)
	fix.Safety = rules.Safe
	if caution != "" {
		fix.Safety = rules.Unsafe
		fix.Title += " (" + caution + ")"
	}
	out := []rules.Fix{fix}
	if first.detachable && first.aliased {
		out = append(out, addToNew(g, fix, what)...)
	}
	if g.ThroughCall {
		return append(out, detachInCallee(g)...)
	}
	return append(out, u.numbers(g, caution)...)
}

// caution says what a person has to check before the fix of a growth is applied:
// nothing, if it keeps the behaviour.
func (u uses) caution(g flow.Growth, first firstValue) string {
	doubtful := slices.IndexFunc(g.Parts, func(p flow.Part) bool { return !p.Tensor })
	switch {
	case doubtful >= 0:
		return fmt.Sprintf("check that %s is a tensor each time", source(g.Parts[doubtful].Location))
	case len(first.seeds) > 0 && !first.detachable:
		return fmt.Sprintf("the first value, %s, keeps its graph: detach it too", source(first.seeds[0]))
	case first.aliased && !first.over:
		return "check that no backward runs on the first value after something was added to it"
	case u.needGraph():
		return "its graph is used later: check that"
	case u.changesElements():
		return "its elements are changed in place: check that no backward runs on them after that"
	case !g.Activations, u.local() && !g.Escapes:
		return "" // its graph is freed, or all that sees it was looked at
	}
	return u.view.doubt("runs backward on it")
}

// numbers is the fix that keeps Python numbers, where all that can be seen of
// what is done with them takes one.
func (u uses) numbers(g flow.Growth, caution string) []rules.Fix {
	if len(g.Seeds) > 0 || slices.ContainsFunc(g.Parts, func(p flow.Part) bool { return !p.Scalar }) {
		return nil
	}
	sight := u.takeFloats()
	if sight == breaks {
		return nil
	}
	fix := rules.Fix{
		Title:  fmt.Sprintf("Keep the number: `%s` (waits for the device", methodCall(g.Parts[0].Location, ".item()")),
		Safety: rules.Safe, Edits: call(g.Parts, ".item()"),
	}
	if caution == "" && (sight == inView || !u.local()) {
		caution = u.view.doubt("needs a tensor")
	}
	if caution == "" && sight == inView {
		caution = "check that nothing elsewhere needs a tensor"
	}
	if caution != "" {
		fix.Safety = rules.Unsafe
		fix.Title += "; " + caution
	}
	fix.Title += ")"
	return []rules.Fix{fix}
}

// onDevice reports whether all parts are tensors on an accelerator that are
// worth to be moved.
func onDevice(parts []flow.Part) bool {
	return !slices.ContainsFunc(parts, func(p flow.Part) bool { return !p.OnDevice || p.Scalar })
}

func asParts(ls []flow.Location) []flow.Part {
	var out []flow.Part
	for _, l := range ls {
		out = append(out, flow.Part{Location: l})
	}
	return out
}

// methodCall is an expression with a method call appended, shortened. Of a long call
// the arguments are left out, so that the parentheses match.
func methodCall(l flow.Location, method string) string {
	s := strings.Trim(source(l), "`")
	if t := l.Module.Tree; strings.HasSuffix(s, "…") && t.Kind(l.Node) == syntax.Call {
		s = strings.Trim(source(flow.Location{Module: l.Module, Node: t.Child(l.Node, syntax.FieldFunction)}), "`") + "(…)"
	}
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

func source(l flow.Location) string { return Quote(l, 30) }

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
