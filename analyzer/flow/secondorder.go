package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// GradientGraph is a backward that records a graph of the gradients, which
// leaves that graph in the .grad of the parameters: the gradient refers to its
// graph, the graph to the parameter, and the parameter to its gradient.
type GradientGraph struct {
	Call     Location // the backward
	Argument Location // create_graph=True
	Growth   GradientGrowth
	// Loop is the loop that runs it, its Module nil when none does in view.
	Loop Location
	// Reset is the call that zeroes the gradients in the same loop, its Module
	// nil when there is none.
	Reset Location
	// Step is a call of an optimizer's step() in the same loop, its Module nil
	// when there is none.
	Step Location
	Sure Certainty
}

// GradientGrowth is what becomes of the graphs of gradients.
type GradientGrowth uint8

// The growths of graphs of gradients.
const (
	// GradientsReset is none: something zeroes the gradients, here or where it
	// cannot be seen.
	GradientsReset GradientGrowth = iota
	// GradientsAdded: each iteration adds its gradient, with its graph, to the
	// one before.
	GradientsAdded
	// ModelsDropped: each iteration makes a model and drops it with its gradients,
	// a cycle that Python's garbage collector does not see.
	ModelsDropped
)

// gradientGraph is what is known of a backward with create_graph=True.
type gradientGraph struct {
	at       site
	argument syntax.NodeID
	called   []codeKey
	loop     *loop // the innermost one that does not take few steps
	sure     Certainty
	models   []ObjectID // that an iteration of the loop made
	dropped  bool       // an iteration ends with one of them and its gradients
	cleared  bool       // gradients are set to None after it
}

// hanging, of gradients, are the backwards whose graphs the gradients hold.
const hanging Symbol = 0

// createsGraph notes that the backward at n over v leaves graphs in the
// gradients of parameters, if it is asked to.
func (in *interpreter) createsGraph(n syntax.NodeID, v *Value, args arguments) {
	argument := args.keywordNode("create_graph")
	if v == nil || in.off || argument < 0 || !args.isTrue("create_graph") {
		return
	}
	reached := in.throughCalls(in.reach(v))
	at := in.site(n)
	id, _ := in.newObject(objectKey{at: at, kind: objectGradients})
	g := in.gradientGraphs[id]
	if g == nil {
		g = &gradientGraph{at: at, argument: argument, called: in.calledFunctions()}
		in.gradientGraphs[id] = g
	}
	g.loop = in.loop
	for g.loop != nil && g.loop.steps.few {
		g.loop = g.loop.parent
	}
	g.sure = max(in.sure(reached), Likely) // that it runs is evidence
	for _, x := range reached {
		m := in.atoms[x].by
		if m == 0 || g.loop == nil || !in.madeIn(g.loop, in.objects[m].at) {
			continue
		}
		if !slices.Contains(g.models, m) {
			g.models = append(g.models, m)
		}
		in.holdGradients(Symbol(m), object(id))
	}
	in.holdGradients(hanging, object(id))
}

// holdGradients adds a token to what gradients hold: those of module f, or all.
func (in *interpreter) holdGradients(f Symbol, token *Value) {
	p := Place{gradients, f}
	in.state.set(p, join(in.state.get(p), token))
}

// stepsAt notes where an optimizer steps.
func (in *interpreter) stepsAt(n syntax.NodeID) {
	if at := in.site(n); in.loop != nil && in.loop.step == nil {
		in.loop.step = &at
	}
}

// resetsGradients notes that gradients lose their graphs at n: they are set to
// None, or else zeroed or detached.
func (in *interpreter) resetsGradients(n syntax.NodeID, none bool) {
	at := in.site(n)
	for l := in.loop; l != nil; l = l.parent {
		l.clears = l.clears || none
		l.resets = &at
	}
	held := in.state.get(Place{gradients, hanging})
	if held == nil {
		return
	}
	for _, id := range held.objects {
		g := in.gradientGraphs[id]
		g.cleared = g.cleared || none
		for _, m := range g.models {
			in.state.set(Place{gradients, Symbol(m)}, nil)
		}
	}
	in.state.set(Place{gradients, hanging}, nil)
}

// madeIn reports whether what a site makes is made anew in each iteration of a
// loop.
func (in *interpreter) madeIn(l *loop, at site) bool {
	t := l.at.module.Tree
	within := func(m *names.Module, n syntax.NodeID) bool {
		return m == l.at.module && n >= 0 && t.Kind(l.at.node) != syntax.FunctionDefinition && t.Span(l.at.node).Covers(t.Span(n))
	}
	if at.module == nil {
		return false
	}
	if at.frame == l.at.frame {
		return within(at.module, at.node)
	}
	for c := at.frame; c != nil; c = c.caller {
		if c.caller == l.at.frame {
			return within(c.module, c.node)
		}
	}
	return false
}

// judgeGradients notes which graphs of gradients are still there when an
// iteration of l ends, on models that it made.
func (in *interpreter) judgeGradients(l *loop, end *state) {
	for id, g := range in.gradientGraphs {
		if g.loop != l {
			continue
		}
		g.dropped = slices.ContainsFunc(g.models, func(m ObjectID) bool {
			v := end.get(Place{gradients, Symbol(m)})
			return v != nil && slices.Contains(v.objects, id)
		})
	}
}

// gradientFacts are the backwards of the checked module that leave graphs in
// gradients.
func (in *interpreter) gradientFacts() []GradientGraph {
	found := map[Location]GradientGraph{}
	for _, id := range slices.Sorted(maps.Keys(in.gradientGraphs)) {
		g := in.gradientGraphs[id]
		call := Location{g.at.module, g.at.node}
		if call.Module != in.main || in.givenUp(g.called) {
			continue
		}
		f := GradientGraph{Call: call, Argument: Location{call.Module, call.Module.Tree.Parent(g.argument)}, Sure: g.sure}
		if l := g.loop; l != nil {
			f.Loop = Location{l.at.module, l.at.node}
			if l.resets != nil {
				f.Reset = Location{l.resets.module, l.resets.node}
			}
			if l.step != nil {
				f.Step = Location{l.step.module, l.step.node}
			}
			switch {
			case g.dropped:
				f.Growth = ModelsDropped
			case l.resets == nil && !l.implicit && !in.stopped:
				f.Growth = GradientsAdded
			}
			if f.Growth == GradientsReset && l.clears {
				continue
			}
		} else if g.cleared {
			continue
		}
		if old, ok := found[call]; !ok || f.Growth > old.Growth {
			found[call] = f
		}
	}
	var out []GradientGraph
	for _, f := range found {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b GradientGraph) int { return compareLocations(a.Call, b.Call) })
	return out
}
