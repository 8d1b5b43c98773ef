package fixes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// firstValue is what a place that grows is given first, where that has a graph.
type firstValue struct {
	seeds []flow.Location
	// detachable says that a fix in the same file can detach it too.
	detachable bool
	// aliased says that what is added is written into that tensor in place. If its
	// own backward is over by then, that is the same with a graph and without.
	aliased, over bool
}

func firstValueOf(m *names.Module, g flow.Growth) firstValue {
	var f firstValue
	inPlace := g.Store.Kind() == syntax.AugmentedAssignment
	f.over = slices.ContainsFunc(g.Freed, func(b flow.Location) bool { return b.Module == g.Kept.Module && b.Node < g.Kept.Node })
	for _, l := range g.Seeds {
		if isGiven(g, l) {
			f.aliased = f.aliased || inPlace
		} else {
			f.seeds = append(f.seeds, l)
		}
	}
	if len(f.seeds) == 0 || g.ThroughCall || g.Store.Module != m {
		return f
	}
	for _, l := range f.seeds {
		if l.Module != m || l.Node == g.Kept.Node {
			return f
		}
		switch l.Kind() {
		case syntax.Identifier, syntax.Call, syntax.Attribute, syntax.Subscript, syntax.BinaryOperator, syntax.ParenthesizedExpression:
		default:
			return f
		}
	}
	if inPlace || g.Store.Kind() == syntax.Assignment {
		f.detachable, f.aliased = true, inPlace
	}
	return f
}

// isGiven reports whether the first value is the parameter that the store adds
// too: who detaches the argument detaches both.
func isGiven(g flow.Growth, seed flow.Location) bool {
	if !g.ThroughCall || seed.Module != g.Store.Module || seed.Kind() != syntax.Identifier {
		return false
	}
	t := seed.Module.Tree
	v := variableAt(seed.Module, seed.Node)
	function := v.scope.Node
	if t.Kind(function) != syntax.FunctionDefinition || g.Store.Node < function || g.Store.Node >= t.End(function) || !mentions(t, t.Child(function, syntax.FieldParameters), v.name) {
		return false
	}
	for n := range v.occurrences() {
		switch k := t.Kind(t.Parent(n)); {
		case t.Role(n) == syntax.FieldLeft && (k == syntax.Assignment || k == syntax.AugmentedAssignment || k == syntax.ForStatement), k == syntax.PatternList:
			return false // it is given another value
		}
	}
	return mentions(t, g.Store.Node, v.name)
}

// addToNew are the fixes that add to a new tensor each time: where += writes into
// the first value, which somebody else may hold.
func addToNew(g flow.Growth, detach rules.Fix, what string) []rules.Fix {
	t := g.Store.Module.Tree
	left, right := t.Child(g.Store.Node, syntax.FieldLeft), t.Child(g.Store.Node, syntax.FieldRight)
	operator := strings.TrimSuffix(t.Text(t.Child(g.Store.Node, syntax.FieldOperator)), "=")
	if k := t.Kind(left); k != syntax.Identifier && k != syntax.Attribute || operator != "+" || !isPrimary(t, right) && !isProduct(t, right) {
		return nil
	}
	edit := text.Edit{Span: text.Span{Start: t.Span(left).End, End: t.Span(right).Start}, New: fmt.Sprintf(" = %s + ", t.Text(left))}
	return []rules.Fix{{
		Title:  fmt.Sprintf("Detach %s and add it to a new tensor (the first value is no longer written to)", what),
		Safety: rules.Unsafe, Edits: append(slices.Clone(detach.Edits), rules.FileEdit{Path: g.Store.Module.Path, Edit: edit}),
	}}
}

// isProduct reports whether n binds tighter than a sum.
func isProduct(t *syntax.Tree, n syntax.NodeID) bool {
	if t.Kind(n) != syntax.BinaryOperator {
		return false
	}
	operator := t.Text(t.Child(n, syntax.FieldOperator))
	return operator == "*" || operator == "/"
}
