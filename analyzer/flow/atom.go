package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Atom is one thing that the graph of a value was made from.
type Atom int32

// atoms is a sorted set of atoms.
type atoms []Atom

func (a atoms) union(b atoms) atoms { return unionSorted(a, b) }

// intersection is the atoms of both sets.
func (a atoms) intersection(b atoms) atoms {
	var out atoms
	for _, x := range a {
		if b.has(x) {
			out = append(out, x)
		}
	}
	return out
}

func (a atoms) has(x Atom) bool {
	_, ok := slices.BinarySearch(a, x)
	return ok
}

type atomKind uint8

const (
	// atomOrigin is an operation that records a graph.
	atomOrigin atomKind = iota
	// atomCarried is the value that a place had at the header of a loop,
	// reached by reference.
	atomCarried
	// atomChained is the same value reached through the graph: an operation
	// was applied to it since.
	atomChained
	// atomReset says that on some path of the iteration the place was given a
	// value that does not depend on its old one.
	atomReset
	// atomStep says that the value differs in each iteration of a loop.
	atomStep
)

// Certainty is how sure it is that a value carries a graph.
type Certainty uint8

// A Likely graph rests on a convention, such as that the input of forward
// carries one; a Possible one on nothing but the absence of knowledge.
const (
	NoGraph Certainty = iota
	Possible
	Likely
	Certain
)

// site is a place in the text together with the calls that led to it.
type site struct {
	module *names.Module
	node   syntax.NodeID
	frame  *callSite
	slot   int32 // which of several results
}

// recorded is what is known of the graph that an operation records.
type recorded struct {
	saves  bool // keeps tensors for backward
	leaf   bool // no backward frees it
	custom bool // a custom autograd function that keeps tensors as attributes
	unseen bool // made by code that was not seen
	// parameter says that the origin is a parameter: a leaf that lives as long
	// as its module, not a graph.
	parameter bool
	sure      Certainty
	// model says that a module with parameters recorded it, and repeated that it
	// did so in a loop of a function that a summary stands for.
	model, repeated bool
}

type atomInfo struct {
	kind atomKind
	// origin
	at   site
	loop *loop // the innermost loop that ran when the origin was made
	// freed says that a backward freed the graph on some path.
	freed bool
	recorded
	// through are the graphs that may have gone into the result of an unknown
	// call: a backward over the result proves that they did.
	through atoms
	by      ObjectID // the module whose call it is, 0 for other operations
	// carried, chained, reset, step
	header *loop
	place  Place
}

// Place is where a value is kept: a field of an object. Variables are fields
// of the object that stands for their scope.
type Place struct {
	object ObjectID
	field  Symbol
}

// origin returns the atom of an operation at a site.
func (a *analysis) origin(at site, l *loop, r recorded) Atom {
	id, ok := a.origins[at]
	if !ok {
		id = Atom(len(a.atoms))
		a.atoms = append(a.atoms, atomInfo{kind: atomOrigin, at: at, loop: l})
		a.origins[at] = id
	}
	info := &a.atoms[id]
	info.loop = l
	info.saves = info.saves || r.saves
	info.leaf = info.leaf || r.leaf
	info.custom = info.custom || r.custom
	info.unseen = info.unseen || r.unseen
	info.parameter = info.parameter || r.parameter
	info.model = info.model || r.model
	info.repeated = info.repeated || r.repeated
	info.sure = max(info.sure, r.sure)
	return id
}

type headerKey struct {
	loop  *loop
	place Place
	kind  atomKind
}

// header returns the atom of a kind that speaks of a place at the header of a
// loop.
func (a *analysis) header(kind atomKind, l *loop, p Place) Atom {
	key := headerKey{l, p, kind}
	id, ok := a.headers[key]
	if !ok {
		id = Atom(len(a.atoms))
		a.atoms = append(a.atoms, atomInfo{kind: kind, header: l, place: p})
		a.headers[key] = id
	}
	return id
}

// chain is the atoms of a value after an operation was applied to it.
func (a *analysis) chain(in atoms) atoms {
	changed := false
	for _, x := range in {
		if a.atoms[x].kind == atomCarried {
			changed = true
			break
		}
	}
	if !changed {
		return in
	}
	out := make(atoms, 0, len(in))
	for _, x := range in {
		if info := a.atoms[x]; info.kind == atomCarried {
			x = a.header(atomChained, info.header, info.place)
		}
		out = append(out, x)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sure is how certain it is that a value with these atoms carries a graph.
func (a *analysis) sure(in atoms) Certainty {
	level := NoGraph
	for _, x := range in {
		info := &a.atoms[x]
		switch info.kind {
		case atomOrigin:
			level = max(level, info.sure)
		case atomCarried, atomChained:
			level = max(level, info.header.back[info.place].sure)
		}
	}
	return level
}

// steps keeps of in what says how a plain value varies.
func (a *analysis) steps(in atoms) atoms {
	var out atoms
	for _, x := range in {
		switch info := &a.atoms[x]; info.kind {
		case atomStep:
			out = append(out, x)
		case atomCarried, atomChained:
			if info.header.back[info.place].sure == NoGraph {
				out = append(out, x)
			}
		}
	}
	return out
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
	return out.union(atoms{in.newOrigin(in.site(n), recorded{saves: !in.areParameters(operands), sure: level})})
}

// areParameters reports whether all operands with a graph are parameters: what
// an operation saves of them lives anyway.
func (a *analysis) areParameters(operands atoms) bool {
	found := false
	for _, x := range operands {
		switch info := &a.atoms[x]; {
		case info.kind == atomStep: // another one in each iteration
		case info.kind != atomOrigin || !info.parameter:
			return false
		default:
			found = true
		}
	}
	return found
}

// newOrigin makes the origin afresh: a graph that an earlier run of the same
// expression made is another one.
func (in *interpreter) newOrigin(at site, r recorded) Atom {
	if r.sure > Possible {
		in.activity++
	}
	x := in.origin(at, in.loop, r)
	if in.freed(x) {
		in.state.set(Place{ledger, Symbol(x)}, nil)
	}
	if len(in.retainedBy[x]) > 0 {
		in.state.set(Place{retained, Symbol(x)}, nil)
	}
	in.attempts(x, r)
	return x
}

// carriesHeader reports whether as depend on the value of any place at the
// header of a loop.
func (a *analysis) carriesHeader(as atoms) bool {
	for _, x := range as {
		if k := a.atoms[x].kind; k == atomCarried || k == atomChained {
			return true
		}
	}
	return false
}

// apart is as less the atoms that stand for what place p was at the header of
// loop l.
func (a *analysis) apart(as atoms, l *loop, p Place) atoms {
	var out atoms
	for _, x := range as {
		if info := &a.atoms[x]; info.header == l && info.place == p {
			continue
		}
		out = append(out, x)
	}
	return out
}

// dependsOn reports whether as hold what place p was at the header of loop l.
func (a *analysis) dependsOn(as atoms, l *loop, p Place) bool {
	return as.has(a.header(atomChained, l, p)) || as.has(a.header(atomCarried, l, p))
}
