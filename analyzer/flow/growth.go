package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// storeEvent is one store of the running pass that may make a place grow.
type storeEvent struct {
	place   Place
	at      site          // the statement or call that stores
	expr    syntax.NodeID // the stored expression
	target  syntax.NodeID // what is written: a name, an attribute, a subscript
	frame   *frame
	added   atoms // what the stored expression adds
	collect bool  // the place is a collection: it keeps all that was ever stored
	// holder is the place through which a collection was reached: giving it
	// another collection empties it.
	holder   *Place
	evaluate bool // the model was in evaluation mode
	alone    bool // no part of the expression brings a graph from elsewhere
	fed      bool // something else that differs in each iteration takes part
	decays   bool // the place's old value is scaled: an average
	caught   bool // what is stored is an exception
	joins    bool // the place is a tensor that the stored one is put behind
	ofModule bool // the place is what a module keeps across its calls
	shape    Shape
	firsts   []syntax.NodeID // what the place is given instead on other paths of the expression
	parts    []part
	kept     Place   // which of the graphs added no backward has freed since
	piled    []piled // tensors without a graph among what is collected
	keyed    bool    // the entry has a key that equals only itself
}

type growthKey struct {
	loop   *loop
	at     site
	expr   syntax.NodeID
	target syntax.NodeID
}

// growth is a place that grows in a loop, by the definition: its value at the
// back edge depends on its own value at the header and on a graph made in the
// iteration.
type growth struct {
	event   *storeEvent
	loop    *loop
	fresh   []Atom // origins made in the iteration
	unfreed []Atom // of those, the ones whose saved tensors no backward frees
	// argument is what the loop's own code passes to the call in which the
	// store is, if it is in one.
	argument      Location
	argumentParts []part
	call          *callSite // that passes it
	stepped       bool      // an optimizer steps in each iteration
	reused        *reuse
	order         int // among all growths found
}

// store writes v to p and notes the store when p may grow by it.
func (in *interpreter) store(p Place, v *Value, stmt, expr, target syntax.NodeID) {
	in.write(p, v)
	if in.dry || v == nil {
		return
	}
	if in.objects[p.object].kind == objectScope {
		in.defined[p] = definition{in.frame.call, Location{in.frame.module, expr}}
	}
	all := in.shallow(v)
	if in.sure(all) > NoGraph && !in.fromHeader(all, p) {
		in.seeds[p] = append(in.seeds[p], Location{in.frame.module, expr})
	}
	for l := in.loop; l != nil; l = l.parent {
		if !all.has(in.header(atomChained, l, p)) {
			continue
		}
		w := addendWalk{in: in, loop: l, place: p}
		w.walk(expr)
		if len(w.exprs) == 0 || w.cell {
			// No part comes from elsewhere, or it goes in together with the old
			// state: a cell, or the operation itself, makes the graph.
			if !in.madeWithin(expr, all) {
				continue
			}
			w.exprs, w.added = []syntax.NodeID{expr}, []atoms{in.apart(all, l, p)}
			w.alone = true
		}
		for i, e := range w.exprs {
			if !in.goesInto(w.added[i], all) {
				continue // f(total, loss), where f cuts the graph of loss
			}
			in.note(l, &storeEvent{place: p, at: in.site(stmt), expr: e, target: target, added: w.added[i], decays: w.decays, joins: w.joins && v.size != torch.Scalar, alone: w.alone, fed: w.fed, firsts: w.firsts})
		}
	}
}

// goesInto reports whether any of the graphs that a part of an expression brings
// is one of those of the whole.
func (in *interpreter) goesInto(part, whole atoms) bool {
	return slices.ContainsFunc(in.chain(part), func(x Atom) bool { return whole.has(x) && in.sure(atoms{x}) > NoGraph })
}

// fromHeader reports whether atoms depend on the value that p had at the
// header of a loop.
func (in *interpreter) fromHeader(as atoms, p Place) bool {
	for _, x := range as {
		if info := &in.atoms[x]; info.kind != atomOrigin && info.place == p {
			return true
		}
	}
	return false
}

// shallow is the atoms of v and of its elements.
func (in *interpreter) shallow(v *Value) atoms {
	out := v.atoms
	for _, e := range v.elements {
		if e != nil {
			out = out.union(in.shallow(e))
		}
	}
	return out
}

// collect adds v to the elements of a container.
func (in *interpreter) collect(id ObjectID, field Symbol, v *Value, stmt, expr, target syntax.NodeID, holder *Place) {
	p := Place{id, field}
	old := in.state.get(p)
	in.write(p, join(old, v))
	if in.dry || in.loop == nil || old == nil || in.objects[id].bounded {
		return
	}
	all := in.shallow(old)
	added := in.reach(v)
	for l := in.loop; l != nil; l = l.parent {
		if !in.dependsOn(all, l, p) {
			continue
		}
		in.note(l, &storeEvent{place: p, at: in.site(stmt), expr: expr, target: target, added: added, collect: true, holder: holder})
	}
}

// note keeps a store for the end of the pass over its loop.
func (in *interpreter) note(l *loop, e *storeEvent) {
	e.frame = in.frame
	e.evaluate = in.evaluation()
	e.caught = in.isException(in.valueOf(e.expr), 0)
	e.ofModule, e.shape = in.keptByModule(e.place), in.storedShape(e)
	if !in.consuming {
		e.parts = in.parts(e.expr, nil, 0)
		if e.collect {
			e.piled = in.piledIn(e.expr, nil, 0)
			e.keyed = in.tree().Kind(e.target) == syntax.Subscript && in.byIdentity(in.tree().Child(e.target, syntax.FieldSubscript))
		}
	}
	in.stores++
	e.kept = Place{kept, in.stores}
	in.state.set(e.kept, &Value{atoms: slices.DeleteFunc(slices.Clone(e.added), in.freed)})
	l.events = append(l.events, e)
}

// isKept reports whether no backward has freed the graph of an origin on the
// paths that a store is on.
func (in *interpreter) isKept(e *storeEvent, x Atom) bool {
	v := in.state.get(e.kept)
	return v != nil && v.atoms.has(x)
}

// judge decides, at the end of the last pass over l, which stores make their
// place grow.
func (in *interpreter) judge(l *loop, end *state) {
	in.state = end
	for _, e := range l.events {
		v := end.get(e.place)
		if v == nil {
			continue
		}
		all := in.shallow(v)
		chained := all.has(in.header(atomChained, l, e.place))
		survives := chained || e.collect && all.has(in.header(atomCarried, l, e.place))
		if !survives || all.has(in.header(atomReset, l, e.place)) {
			continue
		}
		// A parameter is bound anew by each call: that replaces no collection.
		if h := e.holder; h != nil && l.written[*h] && (h.object != e.frame.object || e.frame == l.frame) {
			held := end.get(*h)
			if held == nil || !held.atoms.has(in.header(atomCarried, l, *h)) || held.atoms.has(in.header(atomReset, l, *h)) {
				continue
			}
		}
		if e.place.field == samples {
			in.noteMetric(l, e)
			continue
		}
		if in.endsWithCall(l, e.place.object) {
			continue
		}
		if e.collect {
			in.notePile(l, e)
		}
		g := &growth{event: e, loop: l, stepped: l.stepped}
		g.reused = in.reuseOf(g)
		in.fresh(l, e.added, g, map[Atom]bool{})
		if len(g.fresh) == 0 && (!chained || e.collect || in.sure(e.added) < Likely) {
			continue
		}
		if e.collect && in.allLeaves(g.fresh) {
			continue // leaves are values; an operation on them makes a graph
		}
		in.throughCall(g)
		key := growthKey{l, e.at, e.expr, e.target}
		g.order = len(in.growths)
		if earlier, ok := in.growths[key]; ok {
			g.order = earlier.order
		}
		in.growths[key] = g
	}
	in.judgeLast(l, end)
	in.judgeObjects(l, end)
	in.keepCheckpoints(l)
}

// endsWithCall reports whether an object was made in the call that is an iteration
// of l, a loop that is not in the text, or in a call that an iteration makes, and is
// gone with it: at its end nothing older refers to the object.
func (in *interpreter) endsWithCall(l *loop, id ObjectID) bool {
	made := in.isOfCall
	if !l.implicit {
		made = in.isOfCallWithin
	}
	if !made(l, id) {
		return false
	}
	for p := range l.written {
		if p.object >= firstObject && !made(l, p.object) && in.refersTo(in.state.get(p), id, 0) {
			return false
		}
	}
	return true
}

// isOfCallWithin reports whether an object is made by code that the text of l calls.
func (in *interpreter) isOfCallWithin(l *loop, id ObjectID) bool {
	info := in.objects[id]
	if info.template != nil {
		return false
	}
	for c := info.at.frame; c != nil; c = c.caller {
		if c.caller == l.at.frame {
			t := l.at.module.Tree
			return c.module == l.at.module && t.Span(l.at.node).Covers(t.Span(c.node))
		}
	}
	return false
}

// isOfCall reports whether a call that is an iteration of l made an object.
// Objects of summaries are made when they are looked at, whoever they belong to.
func (in *interpreter) isOfCall(l *loop, id ObjectID) bool {
	info := in.objects[id]
	for c := info.at.frame; c != nil && info.born > l.births; c = c.caller {
		if c.caller == l.at.frame {
			return c.module == l.at.module && c.node == l.at.node
		}
	}
	return false
}

// allLeaves reports whether the origins are leaves, such as inputs that require
// a gradient: values, not graphs.
func (a *analysis) allLeaves(origins []Atom) bool {
	return !slices.ContainsFunc(origins, func(x Atom) bool { return !a.atoms[x].leaf || a.atoms[x].custom })
}

// fresh splits the origins that an iteration of l made into those whose saved
// tensors a backward frees and those that stay.
func (in *interpreter) fresh(l *loop, from atoms, g *growth, seen map[Atom]bool) {
	for _, x := range from {
		if seen[x] {
			continue
		}
		seen[x] = true
		info := &in.atoms[x]
		switch info.kind {
		case atomOrigin:
			if info.parameter || !l.encloses(info.loop) {
				continue
			}
			g.fresh = append(g.fresh, x)
			if info.leaf || info.saves && (!in.freed(x) || in.isKept(g.event, x)) {
				g.unfreed = append(g.unfreed, x)
			}
		case atomCarried, atomChained:
			if l.encloses(info.header) {
				in.fresh(l, info.header.back[info.place].reach, g, seen)
			}
		}
	}
}
