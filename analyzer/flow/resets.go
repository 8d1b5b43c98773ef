package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// noteResets returns the join hook that marks a place which one path gives a
// value of its own: it grows only until then. A test whether the place was
// initialised is no reset.
func (in *interpreter) noteResets(condition syntax.NodeID) func(Place, []*Value, []bool, *Value) *Value {
	if in.loop == nil {
		return nil
	}
	loops := in.loop
	return func(p Place, sides []*Value, written []bool, joined *Value) *Value {
		if p.object < firstObject || joined == nil {
			return joined
		}
		for l := loops; l != nil; l = l.parent {
			carried, chained := in.headers[headerKey{l, p, atomCarried}], in.headers[headerKey{l, p, atomChained}]
			if carried == 0 && chained == 0 {
				continue // nothing depends on it
			}
			depends, resets := false, false
			var fillings []*Value
			for i, v := range sides {
				own := v != nil && (carried != 0 && v.holds(carried) || chained != 0 && v.holds(chained))
				depends = depends || own
				if written[i] && !own {
					resets = true
					fillings = append(fillings, v)
				}
			}
			if !depends || !resets {
				continue
			}
			fills := slices.ContainsFunc(fillings, func(v *Value) bool { return in.sure(in.reach(v)) > NoGraph })
			if !in.initialises(condition, l, p, fills) {
				joined = joined.with(in.header(atomReset, l, p))
			}
		}
		return joined
	}
}

// holds reports whether a value or an element of it was made from x.
func (v *Value) holds(x Atom) bool {
	return v.atoms.has(x) || slices.ContainsFunc(v.elements, func(e *Value) bool { return e != nil && e.holds(x) })
}

// initialises reports whether a condition asks if p has its first value in the
// loop l: x is None, not x, key not in d, step == 0. fills says that the value
// it is given then carries a graph itself.
func (in *interpreter) initialises(condition syntax.NodeID, l *loop, p Place, fills bool) bool {
	if condition < 0 {
		return false
	}
	t := in.tree()
	switch t.Kind(condition) {
	case syntax.ParenthesizedExpression:
		return in.initialises(t.First(condition), l, p, fills)
	case syntax.NotOperator:
		arg := t.Child(condition, syntax.FieldArgument)
		return in.initialises(arg, l, p, fills) || t.Kind(arg) == syntax.Call && fills
	case syntax.BooleanOperator:
		return in.initialises(t.Child(condition, syntax.FieldLeft), l, p, fills) || in.initialises(t.Child(condition, syntax.FieldRight), l, p, fills)
	case syntax.Identifier, syntax.Attribute:
		return fills || in.names(condition, p) // first, self.initialised, total
	case syntax.Call:
		return t.Text(t.Child(condition, syntax.FieldFunction)) == "hasattr" || t.Text(t.Child(condition, syntax.FieldFunction)) == "isinstance"
	case syntax.ComparisonOperator:
		op := t.Text(t.Child(condition, syntax.FieldOperators))
		left := t.First(condition)
		var right syntax.NodeID = syntax.NoNode
		for c := range t.Children(condition) {
			if t.Role(c) != syntax.FieldOperators && c != left {
				right = c
			}
		}
		switch op {
		case "is", "is not":
			return right >= 0 && t.Kind(right) == syntax.None
		case "in", "not in":
			return true
		case "==", "!=", ">", "<=", "<", ">=":
			if !in.isReference(left) || right < 0 || t.Kind(right) != syntax.Integer {
				return false
			}
			k := in.literal(right).literal
			return k == 0 || k == 1 || !in.names(left, p) && !in.startsAnew(left, l)
		}
	}
	return false
}

// startsAnew reports whether the variable or attribute n is set back on some
// path of an iteration, as the counter of a window is.
func (in *interpreter) startsAnew(n syntax.NodeID, l *loop) bool {
	p := in.placeOf(n)
	if p == nil {
		return false
	}
	v := l.back[*p].value
	return v != nil && v.atoms.has(in.header(atomReset, l, *p))
}

// isReference reports whether n is a name or an attribute.
func (in *interpreter) isReference(n syntax.NodeID) bool {
	k := in.tree().Kind(n)
	return k == syntax.Identifier || k == syntax.Attribute
}

// names reports whether n is how the code writes the place p.
func (in *interpreter) names(n syntax.NodeID, p Place) bool {
	t := in.tree()
	if t.Kind(n) == syntax.Attribute {
		n = t.Child(n, syntax.FieldAttribute)
	}
	return t.Text(n) == in.symbolNames[p.field]
}
