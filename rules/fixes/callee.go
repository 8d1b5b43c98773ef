package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// detachInCallee are the fixes of a value that a function or a method of a class
// stores: detach its parameter there, once for all who call it. Callers may pass
// numbers too, and what the others do with what is stored was not seen.
func detachInCallee(g flow.Growth) []rules.Fix {
	v, ok := storedParameter(g)
	if !ok {
		return nil
	}
	m, name, function := v.module, v.name, v.scope.Node
	t := m.Tree
	first := t.First(t.Child(function, syntax.FieldBody))
	if first >= 0 && t.Kind(first) == syntax.ExpressionStatement && t.Kind(t.First(first)) == syntax.String {
		first = t.Next(first) // below the docstring
	}
	if first < 0 {
		return nil
	}
	indent, alone := indentation(t, first)
	alias, ok := torchAlias(flow.Location{Module: m, Node: first})
	if !alone || !ok {
		return nil
	}
	edits := alias.edits
	at := t.Span(first).Start - len(indent)
	edits = append(edits, insertion(at, fmt.Sprintf("%sif isinstance(%s, %s.Tensor):\n%s%s%s = %s.detach()\n", indent, name, alias.name, indent, level(t, first, indent), name, name)))
	fix := rules.Fix{
		Title:  fmt.Sprintf("Detach `%s` in `%s`, for all who call it (check that none of them runs backward on what it keeps)", name, qualifiedName(t, function)),
		Safety: rules.Unsafe,
	}
	for _, e := range edits {
		fix.Edits = append(fix.Edits, rules.FileEdit{Path: m.Path, Edit: text.Edit{Span: e.Span, New: e.New}})
	}
	return []rules.Fix{fix}
}

// storedParameter is the parameter that takes the kept argument of a call, where
// the called function stores it.
func storedParameter(g flow.Growth) (variable, bool) {
	m := g.Store.Module
	t := m.Tree
	function := functionAround(t, g.Store.Node)
	if t.Kind(function) != syntax.FunctionDefinition || g.Kept.Module == m && function < g.Kept.Node && g.Kept.Node < t.End(function) {
		return variable{}, false
	}
	name := parameterFor(g, m, function)
	if name == "" || !mentions(t, g.Store.Node, name) {
		return variable{}, false
	}
	return variable{m, m.Scope(function), name}, true
}

// callAround is the call that an expression is an argument of.
func callAround(l flow.Location) flow.Location {
	t := l.Module.Tree
	n := l.Node
	for n > t.Root() && t.Kind(n) != syntax.Call || n == l.Node {
		n = t.Parent(n)
	}
	return flow.Location{Module: l.Module, Node: n}
}

// parameterFor is the parameter that takes the kept argument, where the call
// names the function or method directly.
func parameterFor(g flow.Growth, m *names.Module, function syntax.NodeID) string {
	t := g.Kept.Module.Tree
	call, arg := t.Parent(g.Kept.Node), g.Kept.Node
	keyword := ""
	if t.Kind(call) == syntax.KeywordArgument {
		keyword = t.Text(t.Child(call, syntax.FieldName))
		call = t.Parent(call)
	}
	if t.Kind(call) != syntax.ArgumentList {
		return ""
	}
	position := 0
	for a := range t.Children(call) {
		if a == arg || keyword != "" {
			break
		}
		if k := t.Kind(a); k == syntax.ListSplat || k == syntax.DictionarySplat {
			return ""
		}
		position++
	}
	callee := t.Child(t.Parent(call), syntax.FieldFunction)
	called := lastName(m.Tree, m.Tree.Child(function, syntax.FieldName))
	switch {
	case t.Kind(callee) == syntax.Attribute && (t.Text(t.Child(callee, syntax.FieldAttribute)) == called || called == "__call__"):
		position++ // self
	case t.Kind(callee) == syntax.Identifier && t.Text(callee) == called:
	case t.Kind(callee) == syntax.Identifier && called == "__call__":
		position++
	case called == "__init__" && callee >= 0 && lastName(t, callee)+".__init__" == qualifiedName(m.Tree, function):
		position++
	default:
		return ""
	}
	return parameterAt(m.Tree, function, position, keyword)
}

// parameterAt is the name of a function's parameter by its position, or by its
// name if there is one; empty when it has none.
func parameterAt(t *syntax.Tree, function syntax.NodeID, position int, keyword string) string {
	for p := range t.Children(t.Child(function, syntax.FieldParameters)) {
		n := p
		switch t.Kind(p) {
		case syntax.DefaultParameter, syntax.TypedDefaultParameter:
			n = t.Child(p, syntax.FieldName)
		case syntax.TypedParameter:
			n = t.First(p)
		case syntax.Identifier:
		default:
			return "" // *args, or what stands behind it
		}
		if t.Kind(n) != syntax.Identifier {
			return ""
		}
		if keyword == "" && position == 0 || keyword != "" && t.Text(n) == keyword {
			return t.Text(n)
		}
		position--
	}
	return ""
}

// qualifiedName is the name of a function with that of its class.
func qualifiedName(t *syntax.Tree, function syntax.NodeID) string {
	name := lastName(t, t.Child(function, syntax.FieldName))
	for n := t.Parent(function); n > t.Root(); n = t.Parent(n) {
		if t.Kind(n) == syntax.ClassDefinition {
			return lastName(t, t.Child(n, syntax.FieldName)) + "." + name
		}
	}
	return name
}
