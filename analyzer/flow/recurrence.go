package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// A Reuse is a backward that runs, from the second iteration of a loop on,
// through a graph of an earlier iteration which it can no longer run through:
// the program raises.
type Reuse struct {
	// Kept is the expression whose graph one iteration hands to the next, Store
	// the statement that does so, Target what is written.
	Kept, Store, Target Location
	Shape               Shape
	Loop                Location
	// Backward is what raises.
	Backward Location
	// Retained says that the backward keeps the graph, but an optimizer has
	// changed the parameters that the graph needs.
	Retained bool
}

// Shape is what a value is made of, as far as it is known.
type Shape uint8

// The shapes that a recurrent state may have.
const (
	UnknownShape Shape = iota
	OneTensor
	TupleOfTensors
	ListOfTensors
	TupleOfTuples // of tensors
	ListOfTuples
)

// StateAlongside is a state that the same statement gives its next value.
type StateAlongside struct {
	Target Location
	Shape  Shape
}

// reuse is a backward that reaches what an iteration of a loop left behind.
type reuse struct {
	at     site
	retain bool
}

// noteReuse notes which values of earlier iterations a backward at n reaches.
func (in *interpreter) noteReuse(n syntax.NodeID, reached atoms, retain bool) {
	if in.dry {
		return
	}
	for _, x := range reached {
		if info := &in.atoms[x]; info.header != nil && info.header.encloses(in.loop) {
			in.reuses[x] = &reuse{in.site(n), retain}
		}
	}
}

// reuseOf is the backward that reaches what the place of a growth was at the
// header of its loop and cannot run through it: it was freed, or an optimizer
// has changed the parameters since. It is nil where there is none.
func (in *interpreter) reuseOf(g *growth) *reuse {
	e := g.event
	if e.collect {
		return nil
	}
	r := in.reuses[in.header(atomChained, g.loop, e.place)]
	if r == nil {
		r = in.reuses[in.header(atomCarried, g.loop, e.place)]
	}
	if r == nil || r.retain && !g.stepped {
		return nil
	}
	return r
}

// reuseFact is the reuse of a growth as facts tell it.
func (in *interpreter) reuseFact(g *growth) (Reuse, bool) {
	e, l := g.event, g.loop
	if g.reused == nil || l.steps.few || !in.saved(g.fresh) {
		return Reuse{}, false
	}
	f := Reuse{
		Kept: Location{e.at.module, e.expr}, Store: Location{e.at.module, e.at.node}, Target: Location{e.at.module, e.target},
		Shape: e.shape, Loop: Location{l.at.module, l.at.node}, Backward: Location{g.reused.at.module, g.reused.at.node},
		Retained: g.reused.retain,
	}
	return f, f.Kept.Module == in.main && !l.implicit
}

// saved reports whether an operation that certainly records a graph saved
// tensors: running a backward through it twice is an error.
func (a *analysis) saved(origins []Atom) bool {
	return slices.ContainsFunc(origins, func(x Atom) bool {
		info := &a.atoms[x]
		return info.sure == Certain && info.saves && !info.leaf
	})
}

// reuseFacts are the reuses among growths, each once.
func (in *interpreter) reuseFacts(gs []*growth) []Reuse {
	var out []Reuse
	for _, g := range gs {
		f, ok := in.reuseFact(g)
		if ok && !slices.ContainsFunc(out, func(o Reuse) bool { return o.Store == f.Store && o.Kept == f.Kept }) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Reuse) int { return cmp.Compare(a.Kept.Node, b.Kept.Node) })
	return out
}

// storedShape is what the target of a store is made of.
func (in *interpreter) storedShape(e *storeEvent) Shape {
	shape := in.shapeOf(in.state.get(e.place))
	if in.objects[e.place.object].kind == objectScope && in.tree().Kind(e.target) == syntax.Subscript {
		return UnknownShape // what is written is a part of the tensor that the variable holds
	}
	if in.objects[e.place.object].kind != objectContainer || in.tree().Kind(e.target) == syntax.Subscript {
		return shape
	}
	if in.objects[e.place.object].container == torch.List {
		switch shape {
		case OneTensor:
			return ListOfTensors
		case TupleOfTensors:
			return ListOfTuples
		}
	}
	return UnknownShape
}

// shapeOf is what a value is made of.
func (a *analysis) shapeOf(v *Value) Shape {
	switch {
	case v == nil:
		return UnknownShape
	case v.elements == nil && v.isTensor():
		return OneTensor
	case v.only(KindObject) && len(v.objects) == 0 && a.allOf(v.elements, OneTensor):
		return TupleOfTensors
	case v.only(KindObject) && len(v.objects) == 0 && a.allOf(v.elements, TupleOfTensors):
		return TupleOfTuples
	}
	return UnknownShape
}

// allOf reports whether all elements are made of the same, and there are some.
func (a *analysis) allOf(elements []*Value, shape Shape) bool {
	return len(elements) > 0 && !slices.ContainsFunc(elements, func(e *Value) bool { return a.shapeOf(e) != shape })
}

// keptByModule reports whether a place that is written now belongs to a module
// and is written by its forward, or is one of its parameters.
func (in *interpreter) keptByModule(p Place) bool {
	switch info := in.objects[p.object]; info.kind {
	case objectParams:
		return true
	case objectInstance:
		if !in.isModuleClass(info.class) {
			return false
		}
	default:
		return false
	}
	return in.withinForward(in.frame)
}

// withinForward reports whether a frame is that of the forward of a module or
// of what it calls.
func (a *analysis) withinForward(f *frame) bool {
	for ; f != nil; f = f.caller {
		if f.code == nil || f.code.class == 0 || !a.isModuleClass(f.code.class) {
			continue
		}
		if t := f.code.module.Tree; t.Text(t.Child(f.code.node, syntax.FieldName)) == "forward" {
			return true
		}
	}
	return false
}
