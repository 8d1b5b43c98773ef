package flow

import "slices"

// state maps places to values at one point of the program. It is a chain of
// layers: a branch writes into a layer of its own and a join merges the layers
// back, so that the cost of a branch is what it writes, not what exists.
type state struct {
	parent *state
	// below is the next layer that held anything when this one was started. A
	// layer is not written to while another one lies on top of it.
	below  *state
	values bindings
	// loop marks the header of a loop: what is read through it from before is
	// the value at the header, which depends on earlier iterations.
	loop *loop
	in   *interpreter
	read bindings // header values made so far
}

// push starts a layer on top of s.
func (s *state) push() *state { return &state{parent: s, below: s.occupied(), in: s.in} }

// occupied is s or the first layer below it that may hold something. The lowest
// is written to at any time: by what is run of imported modules.
func (s *state) occupied() *state {
	for len(s.values.list) == 0 && s.loop == nil && s.below != nil && s != s.in.initial {
		s = s.below
	}
	return s
}

// set writes into the layer s itself; nil deletes.
func (s *state) set(p Place, v *Value) { s.values.set(p, v) }

// get is the value at p, nil when there is none.
func (s *state) get(p Place) *Value {
	for at := s; at != nil; at = at.below {
		if v, ok := at.values.get(p); ok {
			return v
		}
		if at.loop == nil || p.object < firstObject {
			continue
		}
		if v, ok := at.read.get(p); ok {
			return v
		}
		v := at.in.atHeader(at.loop, p, at.below.get(p))
		at.read.set(p, v)
		return v
	}
	if s == nil {
		return nil
	}
	return s.in.original(p)
}

// since collects what was written after base, the newest value of each place.
func (s *state) since(base *state) *bindings {
	if s.parent == base {
		return &s.values
	}
	var out bindings
	for at := s; at != nil && at != base; at = at.parent {
		for _, b := range at.values.list {
			if out.find(b.place) < 0 {
				out.set(b.place, b.value)
			}
		}
	}
	return &out
}

// merge joins the ends of several paths from base into base itself and returns
// base; nil states are paths that never arrive. With no arriving path it
// returns nil. onJoin, if not nil, may adjust each joined value.
func merge(base *state, onJoin func(p Place, sides []*Value, written []bool, joined *Value) *Value, paths ...*state) *state {
	var deltas []*bindings
	for _, s := range paths {
		if s != nil {
			deltas = append(deltas, s.since(base))
		}
	}
	switch len(deltas) {
	case 0:
		return nil
	case 1:
		for _, b := range deltas[0].list {
			base.set(b.place, b.value)
		}
		return base
	}
	sides := make([]*Value, len(deltas))
	written := make([]bool, len(deltas))
	var updates []binding
	for k, delta := range deltas {
		for _, b := range delta.list {
			p := b.place
			if slices.ContainsFunc(deltas[:k], func(d *bindings) bool { return d.find(p) >= 0 }) {
				continue
			}
			var old *Value
			var looked bool
			var joined *Value
			for i, d := range deltas {
				v, ok := d.get(p)
				written[i] = ok
				if !ok {
					if !looked {
						old, looked = base.get(p), true
					}
					v = old
				}
				sides[i] = v
				joined = joinAt(p, joined, v)
			}
			if onJoin != nil {
				joined = onJoin(p, sides, written, joined)
			}
			updates = append(updates, binding{p, joined})
		}
	}
	for _, u := range updates {
		base.set(u.place, u.value)
	}
	base.in.spend(len(updates))
	return base
}

// Some objects hold no values of the program but facts about the run: the
// ledger, which graphs a backward has freed; kept, which graphs of a store none
// has freed on the paths that the store is on; retained, which graphs a backward
// was asked to keep; gradients, which backwards left graphs in them; modes, whether the model is in evaluation mode;
// argumentLeaves, the values that a call being summarised is given.
const (
	ledger ObjectID = iota
	kept
	retained
	gradients
	modes
	argumentLeaves
	firstObject
)

// joinAt is join for the values of one place.
func joinAt(p Place, a, b *Value) *Value {
	if p.object == kept && a != nil && b != nil { // freed on some path is freed
		return &Value{atoms: a.atoms.intersection(b.atoms)}
	}
	return join(a, b)
}
