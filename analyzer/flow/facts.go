package flow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

// Facts are what the analysis found out about one module.
type Facts struct {
	// All by position.
	Growths     []Growth
	Reuses      []Reuse
	Unguarded   []Unguarded
	Piles       []Pile
	Caches      []Cache
	Guards      []IneffectiveGuard
	Checkpoints []Checkpoint
	Predictions []KeptPredictions
	Metrics     []Metric
	Loaders     []WorkerCopies
	LastValues  []LastValue
	Observed
	// CutShort says that the budget ran out in some of the code, so that there may
	// be more to tell.
	CutShort bool
	// Dependencies are the other files that all of this rests on.
	Dependencies names.Dependencies
}

// Location is a place in the text of a module.
type Location struct {
	Module *names.Module
	Node   syntax.NodeID
}

// Span is the range of bytes of the location.
func (l Location) Span() text.Span { return l.Module.Tree.Span(l.Node) }

// Kind is the kind of the location's node.
func (l Location) Kind() syntax.Kind { return l.Module.Tree.Kind(l.Node) }

// Text is the source of the location.
func (l Location) Text() string { return l.Module.Tree.Text(l.Node) }

// Growth is a place that keeps a graph of every iteration of a loop.
type Growth struct {
	// Kept is the expression whose graph is kept: the stored one, or the
	// argument that a call stores.
	Kept Location
	// Store is the statement or call that stores it.
	Store Location
	// Target is what is written: a name, an attribute, a container.
	Target Location
	// ThroughCall says that the store is in a function that the loop calls.
	ThroughCall bool
	// Collects says that the place is a container.
	Collects bool
	// Loop is the statement whose iterations make the place grow. For code that
	// a framework calls once a step it is the function.
	Loop Location
	// Implicit says that Loop is such a function, or a class whose methods are
	// called once an epoch.
	Implicit bool
	// Activations says that tensors saved for backward stay; otherwise a
	// backward freed them and the nodes of the graph stay.
	Activations bool
	// Sure is how certain it is that the value carries a graph.
	Sure Certainty
	// Made are the operations that made the graph, Kept's own first.
	Made []Location
	// Freed is where a backward freed what it could, if any did.
	Freed []Location
	// Returned says that the activations are those of what a forward returns: a
	// backward of its caller frees them.
	Returned bool
	// Retained is a backward that ran but was asked to keep the graph, if any.
	Retained *Location
	// Adds says that the store is an operation on the place's old value that
	// the text shows: an augmented assignment, or the name on both sides.
	Adds bool
	// SideOutput says that a backward ran in the iteration, but not through
	// what stays.
	SideOutput bool
	// Parts are the tensors with a graph in Kept: itself, or elements of a
	// tuple or dict display. It is empty when Kept holds them in a way that the
	// text does not show.
	Parts []Part
	// Seeds are other expressions that give the place a graph, such as its
	// first value.
	Seeds []Location
	// Escapes says that the place, or what is made of it, is handed to code
	// that was not seen.
	Escapes bool
	// Decays says that the store scales the place's old value, as a running
	// average does.
	Decays bool
	// Joins says that the place is a tensor of growing size: each iteration puts
	// its own behind it.
	Joins bool
	// OfModule says that the place is what a module keeps across its calls: an
	// attribute or buffer that its forward writes, or a parameter.
	OfModule bool
	// State says that the new value is computed from the old one as a whole, as
	// the state of a recurrent network is, and not by adding something to it.
	State bool
	// Shape is what the value is made of.
	Shape Shape
	// Alongside are other states that Store gives their next value.
	Alongside []StateAlongside
	// Caught says that an exception is stored, with what its frames hold.
	Caught bool
	// Hook is where the hook that stores was registered, its Module nil when the
	// store is in none.
	Hook Location
	// Evaluation says that the model is in evaluation mode there.
	Evaluation bool
}

// Part is a tensor with a graph.
type Part struct {
	Location
	// Scalar says that it has one element.
	Scalar bool
	// OnDevice says that it is on an accelerator.
	OnDevice bool
	// Tensor says that it is a tensor each time: on some path it may else be a
	// number or None, or what a model gives that was not seen.
	Tensor bool
}

// facts are the growths that are to be told, each once.
func (in *interpreter) facts() *Facts {
	out := &Facts{}
	type key struct{ kept, store Location }
	seen, told := map[key]int{}, map[*growth]bool{}
	var gs []*growth
	for _, g := range in.growths {
		gs = append(gs, g)
	}
	slices.SortFunc(gs, func(a, b *growth) int {
		return cmp.Or(cmp.Compare(a.event.at.node, b.event.at.node), cmp.Compare(a.event.expr, b.event.expr),
			cmp.Compare(b.loop.at.node, a.loop.at.node), cmp.Compare(len(b.unfreed), len(a.unfreed)), cmp.Compare(a.order, b.order))
	})
	out.Reuses, out.Piles = in.reuseFacts(gs), in.pileFacts()
	out.Caches, out.Metrics, out.Loaders = in.cacheFacts(), in.metricFacts(), in.workerCopies()
	// A store that one caller needs for its backward is right as it is, whatever
	// other callers do with the result.
	needed := map[Location]bool{}
	for _, g := range gs {
		if in.isNeeded(g) {
			needed[Location{g.event.at.module, g.event.at.node}] = true
		}
	}
	for _, g := range gs {
		if needed[Location{g.event.at.module, g.event.at.node}] || g.reused != nil {
			continue
		}
		fact, ok := in.fact(g)
		if !ok {
			continue
		}
		told[g] = true
		k := key{fact.Kept, fact.Store}
		if fact.ThroughCall { // however many places the callee has for it
			k.store = Location{}
		}
		if i, ok := seen[k]; ok {
			earlier := &out.Growths[i]
			alongside := StateAlongside{fact.Target, fact.Shape}
			if fact.Activations && !earlier.Activations {
				alongside = StateAlongside{earlier.Target, earlier.Shape}
				fact.Alongside = earlier.Alongside
				*earlier = fact
			}
			if fact.State && alongside.Target != earlier.Target {
				earlier.Alongside = append(earlier.Alongside, alongside)
			}
			continue
		}
		seen[k] = len(out.Growths)
		out.Growths = append(out.Growths, fact)
	}
	out.Unguarded = in.unguardedCalls(told)
	out.Guards = in.ineffectiveGuards()
	out.Checkpoints = in.checkpointFacts()
	out.Predictions = in.keptPredictions()
	out.LastValues = in.lastValues()
	slices.SortStableFunc(out.Growths, func(a, b Growth) int { return cmp.Compare(a.Kept.Node, b.Kept.Node) })
	out.Observed = in.observed()
	return out
}

// isNeeded reports whether a backward reaches what g keeps.
func (a *analysis) isNeeded(g *growth) bool { return a.placeIs(a.needed, g) }

// placeIs reports whether what the place of g carries from one iteration to the
// next is in a set.
func (a *analysis) placeIs(set map[Atom]bool, g *growth) bool {
	l, p := g.loop, g.event.place
	return set[a.header(atomCarried, l, p)] || set[a.header(atomChained, l, p)]
}

// withinModel reports whether a loop runs in a method of a module, or in what
// one calls: such loops go over layers, levels and steps of a sequence, and what
// they make is gone when the call is over.
func (a *analysis) withinModel(l *loop) bool {
	for f := l.frame; f != nil; f = f.caller {
		if f.code != nil && f.code.class != 0 && a.isModuleClass(f.code.class) {
			return true
		}
	}
	return false
}

// addsUp reports whether a growth in a loop of few steps is one of many all the
// same: each step keeps the graphs of all steps of loops within it.
func (a *analysis) addsUp(g *growth) bool {
	return slices.ContainsFunc(g.fresh, func(x Atom) bool {
		steps := 1
		for l := a.atoms[x].loop; l != nil; l = l.parent {
			if l.steps.times == 0 {
				return false
			}
			if steps *= l.steps.times; l == g.loop {
				return steps >= manySteps
			}
		}
		return false
	})
}

// fact decides whether a growth is to be told, and how.
func (in *interpreter) fact(g *growth) (Growth, bool) {
	e, l := g.event, g.loop
	f := Growth{
		Store: Location{e.at.module, e.at.node}, Target: Location{e.at.module, e.target}, Kept: Location{e.at.module, e.expr},
		Parts: in.located(e.at.module, e.parts, e), Seeds: in.seeds[e.place],
		Loop: Location{l.at.module, l.at.node}, Implicit: l.implicit,
		Collects: e.collect, Evaluation: e.evaluate, Decays: e.decays, Joins: e.joins, OfModule: e.ofModule, State: e.alone, Shape: e.shape,
		Hook: in.hookOf(e.frame, l.frame), Caught: e.caught,
		Escapes: in.placeIs(in.escaped, g) || in.objects[e.place.object].kind == objectUnknown,
	}
	if l.steps.few && !in.addsUp(g) || !l.trains && !(e.evaluate && l.overData) && in.withinModel(l) {
		return Growth{}, false
	}
	if e.alone && !l.trains && !e.evaluate && !f.Implicit && !e.fed {
		return Growth{}, false // x = f(x): a computation in steps
	}
	for _, first := range e.firsts {
		f.Seeds = append(slices.Clone(f.Seeds), Location{e.at.module, first})
	}
	if in.weigh(&f, g); f.Sure < Likely {
		return Growth{}, false
	}
	if f.Escapes && !f.Caught && (f.Activations || len(f.Freed) == 0) && !e.evaluate && !f.Implicit && !g.stepped {
		return Growth{}, false // a caller may run the backward
	}
	t := f.Store.Module.Tree
	f.Adds = f.Store.Kind() == syntax.AugmentedAssignment || f.Store.Kind() == syntax.Assignment &&
		strings.Contains(t.Text(t.Child(f.Store.Node, syntax.FieldRight)), f.Target.Text())
	if e.place.field == collected {
		f.ThroughCall = true
	}
	if g.argument.Module != nil {
		f.Kept, f.ThroughCall, f.Parts = g.argument, true, in.located(g.argument.Module, g.argumentParts, nil)
		in.asWritten(&f, g.call)
	}
	return f, f.Kept.Module == in.main
}

// located are parts as facts tell them. The store tells something of its own
// parts, but not of those of an argument.
func (in *interpreter) located(m *names.Module, parts []part, store *storeEvent) []Part {
	var out []Part
	for _, p := range parts {
		at := Location{m, p.expr}
		tensor := p.tensor || p.number && store != nil && !store.collect || in.usedAs(at, p.number)
		if !tensor && store != nil && store.collect && p.expr == store.expr {
			tensor = in.joinedLater(Location{m, store.target}, at)
		}
		out = append(out, Part{at, p.scalar, p.onDevice, tensor})
	}
	return out
}

// weigh says of f what stays of the graphs that g keeps, how sure that is, and
// where they were made, freed and retained.
func (a *analysis) weigh(f *Growth, g *growth) {
	for _, x := range g.fresh {
		f.Sure = max(f.Sure, a.atoms[x].sure)
	}
	if len(g.fresh) == 0 { // nothing but the chain itself
		f.Sure = a.sure(g.event.added)
	}
	stays := map[Atom]bool{}
	for _, x := range g.unfreed {
		if f.Implicit && a.escaped[x] && !a.atoms[x].leaf {
			f.Returned = true
			continue
		}
		if a.atoms[x].sure >= Likely {
			stays[x] = true
			f.Activations = true
		}
	}
	for _, x := range g.fresh {
		at := Location{a.atoms[x].at.module, a.atoms[x].at.node}
		if at.Module == nil {
			continue
		}
		if at.Kind() != syntax.ClassDefinition && (stays[x] || !f.Activations) {
			f.Made = append(f.Made, at)
		}
		if b, ok := a.retainedAt[x]; ok && stays[x] && f.Retained == nil {
			f.Retained = &Location{b.module, b.node}
		}
		if b, ok := a.freedAt[x]; ok && !stays[x] {
			f.Freed = append(f.Freed, Location{b.module, b.node})
			f.SideOutput = f.Activations
		}
	}
	f.Freed = slices.Compact(f.Freed)
}
