package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// A Metric is an object of a library that keeps what each step gives it, and that
// nothing resets between one loop over the data and the next.
type Metric struct {
	// Update is the call that gives it something, Object the expression of the
	// metric there, Made the call that made it.
	Update, Object, Made Location
	// Class is its class, by its dotted name.
	Class string
	// Loop is the loop over the data, Around the one around it. Implicit says that
	// a framework runs them.
	Loop, Around Location
	Implicit     bool
	// Computed is where its value is computed in Around, but not in Loop. It is
	// nil where only the value of each step is asked for.
	Computed *Location
	// Running says that Computed is in each step, of a framework, and covers all
	// steps so far.
	Running bool
}

// metricUse is what is done with the metrics of libraries.
type metricUse struct {
	grown    map[growthKey]*storeEvent
	computed map[ObjectID][]metricValue
}

func newMetricUse() metricUse {
	return metricUse{grown: map[growthKey]*storeEvent{}, computed: map[ObjectID][]metricValue{}}
}

// metricValue is a place where the value of a metric is computed from its state.
type metricValue struct {
	at   codeKey
	loop *loop
}

// newMetric is what is known of a metric when it is made: whether what it keeps
// grows with each update.
func (in *interpreter) newMetric(info *objectInfo, args arguments) {
	switch {
	case torch.CollectsMetrics(info.name):
		info.bounded = !slices.ContainsFunc(args.values(), in.holdsGrowing)
	case torch.KeepsSamples(info.name, func(string) bool { return false }):
		info.bounded = args.star != nil || !torch.KeepsSamples(info.name, func(argument string) bool { return isSet(args.named(argument)) })
	}
}

// holdsGrowing reports whether a value is a metric whose state grows, or a list
// or dict with one.
func (in *interpreter) holdsGrowing(v *Value) bool {
	if v == nil {
		return false
	}
	return slices.ContainsFunc(v.objects, func(id ObjectID) bool {
		return in.grows(id) || in.objects[id].kind == objectContainer && in.holdsGrowing(in.contents(id))
	})
}

// grows reports whether an object is a metric whose state grows.
func (a *analysis) grows(id ObjectID) bool {
	info := a.objects[id]
	return info.kind == objectUnknown && !info.bounded && (torch.CollectsMetrics(info.name) || torch.KeepsSamples(info.name, func(string) bool { return false }))
}

// useMetric notes what a method does to the metrics that it may be called on. The
// result is that of the method where it is a metric, else nil.
func (in *interpreter) useMetric(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	var out *Value
	for _, id := range obj.objects {
		if !in.grows(id) {
			continue
		}
		switch name {
		case "update", "forward", "__call__":
			if len(args.values()) > 0 {
				in.collect(id, samples, freshData, n, args.expr(0, n), receiver, nil)
			}
		case "compute":
			v := metricValue{codeKey{in.frame.module, n}, in.loop}
			if !in.dry && !slices.Contains(in.metrics.computed[id], v) {
				in.metrics.computed[id] = append(in.metrics.computed[id], v)
			}
		case "reset":
			in.write(Place{id, samples}, plain)
		case "clone":
			twin, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: in.objects[id].name})
			in.renew(twin)
			out = join(out, object(twin))
		default:
			if torch.ModuleEffects[name] == torch.ReturnsItself {
				out = join(out, object(id))
			}
		}
	}
	return out
}

// noteMetric notes that a metric keeps in l what a call gives it.
func (in *interpreter) noteMetric(l *loop, e *storeEvent) {
	if !l.steps.few {
		in.metrics.grown[growthKey{l, e.at, e.expr, e.target}] = e
	}
}

// metricFacts are the metrics that nothing resets, each call that gives them
// something once.
func (in *interpreter) metricFacts() []Metric {
	var out []Metric
	for key, e := range in.metrics.grown {
		around := key.loop
		for other := range in.metrics.grown {
			inner := other.loop
			if other.at != key.at || inner == around || !around.encloses(inner) || !inner.overData && !inner.implicit {
				continue
			}
			if m, ok := in.metricFact(e, inner, around); ok {
				out = append(out, m)
			}
		}
	}
	slices.SortFunc(out, func(a, b Metric) int {
		return cmp.Or(cmp.Compare(a.Update.Node, b.Update.Node), cmp.Compare(b.Loop.Node, a.Loop.Node), cmp.Compare(b.Around.Node, a.Around.Node))
	})
	return slices.CompactFunc(out, func(a, b Metric) bool { return a.Update == b.Update })
}

func (in *interpreter) metricFact(e *storeEvent, inner, around *loop) (Metric, bool) {
	id := e.place.object
	info := in.objects[id]
	m := Metric{
		Update: Location{e.at.module, e.at.node}, Object: Location{e.at.module, e.target}, Made: Location{info.at.module, info.at.node}, Class: info.name,
		Loop: Location{inner.at.module, inner.at.node}, Around: Location{around.at.module, around.at.node}, Implicit: inner.implicit,
	}
	if m.Update.Module != in.main || m.Made.Module == nil || in.isHandedOn(id) {
		return Metric{}, false
	}
	if t := m.Update.Module.Tree; e.target == e.at.node { // metric(x)
		m.Object.Node = t.Child(e.at.node, syntax.FieldFunction)
	}
	values := in.metrics.computed[id]
	for _, v := range values {
		at := &Location{v.at.module, v.at.node}
		switch {
		case !around.encloses(v.loop):
		case !inner.encloses(v.loop):
			m.Computed, m.Running = at, false
		case inner.implicit && m.Computed == nil:
			m.Computed, m.Running = at, true
		}
	}
	return m, len(values) == 0 && isValue(in.main, m.Update.Node) || m.Computed != nil
}

// isValue reports whether somebody takes what a call gives.
func isValue(m *names.Module, call syntax.NodeID) bool {
	return m.Tree.Kind(m.Tree.Parent(call)) != syntax.ExpressionStatement
}

// isHandedOn reports whether a metric, or a collection with it, is given to
// something else, which may reset it, as the loggers of Lightning do.
func (in *interpreter) isHandedOn(id ObjectID) bool {
	t := in.main.Tree
	values := in.values[in.main]
	holds := func(v *Value) bool {
		return v != nil && slices.ContainsFunc(v.objects, func(o ObjectID) bool {
			return o == id || in.objects[o].kind == objectContainer && in.refersTo(object(o), id, 0)
		})
	}
	for n := syntax.NodeID(0); int(n) < t.Len(); n++ {
		switch t.Kind(n) {
		case syntax.Identifier, syntax.Attribute, syntax.Subscript:
			if call := callOfArgument(t, n); call >= 0 && holds(values.at(n)) && !in.isTaken(call) {
				return true
			}
		}
	}
	return false
}

// callOfArgument is the call that an expression is an argument of, or a part of
// one, NoNode when it is none.
func callOfArgument(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for p := t.Parent(n); p >= 0; n, p = p, t.Parent(p) {
		switch t.Kind(p) {
		case syntax.ArgumentList:
			return t.Parent(p)
		case syntax.KeywordArgument, syntax.Pair:
			if t.Role(n) != syntax.FieldValue {
				return syntax.NoNode
			}
		case syntax.List, syntax.Tuple, syntax.Dictionary, syntax.ListSplat, syntax.DictionarySplat, syntax.ParenthesizedExpression:
		default:
			return syntax.NoNode
		}
	}
	return syntax.NoNode
}

// isTaken reports whether a call makes a metric of several or goes over them, or is
// one of the program's own functions, which run.
func (in *interpreter) isTaken(call syntax.NodeID) bool {
	values := in.values[in.main]
	if callee := values.at(in.main.Tree.Child(call, syntax.FieldFunction)); callee != nil && in.callable(callee) {
		return true
	}
	v := values.at(call)
	if v == nil || len(v.objects) != 1 {
		return false
	}
	made := in.objects[v.objects[0]]
	return torch.CollectsMetrics(made.name) || made.kind == objectGenerator
}
