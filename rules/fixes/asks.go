package fixes

import (
	"iter"
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// asking are the attributes and methods that a tensor without a graph answers
// otherwise than one with a graph.
var asking = []string{"requires_grad", "grad_fn", "retain_grad", "register_hook", "requires_grad_", "is_leaf", "retains_grad"}

// cutting are the attributes, methods and functions whose result has no graph.
var cutting = []string{"item", "detach", "tolist", "numpy", "data", "shape", "dtype", "device", "size", "dim", "numel", "argmax",
	"float", "int", "len", "str", "repr", "print", "isinstance", "range", "bool"}

// backwards are the functions and methods that run a backward through what they
// are given.
var backwards = []string{"backward", "manual_backward", "grad"}

// needGraph reports whether some code in view asks the place, or what is made of
// it, for its graph. Of a backward in the iteration that stores the value the
// analysis knows that it runs, but not whether it comes to the value by itself or
// by way of the place: that is asked here too.
func (u uses) needGraph() bool {
	if u.target.Module == nil {
		return false
	}
	w := askWalk{loop: u.loop, modules: []*names.Module{u.module}, seen: map[variable]bool{}, attributes: map[string]bool{}, argument: u.argument, call: u.call}
	if u.target.Module != u.module {
		w.modules = append(w.modules, u.target.Module)
	}
	for n := range u.mentions() {
		if w.from(u.target.Module, n) {
			return true
		}
	}
	return u.argument != nil && w.variable(*u.argument)
}

// askWalk follows what is made of a value, through variables, attributes and
// functions of some files, to code that asks for its graph.
type askWalk struct {
	loop       flow.Location // in which the value is stored
	modules    []*names.Module
	seen       map[variable]bool
	attributes map[string]bool
	over       bool // the loop has ended
	// argument is the parameter that takes the value in call, if one does.
	argument *variable
	call     flow.Location
}

func (w askWalk) variable(v variable) bool {
	if w.seen[v] {
		return false
	}
	w.seen[v] = true
	for n := range v.occurrences() {
		if w.from(v.module, n) {
			return true
		}
	}
	return false
}

// from reports whether what is made of the expression n is asked for its graph.
func (w askWalk) from(m *names.Module, n syntax.NodeID) bool {
	t := m.Tree
	for {
		p := t.Parent(n)
		switch t.Kind(p) {
		case syntax.Attribute:
			name := t.Text(t.Child(p, syntax.FieldAttribute))
			switch {
			case t.Role(n) != syntax.FieldObject, slices.Contains(cutting, name):
				return false
			case slices.Contains(asking, name), name == "backward" && w.inIteration(m, n):
				return true
			}
		case syntax.Subscript:
			if t.Child(p, syntax.FieldValue) != n {
				return false // an index
			}
		case syntax.Call, syntax.BinaryOperator, syntax.UnaryOperator, syntax.BooleanOperator, syntax.ParenthesizedExpression,
			syntax.ConditionalExpression, syntax.Tuple, syntax.List, syntax.ExpressionList, syntax.KeywordArgument,
			syntax.ListComprehension, syntax.GeneratorExpression:
		case syntax.ArgumentList:
			call := t.Parent(p)
			name := lastName(t, t.Child(call, syntax.FieldFunction))
			switch {
			case t.Kind(call) != syntax.Call, slices.Contains(cutting, name):
				return false
			case slices.Contains(backwards, name) && w.inIteration(m, n):
				return true
			}
			if v, ok := parameterOf(m, call, n); ok && w.variable(v) {
				return true
			}
			if v, ok := keptIn(m, call); ok && w.variable(v) {
				return true
			}
		case syntax.Assignment, syntax.NamedExpression, syntax.ForStatement, syntax.ForInClause:
			return t.Role(n) != syntax.FieldLeft && w.targets(m, p)
		case syntax.ReturnStatement:
			return w.returned(m, p)
		default:
			return false
		}
		n = p
	}
}

// inIteration reports whether code runs within an iteration that stores the value,
// or may.
func (w askWalk) inIteration(m *names.Module, n syntax.NodeID) bool {
	if w.over {
		return false
	}
	if m != w.loop.Module || functionAround(m.Tree, n) != functionAround(m.Tree, w.loop.Node) {
		return true
	}
	return w.loop.Kind() == syntax.FunctionDefinition || w.loop.Kind() == syntax.ClassDefinition || w.loop.Node <= n && n < m.Tree.End(w.loop.Node)
}

// returned follows what a function returns to those who call it by its name. The
// function with the loop returns when that is over.
func (w askWalk) returned(m *names.Module, statement syntax.NodeID) bool {
	function := functionAround(m.Tree, statement)
	v := variable{m, m.Scope(function), ""}
	name := lastName(m.Tree, m.Tree.Child(function, syntax.FieldName))
	if name == "" {
		return false
	}
	if w.seen[v] {
		return false
	}
	w.seen[v] = true
	if m == w.loop.Module && function == functionAround(m.Tree, w.loop.Node) && function != w.loop.Node {
		// What is seen from here on may be seen before the loop ends too.
		w.over, w.seen, w.attributes = true, map[variable]bool{v: true}, map[string]bool{}
	}
	switch {
	case w.call.Module != nil && w.argument != nil && w.argument.scope == v.scope:
		return w.from(w.call.Module, w.call.Node)
	case name == "forward", name == "__call__":
		return !w.over
	}
	for _, m := range w.modules {
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == syntax.Call && lastName(t, t.Child(n, syntax.FieldFunction)) == name && w.from(m, n) {
				return true
			}
		}
	}
	return false
}

// functionAround is the function that n is in, or the root.
func functionAround(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	if t.Kind(n) == syntax.FunctionDefinition {
		return n
	}
	for n > t.Root() && t.Kind(n) != syntax.FunctionDefinition {
		n = t.Parent(n)
	}
	return n
}

// lastName is the last name of what is called, empty when it has none.
func lastName(t *syntax.Tree, callee syntax.NodeID) string {
	if callee >= 0 && t.Kind(callee) == syntax.Attribute {
		callee = t.Child(callee, syntax.FieldAttribute)
	}
	if callee < 0 {
		return ""
	}
	return t.Text(callee)
}

// keeping are methods of collections that keep their argument.
var keeping = []string{"append", "appendleft", "add", "extend", "insert", "put", "update", "setdefault"}

// keptIn is the variable of the collection that a call puts its arguments in.
func keptIn(m *names.Module, call syntax.NodeID) (variable, bool) {
	t := m.Tree
	f := t.Child(call, syntax.FieldFunction)
	object := t.Child(f, syntax.FieldObject)
	if t.Kind(f) != syntax.Attribute || t.Kind(object) != syntax.Identifier || !slices.Contains(keeping, t.Text(t.Child(f, syntax.FieldAttribute))) {
		return variable{}, false
	}
	v := variableAt(m, object)
	return v, !v.isImported()
}

// targets follows the variables and attributes that an assignment or a loop binds.
func (w askWalk) targets(m *names.Module, binding syntax.NodeID) bool {
	t := m.Tree
	left := t.Child(binding, syntax.FieldLeft)
	if left < 0 {
		left = t.Child(binding, syntax.FieldName)
	}
	for t.Kind(left) == syntax.Subscript {
		left = t.Child(left, syntax.FieldValue)
	}
	for n := left; n >= 0 && n < t.End(left); n++ {
		switch {
		case t.Kind(n) == syntax.Attribute:
			if w.attribute(t.Text(t.Child(n, syntax.FieldAttribute))) {
				return true
			}
		case t.Kind(n) == syntax.Identifier && isVariable(t, n) && t.Kind(t.Parent(n)) != syntax.Attribute && w.variable(variableAt(m, n)):
			return true
		}
	}
	return false
}

// attribute follows all attributes of a name.
func (w askWalk) attribute(name string) bool {
	if w.attributes[name] {
		return false
	}
	w.attributes[name] = true
	for _, m := range w.modules {
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == name && w.from(m, n) {
				return true
			}
		}
	}
	return false
}

// changesElements reports whether something writes into an element of a
// collection in place: as long as it is the very tensor that a backward comes
// to, that is part of its graph.
func (u uses) changesElements() bool {
	t := u.module.Tree
	if !u.collects || u.target.Module != u.module {
		return false
	}
	for n := range u.mentions() {
		element := t.Parent(n)
		if t.Kind(element) != syntax.Subscript || t.Child(element, syntax.FieldValue) != n {
			continue
		}
		switch p := t.Parent(element); t.Kind(p) {
		case syntax.AugmentedAssignment:
			if t.Role(element) == syntax.FieldLeft {
				return true
			}
		case syntax.Attribute:
			if torch.InPlace(t.Text(t.Child(p, syntax.FieldAttribute))) {
				return true
			}
		}
	}
	return false
}

// mentions are the expressions of its file that name the target.
func (u uses) mentions() iter.Seq[syntax.NodeID] {
	m := u.target.Module
	if u.target.Kind() == syntax.Identifier {
		return variableAt(m, u.target.Node).occurrences()
	}
	return func(yield func(syntax.NodeID) bool) {
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == u.target.Kind() && t.Text(n) == u.target.Text() && !yield(n) {
				return
			}
		}
	}
}
