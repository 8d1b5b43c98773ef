package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// loop is one loop in one calling context.
type loop struct {
	at      site
	parent  *loop // the loop that runs it, across calls
	frame   *frame
	steps   extent
	draws   bool  // takes the next piece of data
	trains  bool  // a backward or an optimizer step runs in it
	stepped bool  // an optimizer steps in each iteration
	step    *site // of an optimizer's step()
	resets  *site // where gradients are zeroed, nil when they are not
	clears  bool  // gradients are set to None
	// implicit says that it is no loop of the text: code that is not seen calls
	// the function again and again.
	implicit bool
	overData bool // takes as many steps as there is data
	loaders  bool // goes over several loaders of data, by their name
	// written are the places that an iteration writes, once known.
	written map[Place]bool
	// back is what an iteration leaves at a place for the next.
	back map[Place]carry
	// events are the stores of the pass that runs now.
	events []*storeEvent
	// last are stores of the pass in attributes; births counts the objects made
	// before the loop.
	last   []lastStore
	births int
}

// carry is what is known of a place at the end of an iteration.
type carry struct {
	value *Value
	reach atoms
	sure  Certainty
	plain []bool // which elements of a tuple carry no graph
}

// encloses reports whether l is other or runs it.
func (l *loop) encloses(other *loop) bool {
	for ; other != nil; other = other.parent {
		if other == l {
			return true
		}
	}
	return false
}

// loopExits are the states that leave an iteration early.
type loopExits struct{ breaks, continues []*state }

// loopKind says how a loop ends.
type loopKind uint8

const (
	// forLoop runs over an iterable. It is taken to run at least once: what
	// each iteration replaces is replaced.
	forLoop loopKind = iota
	whileLoop
	endlessLoop // left only by break
	calledLoop  // code that is not seen calls something again and again
)

// atHeader is the value at place p at the header of loop l, where entry is its
// value before the loop.
func (in *interpreter) atHeader(l *loop, p Place, entry *Value) *Value {
	if l.written != nil && !l.written[p] {
		return entry
	}
	if in.objects[p.object].kind == objectScope && entry != nil && entry.only(KindObject) && l.written == nil && entry.atoms == nil && entry.elements == nil {
		return entry // a function, a class, a container: the variable is not its content
	}
	back := l.back[p]
	if entry == nil && back.value == nil {
		return nil
	}
	v := entry
	if back.value != nil {
		b := *back.value
		b.atoms = in.steps(b.atoms)
		b.elements = stripElements(b.elements)
		v = join(entry, &b)
	}
	c := *v
	carried := in.header(atomCarried, l, p)
	c.atoms = c.atoms.union(atoms{carried})
	if c.elements != nil {
		es := make([]*Value, len(c.elements))
		for i, e := range c.elements {
			if e != nil && (i >= len(back.plain) || !back.plain[i]) {
				e = e.with(carried)
			}
			es[i] = e
		}
		c.elements = es
	}
	c.literal = nil
	return &c
}

// stripElements are elements without their graphs.
func stripElements(es []*Value) []*Value {
	if es == nil {
		return nil
	}
	out := make([]*Value, len(es))
	for i, e := range es {
		if e != nil {
			c := *e
			c.atoms = nil
			e = &c
		}
		out[i] = e
	}
	return out
}

// maxPasses bounds how often the body of a loop is run until it has no news.
const maxPasses = 3

// iterate runs a loop of so many steps at n. once runs one iteration, its binding of targets
// included; it may leave in.state nil.
func (in *interpreter) iterate(n syntax.NodeID, steps extent, kind loopKind, once func()) {
	if in.state == nil {
		return
	}
	at := in.site(n)
	if kind == calledLoop && in.loop != nil {
		at.slot = int32(in.loop.at.node) // each class that inherits a step has its own loop of them
	}
	l, ok := in.loops[at]
	if !ok {
		l = &loop{at: at, back: map[Place]carry{}}
		in.loops[at] = l
	}
	l.parent, l.frame, l.steps, l.implicit, l.written = in.loop, in.frame, steps, kind == calledLoop, nil
	outer, base, wasDry := in.loop, in.state, in.dry
	l.births = in.births
	clear(l.back)
	var breaks []*state
	var end *state
	for pass := 0; ; pass++ {
		in.dry = wasDry || pass == 0
		in.loop = l
		l.events, l.last = l.events[:0], l.last[:0]
		exits := &loopExits{}
		in.frame.loops = append(in.frame.loops, exits)
		top := &state{parent: base, below: base.occupied(), loop: l, in: in}
		top.set(Place{modes, stepped}, nil)
		in.state = top.push()
		once()
		in.frame.loops = in.frame.loops[:len(in.frame.loops)-1]
		end = merge(top, in.noteResets(syntax.NoNode), append(exits.continues, in.state)...)
		breaks = exits.breaks
		changed := in.learn(l, top, end)
		if wasDry || in.stopped || pass >= maxPasses || (pass > 0 && !changed) {
			break
		}
	}
	in.loop, in.dry = outer, wasDry
	if !in.dry && end != nil && in.spending <= in.limit { // else a reset may not have been reached
		l.stepped = end.get(Place{modes, stepped}) != nil
		in.judge(l, end)
		in.judgeGradients(l, end)
	}
	var skip *state
	if kind == whileLoop || end == nil && kind != endlessLoop {
		skip = base.push()
	}
	if end == nil && len(breaks) == 0 {
		in.state = skip
		if skip != nil {
			in.state = base
		}
		return
	}
	before := base.get(Place{modes, stepped})
	in.state = merge(base, nil, append(breaks, end, skip)...)
	if before != nil {
		in.state.set(Place{modes, stepped}, before) // of the iteration around
	}
}

// learn records what the iteration that ended in end wrote, and reports
// whether that was news.
func (in *interpreter) learn(l *loop, top, end *state) bool {
	if l.written == nil {
		l.written = map[Place]bool{}
	}
	if end == nil {
		return false
	}
	changed := false
	in.state = end
	for _, b := range top.values.list {
		p, v := b.place, b.value
		if p.object < firstObject {
			continue
		}
		if !l.written[p] {
			l.written[p] = true
			changed = true
		}
		c := carry{value: v, reach: in.reach(v)}
		c.sure = in.sure(in.apart(c.reach, l, p))
		if v != nil && !v.variadic {
			c.plain = make([]bool, len(v.elements))
			for i, e := range v.elements {
				c.plain[i] = in.sure(in.reach(e)) == NoGraph
			}
		}
		old, known := l.back[p]
		if !known || old.sure != c.sure || valueKinds(old.value) != valueKinds(v) {
			changed = true
		}
		l.back[p] = c
	}
	return changed
}

func valueKinds(v *Value) Kinds {
	if v == nil {
		return 0
	}
	return v.kinds
}
