package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// rewrites notes that a loop at n, which is over, gave each entry of a collection
// another value, as in
//
//	for key, value in losses.items():
//	    losses[key] = value.detach()
//
// What was in the collection before is gone.
func (in *interpreter) rewrites(n syntax.NodeID) {
	if in.state == nil {
		return
	}
	t := in.tree()
	key := in.firstTarget(t.Child(n, syntax.FieldLeft))
	body := t.Child(n, syntax.FieldBody)
	collection := in.walked(t.Child(n, syntax.FieldRight), 0)
	if key < 0 || collection < 0 {
		return
	}
	stored := in.storedAt(body, t.Text(collection)+"["+t.Text(key)+"]")
	if stored < 0 || in.leavesEarly(body) {
		return
	}
	v, all := in.valueOf(stored), in.valueOf(collection)
	if v == nil || all == nil || len(all.objects) != 1 {
		return
	}
	id := all.objects[0]
	if k := in.objects[id].kind; k != objectContainer && k != objectUnknown {
		return
	}
	for _, f := range slices.Clone(in.objects[id].fields) {
		if p := (Place{id, f}); strings.HasPrefix(in.symbolNames[f], "[") && in.state.get(p) != nil {
			in.write(p, v)
		}
	}
	in.write(Place{id, anyElement}, v)
	if p := in.placeOf(collection); p != nil {
		if whole := in.state.get(*p); whole != nil && len(whole.atoms) > 0 {
			c := *whole
			c.atoms = in.held(whole)
			in.state.set(*p, &c)
		}
	}
}

// firstTarget is the variable that a loop binds to keys or positions: its only one,
// or the first of two. It is NoNode for others.
func (in *interpreter) firstTarget(target syntax.NodeID) syntax.NodeID {
	t := in.tree()
	if k := t.Kind(target); k == syntax.PatternList || k == syntax.TuplePattern {
		target = t.First(target)
	}
	if t.Kind(target) != syntax.Identifier {
		return syntax.NoNode
	}
	return target
}

// walked is the collection all of whose keys or positions an iterable gives:
// losses of losses.items(), list(losses) and range(len(losses)). It is NoNode for
// others.
func (in *interpreter) walked(n syntax.NodeID, depth int) syntax.NodeID {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier, syntax.Attribute:
		return n
	case syntax.Call:
		f, args := t.Child(n, syntax.FieldFunction), t.Child(n, syntax.FieldArguments)
		first := t.First(args)
		switch t.Kind(f) {
		case syntax.Attribute:
			if name := t.Text(t.Child(f, syntax.FieldAttribute)); first < 0 && (name == "items" || name == "keys") {
				return in.walked(t.Child(f, syntax.FieldObject), depth+1)
			}
		case syntax.Identifier:
			name := t.Text(f)
			if slices.Contains([]string{"list", "tuple", "sorted", "enumerate", "range", "len"}, name) && first >= 0 && t.Next(first) < 0 && depth < 3 {
				return in.walked(first, depth+1)
			}
		}
	}
	return syntax.NoNode
}

// storedAt is what a block stores at a target each time, or each time that a tensor
// is there; NoNode if it does not.
func (in *interpreter) storedAt(block syntax.NodeID, target string) syntax.NodeID {
	t := in.tree()
	for s := range t.Children(block) {
		switch t.Kind(s) {
		case syntax.ExpressionStatement:
			s = t.First(s)
			fallthrough
		case syntax.Assignment:
			if t.Kind(s) == syntax.Assignment && t.Text(t.Child(s, syntax.FieldLeft)) == target {
				return t.Child(s, syntax.FieldRight)
			}
		case syntax.IfStatement:
			condition := t.Child(s, syntax.FieldCondition)
			if t.Kind(condition) != syntax.Call {
				continue
			}
			if _, kinds := in.typeTest(condition); kinds&KindTensor == 0 {
				continue
			}
			if stored := in.storedAt(t.Child(s, syntax.FieldConsequence), target); stored >= 0 {
				return stored
			}
		}
	}
	return syntax.NoNode
}

// leavesEarly reports whether an iteration may end before its last statement.
func (in *interpreter) leavesEarly(body syntax.NodeID) bool {
	t := in.tree()
	for n := body; n < t.End(body); n++ {
		switch t.Kind(n) {
		case syntax.FunctionDefinition:
			n = t.End(n) - 1 // what it returns, it returns elsewhere
		case syntax.BreakStatement, syntax.ContinueStatement, syntax.ReturnStatement:
			return true
		}
	}
	return false
}
