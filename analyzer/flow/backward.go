package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// freed reports whether a backward has freed the graph of an origin.
func (in *interpreter) freed(x Atom) bool {
	return in.state.get(Place{ledger, Symbol(x)}) != nil
}

// backward runs a backward over v at n.
func (in *interpreter) backward(n syntax.NodeID, v *Value, retain bool) {
	if v == nil {
		return
	}
	in.activity++
	in.trains()
	reached := in.throughCalls(in.reach(v))
	if in.sure(reached) < Certain {
		in.prove(in.reach(v))
	}
	if !retain {
		in.need(reached)
	} else {
		// A graph that grows in the loop in which it is backwarded again and
		// again is not kept for that.
		in.need(slices.DeleteFunc(slices.Clone(reached), func(x Atom) bool {
			info := &in.atoms[x]
			return info.header != nil && info.header.encloses(in.loop)
		}))
		for _, x := range reached {
			if !in.dry {
				in.retainedAt[x] = in.site(n)
			}
		}
		return
	}
	for _, x := range reached {
		info := &in.atoms[x]
		if info.kind == atomOrigin && !info.leaf {
			in.state.set(Place{ledger, Symbol(x)}, plainTrue)
			if !in.dry {
				in.freedAt[x] = in.site(n)
			}
		}
		if info.kind == atomCarried || info.kind == atomChained {
			in.freeCarried(n, info.header, info.place, map[Atom]bool{x: true})
		}
	}
}

// trains marks the running loops as training loops.
func (in *interpreter) trains() {
	for l := in.loop; l != nil; l = l.parent {
		l.trains = true
	}
}

// prove makes the origins of a value that runs a backward certain: those that
// did not merely go into another one of them.
func (in *interpreter) prove(as atoms) {
	inputs := map[Atom]bool{}
	for _, x := range as {
		for _, y := range in.throughCalls(in.atoms[x].through) {
			inputs[y] = true
		}
	}
	for _, x := range as {
		if in.atoms[x].kind == atomOrigin && !inputs[x] {
			in.proved[x] = true
			in.atoms[x].sure = Certain
		}
	}
}

// throughCalls is as with what went into the unknown calls they came from.
func (in *interpreter) throughCalls(as atoms) atoms {
	unknown := func(x Atom) bool { return len(in.atoms[x].through) > 0 }
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
			todo = append(todo, in.atoms[x].through...)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// freeCarried frees what a loop that is over left at a place: losses that were
// collected and then backwarded together.
func (in *interpreter) freeCarried(n syntax.NodeID, l *loop, p Place, seen map[Atom]bool) {
	if l.encloses(in.loop) {
		return // the value of an earlier iteration, not of this one
	}
	for _, x := range l.back[p].reach {
		if seen[x] {
			continue
		}
		seen[x] = true
		info := &in.atoms[x]
		switch info.kind {
		case atomOrigin:
			if !info.leaf {
				in.state.set(Place{ledger, Symbol(x)}, plainTrue)
				if !in.dry {
					in.freedAt[x] = in.site(n)
				}
			}
		case atomCarried, atomChained:
			in.freeCarried(n, info.header, info.place, seen)
		}
	}
}

// need marks what a backward reaches, through what loops carried too.
func (in *interpreter) need(reached atoms) { in.mark(in.needed, reached) }

func (in *interpreter) mark(set map[Atom]bool, reached atoms) {
	for _, x := range reached {
		if set[x] {
			continue
		}
		set[x] = true
		info := &in.atoms[x]
		in.mark(set, info.through)
		if info.kind == atomCarried || info.kind == atomChained {
			in.mark(set, info.header.back[info.place].reach)
		}
	}
}

// gradients is torch.autograd.grad(…): a backward whose results are tensors.
func (in *interpreter) gradients(n syntax.NodeID, args arguments) *Value {
	outputs := args.at(0, "outputs")
	create := args.isTrue("create_graph")
	in.backward(n, outputs, create || args.isTrue("retain_graph"))
	gradient := freshData
	if create && !in.off && outputs != nil {
		gradient = &Value{kinds: KindTensor, atoms: in.chain(outputs.atoms).union(atoms{in.newOrigin(in.site(n), true, false, Certain)})}
	}
	return &Value{kinds: KindObject, elements: []*Value{gradient}, variadic: true, structural: true}
}

// backwardCall is loss.backward() or accelerator.backward(loss).
func (in *interpreter) backwardCall(n syntax.NodeID, obj *Value, name string, args arguments) *Value {
	retain := args.isTrue("retain_graph") || args.isTrue("create_graph")
	target := obj
	if len(args.positional) > 0 && (name != "backward" || !obj.is(KindTensor) && in.sure(args.positional[0].atoms) >= in.sure(obj.atoms)) {
		target = args.positional[0]
	}
	in.backward(n, target, retain)
	return noValue
}
