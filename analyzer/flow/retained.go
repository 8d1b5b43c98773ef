package flow

import (
	"cmp"
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Retention is a backward that is asked to keep the graph although no other
// backward runs through any of it.
type Retention struct {
	Call     Location // the backward
	Argument Location // retain_graph=True
	// Made are the operations that made the graph.
	Made []Location
	// Seen says that all code that had a part in the graph was seen. Code that
	// was not might keep some of it for a backward of its own.
	Seen bool
	// Collected are the stores of an earlier loop whose graphs the backward runs
	// through in each iteration, although an optimizer step lies between: without
	// them it would have nothing to keep.
	Collected []Location
}

// retention is what is known of a backward at one place of the program that is
// asked to keep the graph. It stands on the heap as a token that marks, in the
// state, the graphs that it kept.
type retention struct {
	at       site
	argument syntax.NodeID
	loop     *loop     // in which it runs
	called   []codeKey // the functions whose calls led here
	made     []Atom
	needed   bool // another backward runs through some of the graph, or may
	unseen   bool // code that was not seen had a part in it
	// before is the loop that runs the backward, where some of the graph was, or
	// may have been, made before that. sure is how certain that is.
	before    *loop
	sure      Certainty
	collected []Place // in an earlier loop
}

// anyRetained is the place in retained of the backwards of the running
// iteration that kept a graph.
const anyRetained Symbol = 0

// retains notes that the backward at n over expr, which reached these graphs,
// was asked to keep them.
func (in *interpreter) retains(n, expr, argument syntax.NodeID, v *Value, reached atoms) {
	at := in.site(n)
	id, ok := in.retentionIDs[at]
	if !ok {
		id, _ = in.newObject(objectKey{at: at, kind: objectRetention})
		in.retentionIDs[at] = id
		in.retentions[id] = &retention{at: at, argument: argument, called: in.calledFunctions()}
	}
	r := in.retentions[id]
	r.loop = in.loop
	token := object(id)
	in.holdToken(anyRetained, token)
	for _, x := range in.reach(v) {
		info := &in.atoms[x]
		if k := info.kind; (k == atomCarried || k == atomChained) && in.loop != nil && !info.header.encloses(in.loop) && !in.loop.encloses(info.header) {
			r.collect(in.loop, info.place, in.sure(info.header.back[info.place].reach))
		}
	}
	for _, x := range reached {
		info := &in.atoms[x]
		if info.kind != atomOrigin || info.leaf || info.parameter {
			continue
		}
		r.unseen = r.unseen || info.unseen
		if in.loop != nil && !in.loop.encloses(info.loop) {
			r.before, r.sure = in.loop, max(r.sure, info.sure) // the next iteration runs through it again
			continue
		}
		if !slices.Contains(r.made, x) {
			r.made = append(r.made, x)
			in.retainedBy[x] = append(in.retainedBy[x], r)
		}
		in.holdToken(Symbol(x), token)
	}
	if !in.dry && !r.needed && in.fromCaller(expr) {
		r.needed = true
	}
}

// calledFunctions are the functions that calls in the program's text have
// started and that still run.
func (in *interpreter) calledFunctions() []codeKey {
	var out []codeKey
	for f := in.frame; f != nil; f = f.caller {
		if f.code != nil && f.call != nil && f.call.module.Tree.Kind(f.call.node) == syntax.Call {
			out = append(out, codeKey{f.code.module, f.code.node})
		}
	}
	return out
}

// givenUp reports whether a run was left before its end because one of the
// functions takes too many steps.
func (a *analysis) givenUp(called []codeKey) bool {
	return slices.ContainsFunc(called, func(k codeKey) bool { return a.visited.heavy[k] })
}

// collect notes that a loop which is over left at a place what the backward
// runs through in each iteration of l.
func (r *retention) collect(l *loop, p Place, sure Certainty) {
	if sure > Possible && !slices.Contains(r.collected, p) {
		r.before, r.sure = l, max(r.sure, sure)
		r.collected = append(r.collected, p)
	}
}

// holdToken adds a token to a place of the state.
func (in *interpreter) holdToken(f Symbol, token *Value) {
	p := Place{retained, f}
	in.state.set(p, join(in.state.get(p), token))
}

// meetsRetained notes that a backward reached these graphs: those that an earlier one
// kept were kept for this one. Of a graph that code made which was not seen it
// is not known what it shares with others.
func (in *interpreter) meetsRetained(reached atoms) {
	if len(in.retentions) == 0 {
		return
	}
	in.handOver(reached)
	unseen := func(x Atom) bool {
		info := &in.atoms[x]
		return info.unseen && (in.loop == nil || in.loop.encloses(info.loop)) // else it is older than what was kept
	}
	if len(reached) == 0 || slices.ContainsFunc(reached, unseen) {
		in.needsRetained(anyRetained)
	}
}

// handOver notes that these graphs come to where a backward runs, or may run,
// through them.
func (in *interpreter) handOver(reached atoms) {
	if len(in.retentions) == 0 {
		return
	}
	seen := map[Atom]bool{}
	for _, x := range reached {
		switch info := &in.atoms[x]; info.kind {
		case atomOrigin:
			in.needsRetained(Symbol(x))
		case atomCarried, atomChained:
			in.needsEarlier(info.header, info.header.back[info.place].reach, seen)
		}
	}
}

// needsRetained marks the backwards that kept a graph as needed.
func (in *interpreter) needsRetained(f Symbol) {
	if v := in.state.get(Place{retained, f}); v != nil {
		for _, id := range v.objects {
			in.retentions[id].needed = true
		}
	}
}

// needsEarlier is handOver for graphs of an earlier iteration of l, which a
// backward in it may have kept.
func (in *interpreter) needsEarlier(l *loop, as atoms, seen map[Atom]bool) {
	for _, x := range as {
		switch info := &in.atoms[x]; info.kind {
		case atomOrigin:
			if !l.encloses(info.loop) {
				continue
			}
			for _, r := range in.retainedBy[x] {
				r.needed = r.needed || l.encloses(r.loop)
			}
		case atomCarried, atomChained:
			if !seen[x] {
				seen[x] = true
				in.needsEarlier(info.header, info.header.back[info.place].reach, seen)
			}
		}
	}
}

// leaves hands over what a function that runs on its own leaves behind for
// others: what it returned and what it stored in objects that outlive it.
func (in *interpreter) leaves(results ...*Value) {
	if len(in.retentions) == 0 || in.state == nil {
		return
	}
	for _, v := range results {
		in.handOver(in.throughCalls(in.reach(v)))
	}
	for _, b := range in.state.values.list {
		p, v := b.place, b.value
		if p.object < firstObject || v == nil {
			continue
		}
		switch info := in.objects[p.object]; info.kind {
		case objectInstance, objectUnknown, objectClass, objectModule:
		case objectScope:
			if info.module == nil {
				continue
			}
		default:
			continue
		}
		in.handOver(in.throughCalls(in.reach(v)))
	}
}

// retentionFacts are the backwards of the checked module that keep a graph for
// nothing, in every context that they ran in.
func (in *interpreter) retentionFacts() []Retention {
	if in.stopped { // a later backward may not have been reached
		return nil
	}
	needed := map[Location]bool{}
	found := map[Location]*Retention{}
	for _, id := range slices.Sorted(maps.Keys(in.retentions)) {
		r := in.retentions[id]
		if in.givenUp(r.called) {
			continue
		}
		call := Location{r.at.module, r.at.node}
		// A graph that was made before an optimizer step cannot be run through
		// after it. So what may have been made before the loop was not.
		again := r.before != nil && (!r.before.stepped || r.sure > Possible && len(r.collected) == 0)
		if r.needed || again || len(r.made) == 0 || call.Module != in.main {
			needed[call] = true
			continue
		}
		f := found[call]
		if f == nil {
			f = &Retention{Call: call, Argument: Location{call.Module, call.Module.Tree.Parent(r.argument)}, Seen: true}
			found[call] = f
		}
		f.Seen = f.Seen && !r.unseen && r.before == nil
		for _, p := range r.collected {
			for _, g := range in.growths {
				if l := (Location{g.event.at.module, g.event.expr}); g.event.place == p && !slices.Contains(f.Collected, l) {
					f.Collected = append(f.Collected, l)
				}
			}
		}
		for _, x := range r.made {
			if at := (Location{in.atoms[x].at.module, in.atoms[x].at.node}); at.Module != nil && !slices.Contains(f.Made, at) {
				f.Made = append(f.Made, at)
			}
		}
	}
	var out []Retention
	for call, f := range found {
		if !needed[call] {
			slices.SortFunc(f.Made, compareLocations)
			slices.SortFunc(f.Collected, compareLocations)
			out = append(out, *f)
		}
	}
	slices.SortFunc(out, func(a, b Retention) int { return compareLocations(a.Call, b.Call) })
	return out
}

// compareLocations orders locations by file and position.
func compareLocations(a, b Location) int {
	if a.Module != b.Module {
		return cmp.Compare(a.Module.Path, b.Module.Path)
	}
	return cmp.Compare(a.Node, b.Node)
}
