package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Remade is something that each iteration of a loop makes anew for what was there
// before the loop, and that is meant to be made once.
type Remade struct {
	Kind RemadeKind
	Made Location // the call that makes it
	Name string   // of its class or function
	// Of is what it is made for: parameters, a module, a loader.
	Of   Location
	Loop Location
	// Sometimes says that it is made under a condition, not in every iteration.
	Sometimes bool
	// Used is the one step that an optimizer takes, Scheduler what is made for it, its
	// Module nil where there is none.
	Used, Scheduler Location
}

// RemadeKind is what is made anew.
type RemadeKind uint8

// What each of them costs was measured.
const (
	RemadeOptimizer RemadeKind = iota // it forgets its running averages
	RemadeTrace                       // the graph of a trace is never freed
	RemadeIterator                    // of a loader with workers, which start anew
)

// making is where something of a library was made.
type making struct {
	call      Location
	of        Location
	given     *Value // what it was made with
	loop      *loop
	scheduler Location
	sometimes bool
	anew      bool // an optimizer of parameters that were there before its loop
	stateless bool // an optimizer that remembers nothing
	workers   bool // of a loader
}

// makes notes that a library makes something at n that is meant to be made once.
func (in *interpreter) makes(n syntax.NodeID, name string, args arguments) {
	if in.dry || in.frame.module != in.main || len(args.exprs) == 0 || args.exprs[0] < 0 {
		return
	}
	m := &making{given: args.positional[0], call: Location{in.main, n}, of: Location{in.main, args.exprs[0]}, loop: in.loop, sometimes: in.isConditional(in.loop, n)}
	id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
	switch first := args.positional[0]; {
	case name == "torch.utils.data.DataLoader":
		count := args.at(5, "num_workers")
		m.workers = count != nil && count.literal != 0
		in.makings[id] = m
	case torch.OptimizerClass(name):
		m.stateless = name == "torch.optim.SGD" && args.at(2, "momentum") == nil
		m.anew = in.repeated(in.loop) && in.areParametersOfBefore(first, in.loop)
		in.makings[id] = m
	case strings.HasPrefix(name, "torch.optim.lr_scheduler."):
		for _, o := range first.objects {
			if made := in.makings[o]; made != nil && made.loop == in.loop {
				made.scheduler = m.call
			}
		}
	case torch.Traces(name) && in.repeated(in.loop):
		// Of another module each time there is another graph to keep.
		if !in.variesIn(in.loop, args.exprs[0], first) && in.isOfBefore(first, in.loop) {
			in.remade[m.call] = Remade{Kind: RemadeTrace, Made: m.call, Name: name, Of: m.of, Loop: loopLocation(in.loop), Sometimes: m.sometimes}
		}
	}
}

// isOfBefore reports whether a value is objects that were there before a loop.
func (in *interpreter) isOfBefore(v *Value, l *loop) bool {
	return len(v.objects) > 0 && !slices.ContainsFunc(v.objects, func(id ObjectID) bool {
		info := in.objects[id]
		return info.born > l.births || in.madeIn(l, info.at)
	})
}

// repeated reports whether the iterations of a loop are many, and in the text.
func (in *interpreter) repeated(l *loop) bool { return l != nil && !l.steps.few && !l.implicit }

func loopLocation(l *loop) Location { return Location{l.at.module, l.at.node} }

// isConditional reports whether an iteration of a loop may pass by what runs at n,
// in its body or in a function that it calls: it stands in a branch.
func (in *interpreter) isConditional(l *loop, n syntax.NodeID) bool {
	if l == nil {
		return false
	}
	m := in.frame.module
	for call := in.frame.call; ; call = call.caller {
		t := m.Tree
	climb:
		for at := n; ; at = t.Parent(at) {
			if m == l.at.module && at == l.at.node {
				return false
			}
			switch parent := t.Parent(at); {
			case parent < 0, t.Kind(at) == syntax.FunctionDefinition, t.Kind(at) == syntax.Lambda:
				break climb
			case t.Kind(parent) == syntax.ExceptClause,
				t.Kind(parent) == syntax.IfStatement && at != t.Child(parent, syntax.FieldCondition),
				t.Kind(parent) == syntax.CaseClause:
				return true
			}
		}
		if call == nil {
			return false
		}
		m, n = call.module, call.node
	}
}

// areParametersOfBefore reports whether a value is the parameters of modules that
// were there before a loop.
func (in *interpreter) areParametersOfBefore(v *Value, l *loop) bool {
	if v == nil || len(v.objects) == 0 {
		return false
	}
	for _, id := range v.objects {
		info := in.objects[id]
		if info.kind != objectParams || !in.isOfBefore(object(info.parent), l) {
			return false
		}
	}
	return true
}

// stepsOnce looks whether an optimizer steps at n in the very iteration that makes
// it. One that steps in a loop of its own has time to remember.
func (in *interpreter) stepsOnce(n syntax.NodeID, id ObjectID) {
	m := in.makings[id]
	if in.dry || m == nil || !m.anew || m.loop != in.loop || m.stateless && m.scheduler.Module == nil || in.restores(m.loop) {
		return
	}
	name := in.objects[id].name
	in.remade[m.call] = Remade{
		Kind: RemadeOptimizer, Made: m.call, Name: name[strings.LastIndexByte(name, '.')+1:], Of: m.of, Loop: loopLocation(m.loop),
		Used: Location{in.frame.module, n}, Scheduler: m.scheduler, Sometimes: m.sometimes,
	}
}

// restores reports whether each iteration gives a module other parameters: then it
// starts again, and so does its optimizer.
func (in *interpreter) restores(l *loop) bool {
	t := l.at.module.Tree
	for n := l.at.node; n < t.End(l.at.node); n++ {
		if t.Kind(n) == syntax.Attribute {
			switch t.Text(t.Child(n, syntax.FieldAttribute)) {
			case "load_state_dict", "reset_parameters", "apply", "reset":
				return true
			}
		}
	}
	return false
}

// iterates looks whether a call is next(iter(loader)) of a loader with workers that
// was there before the loop.
func (in *interpreter) iterates(n syntax.NodeID, args arguments) {
	if in.dry || in.frame.module != in.main || len(args.exprs) == 0 || !in.repeated(in.loop) {
		return
	}
	t := in.tree()
	made := args.exprs[0]
	if made < 0 || t.Kind(made) != syntax.Call || t.Text(t.Child(made, syntax.FieldFunction)) != "iter" {
		return
	}
	loader := t.First(t.Child(made, syntax.FieldArguments))
	if loader < 0 {
		return
	}
	v := in.valueOf(loader)
	if v == nil || len(v.objects) != 1 || in.variesIn(in.loop, loader, v) {
		return
	}
	if m := in.makings[v.objects[0]]; m != nil && m.workers {
		at := Location{in.main, n}
		in.remade[at] = Remade{
			Kind: RemadeIterator, Made: at, Name: "iter", Of: Location{in.main, loader}, Loop: loopLocation(in.loop),
			Sometimes: in.isConditional(in.loop, n),
		}
	}
}

// remadeFacts are what iterations of the checked module make anew.
func (in *interpreter) remadeFacts() []Remade {
	return slices.SortedFunc(maps.Values(in.remade), func(a, b Remade) int { return compareLocations(a.Made, b.Made) })
}
