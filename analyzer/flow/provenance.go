package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// fromCaller reports whether the graph behind the expression n may in part have
// been made before the running root was called, by a caller that was not seen:
// whether n was computed from an argument of the root, or from an attribute
// that it did not set. What a loop takes from an argument, such as the batches
// of a loader, is new in each iteration.
func (in *interpreter) fromCaller(n syntax.NodeID) bool {
	w := provenance{in: in, seen: map[variableUse]bool{}, left: maxProvenance}
	return w.expression(n, in.frame)
}

// maxProvenance is how many expressions are looked at. A value that is made of
// more may have come from anywhere.
const maxProvenance = 2_000

type variableUse struct {
	frame *frame
	name  string
}

// provenance follows the text from a value back to what it was made of.
type provenance struct {
	in   *interpreter
	seen map[variableUse]bool
	left int
}

// value is what an expression of a frame was last evaluated to.
func (w *provenance) value(n syntax.NodeID, f *frame) *Value {
	return w.in.values[f.module].at(n)
}

// withoutTensor reports whether a value holds no tensor: a number, a function,
// a module.
func (w *provenance) withoutTensor(v *Value) bool {
	if v == nil || v.only(KindPlain|KindNone) || w.in.callable(v) || w.in.isLibrary(v) {
		return true
	}
	if !v.only(KindObject|KindUnknown) || len(v.objects) == 0 || v.elements != nil {
		return false
	}
	for _, id := range v.objects {
		switch info := w.in.objects[id]; {
		case info.kind == objectModule, info.model, info.kind == objectInstance && w.in.isModuleClass(info.class):
		default:
			return false
		}
	}
	return true
}

// expression reports whether the expression n, evaluated in f, was computed
// from something that a caller made.
func (w *provenance) expression(n syntax.NodeID, f *frame) bool {
	if n < 0 {
		return false
	}
	if w.left--; w.left < 0 {
		return true
	}
	t := f.module.Tree
	v := w.value(n, f)
	switch t.Kind(n) {
	case syntax.Identifier:
		return !w.withoutTensor(v) && w.variable(t.Text(n), f)
	case syntax.Attribute:
		if w.withoutTensor(v) {
			return false
		}
		if v != nil && len(v.atoms) > 0 && w.in.sure(v.atoms) > NoGraph {
			return false // made here
		}
		object := t.Child(n, syntax.FieldObject)
		if holder := w.value(object, f); holder != nil && w.in.anyIs(holder, objectInstance) {
			return v.is(KindUnknown)
		}
		return w.expression(object, f)
	case syntax.Call:
		if v != nil && v.only(KindTensor) && len(v.atoms) == 0 {
			return false // it has no graph: zeros, indices, what was detached
		}
		callee := t.Child(n, syntax.FieldFunction)
		if name := t.Text(callee); name == "next" || name == "iter" {
			return false
		}
		if t.Kind(callee) == syntax.Attribute {
			receiver := t.Child(callee, syntax.FieldObject)
			if r := w.value(receiver, f); r != nil && (r.is(KindTensor) || len(r.atoms) > 0) && w.expression(receiver, f) {
				return true
			}
		}
		return w.expression(t.Child(n, syntax.FieldArguments), f)
	case syntax.BinaryOperator:
		left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
		switch t.Text(t.Child(n, syntax.FieldOperator)) {
		case "*", "/", "**": // a factor of which nothing is known is taken for a number
			l, r := w.value(left, f), w.value(right, f)
			if l != nil && r != nil && w.in.sure(l.atoms) > NoGraph && r.only(KindUnknown) && len(r.atoms) == 0 {
				return w.expression(left, f)
			}
			if l != nil && r != nil && w.in.sure(r.atoms) > NoGraph && l.only(KindUnknown) && len(l.atoms) == 0 {
				return w.expression(right, f)
			}
		}
		return w.expression(left, f) || w.expression(right, f)
	case syntax.Lambda, syntax.String, syntax.ConcatenatedString, syntax.Operator:
		return false
	case syntax.KeywordArgument:
		return w.expression(t.Child(n, syntax.FieldValue), f)
	}
	for c := range t.Children(n) {
		if w.expression(c, f) {
			return true
		}
	}
	return false
}

// variable reports whether a variable read in f holds something that a caller
// made.
func (w *provenance) variable(name string, f *frame) bool {
	use := variableUse{f, name}
	if w.seen[use] {
		return false
	}
	w.seen[use] = true
	scope := f.scope.Lookup(name)
	for f.scope != scope && f.closure != nil {
		f = f.closure
	}
	if f.code == nil {
		w.in.wholeText = true
		return w.assigned(name, f.module.Tree.Root(), f)
	}
	if arg, found := w.parameter(name, f); found {
		if arg < 0 {
			return true
		}
		if arg != syntax.NodeID(f.module.Tree.Len()) && w.expression(arg, f.caller) {
			return true
		}
	}
	return w.assigned(name, f.code.node, f)
}

// parameter finds what the parameter of that name was given. The argument is
// NoNode when the call was not seen, and past the tree when it is the default
// or the receiver.
func (w *provenance) parameter(name string, f *frame) (argument syntax.NodeID, found bool) {
	t := f.module.Tree
	absent := syntax.NodeID(t.Len())
	i := -1
	for p := range t.Children(t.Child(f.code.node, syntax.FieldParameters)) {
		i++
		id := p
		if t.Kind(p) != syntax.Identifier {
			if id = t.Child(p, syntax.FieldName); id < 0 {
				id = t.First(p)
			}
		}
		if id < 0 || t.Text(id) != name {
			continue
		}
		if f.code.class != 0 && f.code.kind != staticMethod {
			if i == 0 {
				return absent, true
			}
			i--
		}
		if f.call == nil || f.caller == nil {
			return syntax.NoNode, true
		}
		ct := f.call.module.Tree
		if ct.Kind(f.call.node) != syntax.Call || f.caller.module != f.call.module {
			return syntax.NoNode, true // a root, or called by a library
		}
		j := 0
		for a := range ct.Children(ct.Child(f.call.node, syntax.FieldArguments)) {
			switch ct.Kind(a) {
			case syntax.KeywordArgument:
				if ct.Text(ct.Child(a, syntax.FieldName)) == name {
					return ct.Child(a, syntax.FieldValue), true
				}
				continue
			case syntax.ListSplat, syntax.DictionarySplat:
				return a, true
			}
			if j == i {
				return a, true
			}
			j++
		}
		return absent, true
	}
	return 0, false
}

// assigned reports whether something that a caller made is assigned to a name
// in the code below n.
func (w *provenance) assigned(name string, n syntax.NodeID, f *frame) bool {
	t := f.module.Tree
	for c := n; c < t.End(n); c++ {
		var target, value syntax.NodeID
		switch t.Kind(c) {
		case syntax.Assignment, syntax.AugmentedAssignment:
			target, value = t.Child(c, syntax.FieldLeft), t.Child(c, syntax.FieldRight)
		case syntax.NamedExpression:
			target, value = t.Child(c, syntax.FieldName), t.Child(c, syntax.FieldValue)
		default:
			continue
		}
		if w.binds(t, target, name) && w.expression(value, f) {
			return true
		}
	}
	return false
}

// binds reports whether a target gives a value to a name.
func (w *provenance) binds(t *syntax.Tree, target syntax.NodeID, name string) bool {
	for c := target; target >= 0 && c < t.End(target); c++ {
		if t.Kind(c) == syntax.Identifier && t.Text(c) == name && t.Role(c) != syntax.FieldAttribute {
			return true
		}
	}
	return false
}
