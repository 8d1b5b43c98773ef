package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// addendWalk finds the parts of an expression that bring a graph without
// coming from the place that is stored to: loss in 0.9*total + 0.1*loss.
type addendWalk struct {
	in     *interpreter
	loop   *loop
	place  Place
	exprs  []syntax.NodeID
	added  []atoms
	firsts []syntax.NodeID // alternatives that have a graph and nothing of the old value
	decays bool
	joins  bool // tensors are put one behind the other
	alone  bool // nothing but the expression as a whole
	cell   bool // a module is given the old value
	fed    bool // something else that differs in each iteration takes part
	depth  int  // of definitions looked through
}

// definition is the expression that a variable was given last.
type definition struct {
	frame *callSite
	expr  Location
}

// maxDefinitions is how many variables that are made of each other are looked
// through.
const maxDefinitions = 4

// own reports whether n has to do with the old value of the place.
func (w *addendWalk) own(n syntax.NodeID) bool {
	v := w.in.valueOf(n)
	return v != nil && w.in.dependsOn(w.in.reach(v), w.loop, w.place)
}

// isFactor reports whether n scales a value without a graph of its own.
func (w *addendWalk) isFactor(n syntax.NodeID) bool {
	v := w.in.valueOf(n)
	return v != nil && w.in.sure(w.in.reach(v)) == NoGraph
}

// walk looks at n and, where it has to do with the place itself, below it.
func (w *addendWalk) walk(n syntax.NodeID) {
	t := w.in.tree()
	if t.Kind(n) == syntax.KeywordArgument {
		n = t.Child(n, syntax.FieldValue)
	}
	v := w.in.valueOf(n)
	if v == nil && t.Kind(n) != syntax.ArgumentList {
		return
	}
	if v != nil && !w.own(n) {
		w.fed = w.fed || w.in.differs(v, w.loop)
		if !v.only(KindPlain|KindNone) && w.in.sure(w.in.reach(v)) > NoGraph {
			w.exprs, w.added = append(w.exprs, n), append(w.added, w.in.reach(v))
		}
		return
	}
	switch t.Kind(n) {
	case syntax.Identifier: // delta, after delta = loss - mean
		w.lookThrough(n)
	case syntax.BinaryOperator:
		left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
		switch t.Text(t.Child(n, syntax.FieldOperator)) {
		case "*":
			w.decays = w.decays || w.own(left) != w.own(right) && (w.isFactor(left) || w.isFactor(right))
		case "/":
			w.decays = w.decays || w.isFactor(right)
		}
		w.walk(left)
		w.walk(right)
	case syntax.UnaryOperator:
		w.walk(t.Child(n, syntax.FieldArgument))
	case syntax.ConditionalExpression:
		for c := range t.Children(n) {
			if w.own(c) {
				w.walk(c)
			} else if v := w.in.valueOf(c); v != nil && w.in.sure(w.in.shallow(v)) > NoGraph {
				w.firsts = append(w.firsts, c)
			}
		}
	case syntax.Call:
		f := t.Child(n, syntax.FieldFunction)
		w.cell = w.cell || w.in.isModule(w.in.valueOf(f))
		w.operation(n)
		receiver := t.Child(f, syntax.FieldObject)
		for w.in.written(receiver) != receiver { // x.mul_(a).add_(b): a was stored before
			w.operation(receiver)
			receiver = t.Child(t.Child(receiver, syntax.FieldFunction), syntax.FieldObject)
		}
		if t.Kind(f) == syntax.Attribute {
			w.walk(receiver)
		}
		w.walk(t.Child(n, syntax.FieldArguments))
	case syntax.Subscript:
		w.walk(t.Child(n, syntax.FieldValue))
	case syntax.ParenthesizedExpression, syntax.ArgumentList, syntax.List, syntax.Tuple, syntax.ListSplat, syntax.ExpressionList:
		for c := range t.Children(n) {
			w.walk(c)
		}
	}
}

// lookThrough takes a variable for an addend if the expression that it was given
// has one.
func (w *addendWalk) lookThrough(n syntax.NodeID) {
	in := w.in
	p := in.variable(in.tree().Text(n))
	d, ok := in.defined[p]
	if !ok || p == w.place || d.frame != in.frame.call || d.expr.Module != in.frame.module || w.depth == maxDefinitions {
		return
	}
	inner := addendWalk{in: in, loop: w.loop, place: w.place, depth: w.depth + 1}
	inner.walk(d.expr.Node)
	w.fed = w.fed || inner.fed
	if len(inner.exprs) == 0 {
		return
	}
	var added atoms
	for _, as := range inner.added {
		added = added.union(as)
	}
	w.exprs, w.added = append(w.exprs, n), append(w.added, added)
}

// operation notes what a call by its name does with the old value.
func (w *addendWalk) operation(call syntax.NodeID) {
	name := w.in.calleeName(call)
	w.decays, w.joins = w.decays || torch.Blends[name], w.joins || torch.Joins[name]
}

// differs reports whether a value is another one in each iteration of l.
func (in *interpreter) differs(v *Value, l *loop) bool {
	return slices.ContainsFunc(in.shallow(v), func(x Atom) bool {
		info := &in.atoms[x]
		return info.header == l && info.kind != atomReset
	})
}

// madeWithin reports whether evaluating the expression n recorded one of the
// atoms, itself or in what it calls.
func (in *interpreter) madeWithin(n syntax.NodeID, as atoms) bool {
	s := in.tree().Span(n)
	for _, x := range as {
		info := &in.atoms[x]
		if info.kind != atomOrigin {
			continue
		}
		if info.at.module == in.frame.module && info.at.frame == in.frame.call && s.Covers(in.tree().Span(info.at.node)) {
			return true
		}
		for c := info.at.frame; c != nil; c = c.caller {
			if c.caller == in.frame.call && c.module == in.frame.module && s.Covers(in.tree().Span(c.node)) {
				return true
			}
		}
	}
	return false
}

// part is an expression of the stored one that is a tensor with a graph: all
// of it, or elements of a tuple or dict display.
type part struct {
	expr     syntax.NodeID
	scalar   bool
	onDevice bool // it is on an accelerator
	// tensor says that the value is known to be a tensor, number that it is one
	// if it can be added to a number.
	tensor, number bool
}

// parts finds the tensors with a graph within a stored expression.
func (in *interpreter) parts(n syntax.NodeID, found []part, depth int) []part {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Tuple, syntax.List, syntax.ExpressionList, syntax.ParenthesizedExpression:
		if depth < 4 {
			for c := range t.Children(n) {
				found = in.parts(c, found, depth+1)
			}
		}
		return found
	case syntax.BinaryOperator:
		// (loss * n).detach() has the value of loss.detach() * n.
		left := in.parts(t.Child(n, syntax.FieldLeft), nil, depth+1)
		right := in.parts(t.Child(n, syntax.FieldRight), nil, depth+1)
		if len(left)+len(right) == 1 {
			return append(append(found, left...), right...)
		}
	case syntax.ConditionalExpression: // loss if ready else 0
		if v := in.valueOf(n); v != nil && !v.isTensor() && depth < 4 {
			then := in.parts(t.First(n), nil, depth+1)
			otherwise := in.parts(t.Next(t.Next(t.First(n))), nil, depth+1)
			if len(then)+len(otherwise) > 0 {
				return append(append(found, then...), otherwise...)
			}
		}
	case syntax.Dictionary:
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Pair && depth < 4 {
				found = in.parts(t.Child(c, syntax.FieldValue), found, depth+1)
			}
		}
		return found
	}
	v := in.valueOf(n)
	if v == nil || len(v.elements) > 0 || !v.is(KindTensor|KindUnknown) || in.sure(v.atoms) == NoGraph ||
		slices.ContainsFunc(v.objects, func(id ObjectID) bool { return in.objects[id].mapping }) {
		return found
	}
	return append(found, part{
		expr: n, scalar: v.size == torch.Scalar, onDevice: v.memory != nil && v.memory.device == torch.OnAccelerator,
		tensor: v.isTensor(), number: v.only(KindTensor) || v.only(KindUnknown) && in.sure(v.atoms) >= Likely && !in.guessed(v.atoms),
	})
}

// guessed reports whether a graph is that of an unknown function, of which only
// the name says that it returns a loss: it may as well be a number.
func (a *analysis) guessed(as atoms) bool {
	return slices.ContainsFunc(as, func(x Atom) bool {
		info := &a.atoms[x]
		return info.kind == atomOrigin && info.unseen && !info.model && info.sure < Certain
	})
}
