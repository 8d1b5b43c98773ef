package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// ContextAttribute is an attribute of the context of a custom autograd function
// that holds tensors between its forward and its backward. No backward frees
// what is kept like that.
type ContextAttribute struct {
	Target  Location // ctx.x
	Store   Location // the statement
	Tensors []ContextTensor
	// Cleared says that the backward sets the attribute to None or deletes it.
	Cleared bool
	// Class is the custom function; Forward and Backward are its methods, the
	// Module of Backward nil when it has none.
	Class, Forward, Backward Location
}

// ContextTensor is a tensor that a context keeps.
type ContextTensor struct {
	Location
	Role ContextRole
}

// ContextRole is what a tensor is to a custom function.
type ContextRole uint8

// The roles of tensors. An OutputTensor refers to the context that keeps it; a
// SharedTensor was made from an output by code that was not seen.
const (
	InputTensor ContextRole = iota
	IntermediateTensor
	SharedTensor
	OutputTensor
)

// customFunction is a class derived from autograd.Function, as the text has it.
type customFunction struct {
	in             *interpreter
	tree           *syntax.Tree
	class          syntax.NodeID
	forward        syntax.NodeID
	backward       syntax.NodeID
	context        string // the name of forward's first parameter
	parameters     []string
	outputs        []string // names and attributes that forward returns
	differentiable []bool   // by parameter: backward returns a gradient for it
}

// contextFacts are the attributes of contexts in the checked module that keep
// tensors.
func (in *interpreter) contextFacts() []ContextAttribute {
	var out []ContextAttribute
	for id, info := range in.objects {
		if info.kind != objectClass || info.at.module != in.main || !in.isFunctionClass(ObjectID(id)) {
			continue
		}
		f := &customFunction{in: in, tree: in.main.Tree, class: info.at.node}
		if f.read() {
			out = append(out, f.attributes()...)
		}
	}
	slices.SortFunc(out, func(a, b ContextAttribute) int { return compareLocations(a.Target, b.Target) })
	return slices.CompactFunc(out, func(a, b ContextAttribute) bool { return a.Target == b.Target })
}

// method is the definition of a method in the class body, NoNode without one.
func (f *customFunction) method(name string) syntax.NodeID {
	t := f.tree
	for c := range t.Children(t.Child(f.class, syntax.FieldBody)) {
		if t.Kind(c) == syntax.DecoratedDefinition {
			c = t.Child(c, syntax.FieldDefinition)
		}
		if t.Kind(c) == syntax.FunctionDefinition && t.Text(t.Child(c, syntax.FieldName)) == name {
			return c
		}
	}
	return syntax.NoNode
}

// read finds the methods of the function, its parameters and results.
func (f *customFunction) read() bool {
	t := f.tree
	f.forward, f.backward = f.method("forward"), f.method("backward")
	if f.forward < 0 {
		return false
	}
	names := parameterNames(t, f.forward)
	if setup := f.method("setup_context"); setup >= 0 || len(names) == 0 {
		return false
	}
	f.context, f.parameters = names[0], names[1:]
	for n := f.forward; n < t.End(f.forward); n++ {
		if t.Kind(n) == syntax.ReturnStatement && t.First(n) >= 0 {
			for _, e := range displayed(t, t.First(n)) {
				f.outputs = append(f.outputs, t.Text(e))
			}
		}
	}
	f.differentiable = make([]bool, len(f.parameters))
	for n := f.backward; n >= 0 && n < t.End(f.backward); n++ {
		if t.Kind(n) != syntax.ReturnStatement || t.First(n) < 0 {
			continue
		}
		gradients := displayed(t, t.First(n))
		if len(gradients) == 1 && (len(f.parameters) != 1 || takesMore(t, f.forward)) {
			continue // a tuple that the text does not show
		}
		for i, e := range gradients {
			if t.Kind(e) == syntax.ListSplat {
				break
			}
			if i < len(f.differentiable) && t.Kind(e) != syntax.None {
				f.differentiable[i] = true
			}
		}
	}
	return true
}

// parameterNames are the names of the positional parameters of a function.
func parameterNames(t *syntax.Tree, function syntax.NodeID) []string {
	var out []string
	for p := range t.Children(t.Child(function, syntax.FieldParameters)) {
		switch t.Kind(p) {
		case syntax.Identifier:
			out = append(out, t.Text(p))
		case syntax.DefaultParameter, syntax.TypedDefaultParameter:
			out = append(out, t.Text(t.Child(p, syntax.FieldName)))
		case syntax.TypedParameter:
			if t.Kind(t.First(p)) == syntax.Identifier {
				out = append(out, t.Text(t.First(p)))
			}
		}
	}
	return out
}

// takesMore reports whether a function has a parameter *args.
func takesMore(t *syntax.Tree, function syntax.NodeID) bool {
	for p := range t.Children(t.Child(function, syntax.FieldParameters)) {
		if t.Kind(p) == syntax.ListSplatPattern || t.Kind(p) == syntax.TypedParameter && t.Kind(t.First(p)) == syntax.ListSplatPattern {
			return true
		}
	}
	return false
}

// bare is an expression without the parentheses around it.
func bare(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for n >= 0 && t.Kind(n) == syntax.ParenthesizedExpression {
		n = t.First(n)
	}
	return n
}

// displayed are the elements of a tuple or list display, else n itself.
func displayed(t *syntax.Tree, n syntax.NodeID) []syntax.NodeID {
	switch t.Kind(n) {
	case syntax.ParenthesizedExpression:
		return displayed(t, t.First(n))
	case syntax.Tuple, syntax.List, syntax.ExpressionList:
		var out []syntax.NodeID
		for c := range t.Children(n) {
			out = append(out, c)
		}
		return out
	case syntax.Dictionary:
		var out []syntax.NodeID
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Pair {
				out = append(out, t.Child(c, syntax.FieldValue))
			}
		}
		return out
	}
	return []syntax.NodeID{n}
}

// attributes are the stores of forward to its context.
func (f *customFunction) attributes() []ContextAttribute {
	t, m := f.tree, f.in.main
	var out []ContextAttribute
	for n := f.forward; n < t.End(f.forward); n++ {
		if t.Kind(n) != syntax.Assignment {
			continue
		}
		target, value := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
		if value < 0 || t.Kind(target) != syntax.Attribute || t.Text(t.Child(target, syntax.FieldObject)) != f.context {
			continue
		}
		a := ContextAttribute{
			Target: Location{m, target}, Store: Location{m, n}, Class: Location{m, f.class}, Forward: Location{m, f.forward},
			Cleared: f.clears(t.Text(t.Child(target, syntax.FieldAttribute))),
		}
		if f.backward >= 0 {
			a.Backward = Location{m, f.backward}
		}
		for _, e := range displayed(t, value) {
			role, ok := f.role(e, n)
			if !ok || a.Cleared && role < SharedTensor {
				continue // a backward frees it, as it would what is saved for it
			}
			a.Tensors = append(a.Tensors, ContextTensor{Location{m, e}, role})
		}
		if len(a.Tensors) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// role is what the expression e, stored by a statement, is to the function; ok
// is false unless it is a tensor.
func (f *customFunction) role(e, store syntax.NodeID) (role ContextRole, ok bool) {
	t := f.tree
	text := t.Text(e)
	target := t.Text(t.Child(store, syntax.FieldLeft))
	if slices.Contains(f.outputs, target) || slices.Contains(f.outputs, text) && !f.changes(text, t.End(store)) {
		return OutputTensor, f.isTensor(e) || f.isOperation(e) || t.Kind(e) == syntax.Identifier && !slices.Contains(f.parameters, text) && f.mayBeTensor(e)
	}
	if t.Kind(e) != syntax.Identifier {
		if f.isSmall(e, store) {
			return 0, false
		}
		return IntermediateTensor, f.isTensor(e) || f.isOperation(e)
	}
	if i := slices.Index(f.parameters, text); i >= 0 && !f.changes(text, f.forward) {
		return InputTensor, f.isTensor(e) || f.differentiable[i]
	}
	made := f.definition(text, store)
	if made >= 0 && t.Kind(made) == syntax.Call && f.isUnseen(made) {
		for a := range t.Children(t.Child(made, syntax.FieldArguments)) {
			if slices.Contains(f.outputs, t.Text(a)) {
				return SharedTensor, true
			}
		}
	}
	if made >= 0 && f.isSmall(made, store) {
		return 0, false
	}
	return IntermediateTensor, f.isTensor(e) || made >= 0 && f.isOperation(made)
}

// value is what an expression was last evaluated to.
func (f *customFunction) value(n syntax.NodeID) *Value {
	return f.in.values[f.in.main].at(n)
}

// isTensor reports whether an expression can be nothing but a tensor, or None.
func (f *customFunction) isTensor(n syntax.NodeID) bool {
	v := f.value(n)
	return v != nil && v.is(KindTensor) && v.only(KindTensor|KindNone) && len(v.elements) == 0
}

// isOperation reports whether an expression is a call of a function of PyTorch's
// that gives a tensor, whatever its arguments are.
func (f *customFunction) isOperation(n syntax.NodeID) bool {
	t := f.tree
	if t.Kind(n) != syntax.Call {
		return false
	}
	v := f.value(t.Child(n, syntax.FieldFunction))
	if v == nil || len(v.objects) != 1 || f.in.objects[v.objects[0]].kind != objectLibrary {
		return false
	}
	c, ok := torch.Function(f.in.objects[v.objects[0]].name)
	return ok && (c.Effect == torch.Keeps || c.Effect == torch.NoGraph) && strings.HasPrefix(f.in.objects[v.objects[0]].name, "torch.")
}

// mayBeTensor reports whether nothing is known that an expression is instead.
func (f *customFunction) mayBeTensor(n syntax.NodeID) bool {
	v := f.value(n)
	return v == nil || v.is(KindTensor|KindUnknown)
}

// isUnseen reports whether a call is one of code that was not seen.
func (f *customFunction) isUnseen(call syntax.NodeID) bool {
	v := f.value(call)
	return v != nil && v.only(KindUnknown)
}

// isSmall reports whether an expression gives integers or truth values, or no
// element at all: little is kept of them, and no gradient runs through it.
func (f *customFunction) isSmall(n, at syntax.NodeID) bool {
	t := f.tree
	switch t.Kind(n) {
	case syntax.ParenthesizedExpression:
		return f.isSmall(t.First(n), at)
	case syntax.Subscript:
		return f.isSmall(t.Child(n, syntax.FieldValue), at)
	case syntax.Identifier:
		made := f.definition(t.Text(n), at)
		return made >= 0 && made < n && f.isSmall(made, made)
	case syntax.ComparisonOperator, syntax.NotOperator:
		return true
	case syntax.Call:
		callee := t.Child(n, syntax.FieldFunction)
		if t.Kind(callee) == syntax.Attribute {
			first := t.First(t.Child(n, syntax.FieldArguments))
			return torch.Discrete[t.Text(t.Child(callee, syntax.FieldAttribute))] || first >= 0 && t.Text(first) == "0" // new_empty(0)
		}
	}
	return false
}

// definition is the expression whose value a name has at a statement, NoNode
// when it is unpacked or not known.
func (f *customFunction) definition(name string, at syntax.NodeID) syntax.NodeID {
	t := f.tree
	found := syntax.NoNode
	for n := f.forward; n < at; n++ {
		if t.Kind(n) != syntax.Assignment {
			continue
		}
		left := t.Child(n, syntax.FieldLeft)
		if t.Text(left) == name {
			found = bare(t, t.Child(n, syntax.FieldRight))
		} else if slices.Contains(unpackedTo(t, left), name) {
			found = syntax.NoNode
		}
	}
	return found
}

// unpackedTo are the texts of the targets of an unpacking.
func unpackedTo(t *syntax.Tree, n syntax.NodeID) []string {
	var out []string
	switch t.Kind(n) {
	case syntax.PatternList, syntax.TuplePattern, syntax.ListPattern, syntax.ExpressionList, syntax.Tuple:
		for c := range t.Children(n) {
			out = append(out, t.Text(c))
		}
	}
	return out
}

// changes reports whether forward gives another value to a name after a
// position.
func (f *customFunction) changes(name string, after syntax.NodeID) bool {
	t := f.tree
	for n := after; n < t.End(f.forward); n++ {
		if k := t.Kind(n); k != syntax.Assignment && k != syntax.AugmentedAssignment {
			continue
		}
		left := t.Child(n, syntax.FieldLeft)
		if t.Text(left) == name || slices.Contains(unpackedTo(t, left), name) {
			return true
		}
	}
	return false
}

// clears reports whether backward drops an attribute of its context, or what it
// holds.
func (f *customFunction) clears(name string) bool {
	t := f.tree
	if f.backward < 0 {
		return false
	}
	context := ""
	if names := parameterNames(t, f.backward); len(names) > 0 {
		context = names[0]
	}
	for n := f.backward; n < t.End(f.backward); n++ {
		switch t.Kind(n) {
		case syntax.Assignment:
			if t.Text(t.Child(n, syntax.FieldLeft)) == context+"."+name && t.Kind(bare(t, t.Child(n, syntax.FieldRight))) == syntax.None {
				return true
			}
		case syntax.DeleteStatement:
			if first := t.First(n); t.Text(first) == context+"."+name || slices.Contains(unpackedTo(t, first), context+"."+name) {
				return true
			}
		case syntax.Call: // ctx.x.pop()
			callee := t.Child(n, syntax.FieldFunction)
			if t.Kind(callee) == syntax.Attribute && t.Text(t.Child(callee, syntax.FieldObject)) == context+"."+name {
				switch torch.ContainerMethods[t.Text(t.Child(callee, syntax.FieldAttribute))] {
				case torch.Takes, torch.Empties:
					return true
				}
			}
		}
	}
	return false
}
