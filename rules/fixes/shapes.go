package fixes

import (
	"fmt"
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// What is kept need not be one tensor: operations give several, functions give
// dicts and tuples, and a lambda takes along what it has as a default. Such a value
// has no detach(), but what it is made of has.

// withOperand is a growth whose kept value is the result of an operation that gives
// several tensors, with what that operation takes as the part to detach: then
// nothing that it gives has a graph. Such an operation takes tensors only.
func withOperand(g flow.Growth) flow.Growth {
	if len(g.Parts) > 0 || g.Kept.Module == nil {
		return g
	}
	if operand, ok := operandOf(g.Kept); ok {
		g.Parts = []flow.Part{{Location: operand, Tensor: true}}
	}
	return g
}

// severalResults are operations that give tuples of tensors made of one tensor.
var severalResults = []string{"max", "min", "topk", "sort", "median", "nanmedian", "mode", "kthvalue", "cummax", "cummin", "split", "chunk",
	"unbind", "tensor_split", "hsplit", "vsplit", "dsplit", "aminmax", "var_mean", "std_mean", "unique_consecutive"}

// operandOf is the tensor that an operation of that kind is made of.
func operandOf(l flow.Location) (flow.Location, bool) {
	t := l.Module.Tree
	f := t.Child(l.Node, syntax.FieldFunction)
	if t.Kind(l.Node) != syntax.Call || t.Kind(f) != syntax.Attribute || !slices.Contains(severalResults, lastName(t, f)) {
		return flow.Location{}, false
	}
	operand := t.Child(f, syntax.FieldObject)
	var others []syntax.NodeID
	for a := range t.Children(t.Child(l.Node, syntax.FieldArguments)) {
		if t.Kind(a) == syntax.KeywordArgument {
			a = t.Child(a, syntax.FieldValue)
		}
		others = append(others, a)
	}
	if t.Kind(operand) == syntax.Identifier && importOf(l.Module, operand) == (imported{module: "torch"}) {
		if len(others) == 0 {
			return flow.Location{}, false
		}
		operand, others = others[0], others[1:]
	}
	constant := func(n syntax.NodeID) bool {
		switch t.Kind(n) {
		case syntax.Integer, syntax.UnaryOperator, syntax.True, syntax.False, syntax.None:
			return true
		}
		return false
	}
	if slices.ContainsFunc(others, func(n syntax.NodeID) bool { return !constant(n) }) {
		return flow.Location{}, false // another tensor, perhaps with a graph of its own
	}
	switch t.Kind(operand) {
	case syntax.Identifier, syntax.Attribute, syntax.Call, syntax.Subscript, syntax.BinaryOperator, syntax.ParenthesizedExpression:
		return flow.Location{Module: l.Module, Node: operand}, true
	}
	return flow.Location{}, false
}

// detachInside are the fixes of a growth whose kept value is made of tensors in a
// way that the code around shows: a dict that is read by names, a list of what a
// function gives, the default of a lambda. That these are tensors was not seen.
func detachInside(g flow.Growth) []rules.Fix {
	m, n := g.Kept.Module, g.Kept.Node
	if m == nil {
		return nil
	}
	t := m.Tree
	what := source(g.Kept)
	var edits []text.Edit
	title := ""
	switch {
	case t.Kind(n) == syntax.Lambda:
		value, ok := takenAlong(t, n)
		if !ok {
			return nil
		}
		l := flow.Location{Module: m, Node: value}
		for _, e := range call([]flow.Part{{Location: l}}, ".detach()") {
			edits = append(edits, e.Edit)
		}
		title = fmt.Sprintf("Detach %s, which the function takes along (check that it is a tensor, and that nothing runs backward on it)", source(l))
	case t.Kind(n) == syntax.Call && (t.Text(t.Child(n, syntax.FieldFunction)) == "list" || t.Text(t.Child(n, syntax.FieldFunction)) == "tuple"):
		list := t.Child(n, syntax.FieldArguments)
		inner := t.First(list)
		if inner < 0 || t.Next(inner) >= 0 || t.Kind(inner) != syntax.Call && t.Kind(inner) != syntax.Identifier {
			return nil
		}
		of := t.Text(inner)
		code := "[part.detach() for part in " + of + "]"
		if t.Text(t.Child(n, syntax.FieldFunction)) == "tuple" {
			code = "tuple(part.detach() for part in " + of + ")"
		}
		edits = []text.Edit{{Span: t.Span(n), New: code}}
		title = fmt.Sprintf("Detach what is in %s (check that these are tensors, and that nothing runs backward on them)", what)
	case t.Kind(n) == syntax.Identifier:
		switch name := t.Text(n); shown(m, n) {
		case aDict:
			alias, ok := torchAlias(g.Kept)
			if !ok {
				return nil
			}
			edits = append(alias.edits, text.Edit{Span: t.Span(n), New: fmt.Sprintf("{key: value.detach() if isinstance(value, %s.Tensor) else value for key, value in %s.items()}", alias.name, name)})
			title = fmt.Sprintf("Detach the tensors in %s (check that nothing runs backward on them)", what)
		case perhapsATuple:
			edits = []text.Edit{{Span: t.Span(n), New: detached(name, flow.UnknownShape)}}
			title = fmt.Sprintf("Detach %s, or its parts (check that nothing runs backward on them)", what)
		}
	}
	if title == "" {
		return nil
	}
	fix := rules.Fix{Title: title, Safety: rules.Unsafe}
	for _, e := range edits {
		fix.Edits = append(fix.Edits, rules.FileEdit{Path: m.Path, Edit: e})
	}
	return []rules.Fix{fix}
}

// takenAlong is the one default of a lambda that is more than a constant.
func takenAlong(t *syntax.Tree, lambda syntax.NodeID) (syntax.NodeID, bool) {
	found := syntax.NoNode
	for p := range t.Children(t.Child(lambda, syntax.FieldParameters)) {
		if t.Kind(p) != syntax.DefaultParameter {
			continue
		}
		switch value := t.Child(p, syntax.FieldValue); t.Kind(value) {
		case syntax.Identifier, syntax.Attribute, syntax.Call:
			if found >= 0 {
				return syntax.NoNode, false
			}
			found = value
		}
	}
	return found, found >= 0
}

// form is what the code around shows a value to be.
type form uint8

const (
	unknownForm form = iota
	aDict
	perhapsATuple
)

// shown is what the function around n does with the variable there: to read it by
// a string or by its keys takes a dict, and to ask whether it, or an element of the
// list that it is stored in, is a tuple makes sense only where it may be one.
func shown(m *names.Module, n syntax.NodeID) form {
	t := m.Tree
	if t.Kind(n) != syntax.Identifier {
		return unknownForm
	}
	form := unknownForm
	kept := storedIn(t, n)
	function := functionAround(t, n)
	v := variableAt(m, n)
	for at := function; at < t.End(function); at++ {
		if t.Kind(at) != syntax.Identifier {
			continue
		}
		p := t.Parent(at)
		if kept != "" && t.Text(at) == kept && t.Kind(p) == syntax.Subscript && isAskedForTuple(t, p) {
			form = perhapsATuple
		}
		if t.Text(at) != v.name || !isVariable(t, at) || scopeAt(m, at).Lookup(v.name) != v.scope {
			continue
		}
		switch {
		case t.Kind(p) == syntax.Subscript && t.Child(p, syntax.FieldValue) == at && hasString(t, p):
			return aDict
		case t.Kind(p) == syntax.Attribute && slices.Contains([]string{"items", "keys", "values"}, t.Text(t.Child(p, syntax.FieldAttribute))) && t.Kind(t.Parent(p)) == syntax.Call:
			return aDict
		case isAskedForTuple(t, at):
			form = perhapsATuple
		}
	}
	return form
}

// storedIn is the name of the list that a call with n as its argument stores it in.
func storedIn(t *syntax.Tree, n syntax.NodeID) string {
	call := t.Parent(t.Parent(n))
	if t.Kind(call) != syntax.Call {
		return ""
	}
	f := t.Child(call, syntax.FieldFunction)
	if object := t.Child(f, syntax.FieldObject); t.Kind(f) == syntax.Attribute && t.Kind(object) == syntax.Identifier {
		return t.Text(object)
	}
	return ""
}

// hasString reports whether a subscript is by a string.
func hasString(t *syntax.Tree, subscript syntax.NodeID) bool {
	for c := range t.Children(subscript) {
		if t.Kind(c) == syntax.String {
			return true
		}
	}
	return false
}

// isAskedForTuple reports whether n is the first argument of isinstance, with tuple
// among the types.
func isAskedForTuple(t *syntax.Tree, n syntax.NodeID) bool {
	call := t.Parent(t.Parent(n))
	if t.Kind(call) != syntax.Call || t.Text(t.Child(call, syntax.FieldFunction)) != "isinstance" {
		return false
	}
	types := t.Next(n)
	return types >= 0 && mentions(t, types, "tuple")
}
