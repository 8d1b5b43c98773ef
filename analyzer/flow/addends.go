package flow

import (
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
	decays bool
	alone  bool // nothing but the expression as a whole
}

// own reports whether n has to do with the old value of the place.
func (w *addendWalk) own(n syntax.NodeID) bool {
	v := w.in.valueOf(n)
	return v != nil && w.in.dependsOn(w.in.reach(v), w.loop, w.place)
}

// walk looks at n and, where it has to do with the place itself, below it.
func (w *addendWalk) walk(n syntax.NodeID) {
	t := w.in.tree()
	v := w.in.valueOf(n)
	if v == nil && t.Kind(n) != syntax.ArgumentList {
		return
	}
	if v != nil && !w.own(n) {
		if !v.only(KindPlain|KindNone) && w.in.sure(w.in.reach(v)) > NoGraph {
			w.exprs, w.added = append(w.exprs, n), append(w.added, w.in.reach(v))
		}
		return
	}
	switch t.Kind(n) {
	case syntax.BinaryOperator:
		if op := t.Text(t.Child(n, syntax.FieldOperator)); op == "*" || op == "/" {
			w.decays = true
		}
		w.walk(t.Child(n, syntax.FieldLeft))
		w.walk(t.Child(n, syntax.FieldRight))
	case syntax.UnaryOperator:
		w.walk(t.Child(n, syntax.FieldArgument))
	case syntax.ConditionalExpression:
		for c := range t.Children(n) {
			if w.own(c) {
				w.walk(c)
			}
		}
	case syntax.Call:
		if f := t.Child(n, syntax.FieldFunction); t.Kind(f) == syntax.Attribute {
			w.walk(t.Child(f, syntax.FieldObject))
		}
		w.walk(t.Child(n, syntax.FieldArguments))
	case syntax.Subscript:
		w.walk(t.Child(n, syntax.FieldValue))
	case syntax.KeywordArgument:
		w.walk(t.Child(n, syntax.FieldValue))
	case syntax.ParenthesizedExpression, syntax.ArgumentList, syntax.List, syntax.Tuple, syntax.ListSplat, syntax.ExpressionList:
		for c := range t.Children(n) {
			w.walk(c)
		}
	}
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
	expr   syntax.NodeID
	scalar bool
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
	case syntax.Dictionary:
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Pair && depth < 4 {
				found = in.parts(t.Child(c, syntax.FieldValue), found, depth+1)
			}
		}
		return found
	}
	v := in.valueOf(n)
	if v == nil || len(v.elements) > 0 || !v.is(KindTensor|KindUnknown) || in.sure(v.atoms) == NoGraph {
		return found
	}
	return append(found, part{n, v.size == torch.Scalar})
}
