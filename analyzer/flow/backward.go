package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// freed reports whether a backward has freed the graph of an origin.
func (in *interpreter) freed(x Atom) bool {
	return in.atoms[x].freed && in.state.get(Place{ledger, Symbol(x)}) != nil
}

// backward runs a backward at n over v, the value of expr.
func (in *interpreter) backward(n, expr syntax.NodeID, v *Value, args arguments) {
	if v == nil {
		return
	}
	in.activity++
	in.backwards = in.backwards || !in.repeats()
	in.trains()
	in.differentiate(n)
	reached := in.throughCalls(in.reach(v))
	in.meetsRetained(reached)
	retain := args.retain()
	if argument := args.keywordNode("retain_graph"); retain && argument >= 0 && args.named("create_graph") == nil {
		in.retains(n, expr, argument, v, reached)
	}
	if in.sure(reached) < Certain {
		in.prove(in.reach(v))
	}
	in.noteReuse(n, reached, retain)
	if !retain {
		in.mark(in.needed, reached)
		in.free(n, reached, map[Atom]bool{})
		return
	}
	// A graph that grows in the loop in which it is backwarded again and again
	// is not kept for that.
	in.mark(in.needed, slices.DeleteFunc(slices.Clone(reached), func(x Atom) bool {
		info := &in.atoms[x]
		return info.header != nil && info.header.encloses(in.loop)
	}))
	if !in.dry {
		for _, x := range reached {
			in.retainedAt[x] = in.site(n)
		}
	}
}

// free notes that a backward at n freed what the origins among as saved, those
// too that a loop that is over left behind: losses that were collected and then
// backwarded together.
func (in *interpreter) free(n syntax.NodeID, as atoms, seen map[Atom]bool) {
	for _, x := range as {
		if seen[x] {
			continue
		}
		seen[x] = true
		info := &in.atoms[x]
		switch info.kind {
		case atomOrigin:
			if info.leaf {
				continue
			}
			in.state.set(Place{ledger, Symbol(x)}, plainTrue)
			info.freed = true
			in.release(x)
			if !in.dry {
				in.freedAt[x] = in.site(n)
			}
		case atomCarried, atomChained:
			if !info.header.encloses(in.loop) { // else it is of an earlier iteration, not of this one
				in.free(n, info.header.back[info.place].reach, seen)
			}
		}
	}
}

// release notes that the graph of an origin is freed for the stores that
// were made before.
func (in *interpreter) release(x Atom) {
	for l := in.loop; l != nil; l = l.parent {
		for _, e := range l.events {
			if in.isKept(e, x) {
				left := in.state.get(e.kept).atoms
				in.state.set(e.kept, &Value{atoms: slices.DeleteFunc(slices.Clone(left), func(y Atom) bool { return x == y })})
			}
		}
	}
}

// trains marks the running loops as training loops.
func (in *interpreter) trains() {
	for l := in.loop; l != nil; l = l.parent {
		l.trains = true
	}
}

// repeats reports whether a loop of the program runs that takes as many steps
// as there is data.
func (in *interpreter) repeats() bool {
	for l := in.loop; l != nil; l = l.parent {
		if !l.steps.few && !l.implicit {
			return true
		}
	}
	return false
}

// prove makes the origins of a value that runs a backward certain: those that
// did not merely go into another one of them.
func (a *analysis) prove(as atoms) {
	inputs := map[Atom]bool{}
	for _, x := range as {
		for _, y := range a.throughCalls(a.atoms[x].through) {
			inputs[y] = true
		}
	}
	for _, x := range as {
		if a.atoms[x].kind == atomOrigin && !inputs[x] {
			a.proved[x] = true
			a.atoms[x].sure = Certain
		}
	}
}

// throughCalls is as with what went into the unknown calls they came from.
func (a *analysis) throughCalls(as atoms) atoms {
	unknown := func(x Atom) bool { return len(a.atoms[x].through) > 0 }
	if !slices.ContainsFunc(as, unknown) {
		return as
	}
	seen := make(map[Atom]bool, len(as))
	todo := slices.Clone(as)
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[x] {
			seen[x] = true
			todo = append(todo, a.atoms[x].through...)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// mark adds to a set what is reached, through what loops carried and through
// unknown calls too.
func (a *analysis) mark(set map[Atom]bool, reached atoms) {
	for _, x := range reached {
		if set[x] {
			continue
		}
		set[x] = true
		info := &a.atoms[x]
		a.mark(set, info.through)
		if info.kind == atomCarried || info.kind == atomChained {
			a.mark(set, info.header.back[info.place].reach)
		}
	}
}

// retain reports whether the arguments of a backward ask it to keep the graph.
func (a arguments) retain() bool { return a.isTrue("retain_graph") || a.isTrue("create_graph") }

// gradients is torch.autograd.grad(…): a backward whose results are tensors.
func (in *interpreter) gradients(n syntax.NodeID, args arguments) *Value {
	outputs := args.at(0, "outputs")
	create := args.isTrue("create_graph")
	in.backward(n, args.source(0, "outputs", n), outputs, args)
	gradient := freshData
	if create && !in.off && outputs != nil {
		gradient = &Value{kinds: KindTensor, atoms: in.chain(outputs.atoms).union(atoms{in.newOrigin(in.site(n), recorded{saves: true, sure: Certain})})}
	}
	return &Value{kinds: KindObject, elements: []*Value{gradient}, variadic: true, structural: true}
}

// backwardCall is loss.backward() or accelerator.backward(loss).
func (in *interpreter) backwardCall(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	target, expr := obj, receiver
	if len(args.positional) > 0 && (name != "backward" || !obj.is(KindTensor) && in.sure(args.positional[0].atoms) >= in.sure(obj.atoms)) {
		target, expr = args.positional[0], args.expr(0, n)
	}
	in.backward(n, expr, target, args)
	in.createsGraph(n, target, args)
	return noValue
}
