package flow

import (
	"context"
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// analysis is everything that is learnt while one program is interpreted.
type analysis struct {
	ctx      context.Context
	resolver *names.Resolver

	symbols     map[string]Symbol
	symbolNames []string
	atoms       []atomInfo
	origins     map[site]Atom
	headers     map[headerKey]Atom
	objects     []*objectInfo
	objectIDs   map[objectKey]ObjectID
	loops       map[site]*loop
	calls       map[callSite]*callSite
	ran         map[*names.Module]bool     // modules whose code ran
	global      *state                     // what modules bind
	values      map[*names.Module][]*Value // the last value of each expression

	visited    map[codeKey]bool // functions that ran in some calling context
	proved     map[Atom]bool
	needed     map[Atom]bool // a backward reaches them
	escaped    map[Atom]bool // handed to a caller that is not known
	retainedAt map[Atom]site // a backward with retain_graph
	freedAt    map[Atom]site
	seeds      map[Place][]Location // stores of a graph that do not depend on the place's old value
	growths    map[growthKey]*growth
	histories  map[codeKey]*history
	// activity counts recorded operations, backwards and new modules: a
	// function that leaves it alone has nothing to do with graphs.
	activity int
	// births counts the objects made; oldestWritten is when the oldest object
	// was made that the running function wrote to.
	births, oldestWritten int
	spending              int // expressions evaluated
	total, poll           int // work in all, and at which total to look whether to stop
	stopped               bool
}

type codeKey struct {
	module *names.Module
	node   syntax.NodeID
}

// callSite is a chain of calls: the context in which code runs. nil is the
// context of a root.
type callSite struct {
	caller *callSite
	module *names.Module
	node   syntax.NodeID
}

// loop is one loop in one calling context.
type loop struct {
	at      site
	parent  *loop // the loop that runs it, across calls
	frame   *frame
	bounded bool // takes few steps, however much data there is
	trains  bool // a backward or an optimizer step runs in it
	// written are the places that an iteration writes, once known.
	written map[Place]bool
	// back is what an iteration leaves at a place for the next.
	back map[Place]carry
	// events are the stores of the pass that runs now.
	events []*storeEvent
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

// frame is one activation of a function, a module or a class body.
type frame struct {
	caller  *frame
	module  *names.Module
	object  ObjectID // its variables
	scope   *names.Scope
	closure *frame // the frame of the enclosing scope
	call    *callSite
	code    *code
	depth   int

	base    *state // the state at entry
	returns []*state
	result  *Value
	yields  *Value
	loops   []*loopExits
}

// loopExits are the states that leave an iteration early.
type loopExits struct{ breaks, continues []*state }

// interpreter runs code over abstract values.
type interpreter struct {
	*analysis
	state     *state // nil where control never arrives
	frame     *frame
	loop      *loop // innermost running loop
	off       bool  // operations are not recorded: no_grad
	dry       bool  // first pass over a loop: learns what is written, reports nothing
	nesting   int
	lookingUp int // names of other files being looked up within each other
	// limit is the value of spending at which the running function has used up
	// its budget.
	limit int
	// reachRound and reachLeft belong to the running call of reach.
	reachRound, reachLeft int
	// consuming says that a store takes elements of an iterator, for which the
	// program has no expression.
	consuming bool
	// lastYieldGrad is the grad mode at the last yield.
	lastYieldGrad torch.GradMode
	main          *names.Module
}

// Budgets that keep a hostile or huge program from taking forever. Beyond them
// values are not known, which is silent.
const (
	maxDepth   = 12      // calls within calls
	maxNesting = 1_500   // expressions and statements within each other, across calls
	maxSteps   = 200_000 // expressions evaluated for one root
	// A called function gets less, so that one part that is large or never
	// seems to end does not hide what the rest of the program does; one of
	// another file gets least.
	maxCallSteps    = 60_000
	maxForeignSteps = 12_000
	// maxTotal is the budget of one file with all that it imports. Code that
	// was not reached by then is left out.
	maxTotal = 600_000
)

// deeper enters one more level of nesting and reports whether that was allowed.
// Every true answer is paid back with in.nesting--.
func (in *interpreter) deeper() bool {
	if in.nesting >= maxNesting {
		return false
	}
	in.nesting++
	return true
}

func (in *interpreter) symbol(name string) Symbol {
	s, ok := in.symbols[name]
	if !ok {
		s = Symbol(len(in.symbolNames))
		in.symbols[name] = s
		in.symbolNames = append(in.symbolNames, name)
	}
	return s
}

func (in *interpreter) site(n syntax.NodeID) site {
	return site{module: in.frame.module, node: n, frame: in.frame.call}
}

// called returns the context of a call made at n in the current frame.
func (in *interpreter) called(n syntax.NodeID) *callSite {
	key := callSite{caller: in.frame.call, module: in.frame.module, node: n}
	c, ok := in.calls[key]
	if !ok {
		c = &key
		in.calls[key] = c
	}
	return c
}

func (in *interpreter) tree() *syntax.Tree { return in.frame.module.Tree }

// spend counts work: an expression evaluated, a value joined, an object looked
// through.
func (in *interpreter) spend(work int) {
	in.spending += work
	in.total += work
	if in.total >= in.poll {
		in.poll = in.total + 1024
		in.stopped = in.stopped || in.total > maxTotal || in.ctx.Err() != nil
	}
}

// spent counts one step and reports whether the budget is used up or the
// caller gave up.
func (in *interpreter) spent() bool {
	in.spend(1)
	return in.stopped || in.spending > in.limit
}

// variable is the place of a name read or written in the current frame.
func (in *interpreter) variable(name string) Place {
	f := in.frame
	scope := f.scope.Lookup(name)
	for f.scope != scope && f.closure != nil {
		f = f.closure
	}
	return Place{f.object, in.symbol(name)}
}

// freed reports whether a backward has freed the graph of an origin.
func (in *interpreter) freed(x Atom) bool {
	return in.state.get(Place{ledger, Symbol(x)}) != nil
}

// record makes the origin of an operation at n that keeps the graph of its
// operands, and returns the atoms of its result.
func (in *interpreter) record(n syntax.NodeID, operands atoms, saves bool) atoms {
	if in.off {
		return nil
	}
	out := in.chain(operands)
	level := in.sure(out)
	if !saves || level == NoGraph {
		return out
	}
	return out.union(atoms{in.newOrigin(in.site(n), !in.areParameters(operands), false, level)})
}

// areParameters reports whether all operands with a graph are parameters: what
// an operation saves of them lives anyway.
func (in *interpreter) areParameters(operands atoms) bool {
	found := false
	for _, x := range operands {
		info := &in.atoms[x]
		if info.kind != atomOrigin || !info.parameter {
			return false
		}
		found = true
	}
	return found
}

// newOrigin makes the origin afresh: a graph that an earlier run of the same
// expression made is another one.
func (in *interpreter) newOrigin(at site, saves, leaf bool, sure Certainty) Atom {
	if sure > Possible {
		in.activity++
	}
	x := in.origin(at, in.loop, saves, leaf, sure)
	if in.freed(x) {
		in.state.set(Place{ledger, Symbol(x)}, nil)
	}
	return x
}

func (in *interpreter) carriesHeader(as atoms) bool {
	for _, x := range as {
		if k := in.atoms[x].kind; k == atomCarried || k == atomChained {
			return true
		}
	}
	return false
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

// evaluation reports whether the model is in evaluation mode.
func (in *interpreter) evaluation() bool {
	v := in.state.get(Place{modes, evaluating})
	return v != nil && v.literal == true
}

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
