// Package fixes makes the edits that remove a finding and says which of them
// keep the program's behaviour.
package fixes

import (
	"fmt"
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
	switch {
	case len(g.Seeds) > 0:
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
			Title:  fmt.Sprintf("Keep the number %s.item() instead (waits for the device)", what),
			Safety: fix.Safety, Edits: call(g.Parts, ".item()"),
		})
	}
	return out
}

func source(l flow.Location) string {
	s := strings.Join(strings.Fields(l.Text()), " ")
	if r := []rune(s); len(r) > 30 {
		s = string(r[:27]) + "…"
	}
	return "`" + s + "`"
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
