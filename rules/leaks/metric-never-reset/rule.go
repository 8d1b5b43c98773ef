// Package metric reports objects that keep what each step gives them, and that
// nothing resets between one epoch and the next.
package metric

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL206.
var Rule = &rules.Rule{Code: "GL206", Name: "metric-never-reset", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, m := range p.Facts.Metrics {
		p.Report(ofLibrary(m))
	}
	reported := map[flow.Location]bool{}
	for _, severity := range []rules.Severity{rules.Warning, rules.Hint} { // of several that a call adds to, the largest
		for _, pile := range p.Facts.Piles {
			if retention.PileKindOf(pile) != retention.NeverReset || reported[*pile.Call] {
				continue
			}
			if f, ok := retention.AcrossEpochs(pile); ok && f.Severity == severity {
				reported[*pile.Call] = true
				p.Report(own(pile, f))
			}
		}
	}
}

// ofLibrary is the finding of a metric of TorchMetrics or Ignite.
func ofLibrary(m flow.Metric) rules.Finding {
	f := rules.Finding{
		Span: m.Update.Span(), Severity: rules.Warning, Memory: rules.Device, Keeps: rules.Values, Confidence: rules.High,
		Fixes: fixes.ResetMetric(m),
	}
	class := m.Class[strings.LastIndexByte(m.Class, '.')+1:]
	if m.Made.Kind() == syntax.Call && strings.Contains(m.Made.Text(), class) {
		f.Evidence = append(f.Evidence, retention.Step(m.Made, "this keeps what it is given: predictions and targets"))
	}
	each := "each iteration of this loop adds to it"
	if m.Implicit {
		each = "each call of this adds to it"
	}
	f.Evidence = append(f.Evidence, retention.Step(m.Update, retention.Code(m.Update)+" gives it those of a step"), retention.LoopStep(m.Loop, each))
	if torch.KeepsOnHost(m.Class) {
		f.Memory = rules.Host
	}
	rounds := "all rounds of the outer loop"
	if m.Implicit {
		rounds = "all epochs"
	}
	if m.Computed == nil {
		f.Message = fmt.Sprintf("Each call of %s (`%s`) also keeps its arguments, in %s, for a `compute` that never comes. Reset it, or use the function of that name in `torchmetrics.functional`.",
			retention.Code(m.Object), class, rounds)
		return f
	}
	f.Message = fmt.Sprintf("%s (`%s`) keeps the predictions and targets of %s: nothing resets it after %s. Call %s there.",
		retention.Code(m.Object), class, rounds, retention.Code(*m.Computed), fixes.Appended(m.Object, ".reset()"))
	if m.Running {
		f.Message = fmt.Sprintf("%s (`%s`) keeps the predictions and targets of %s: nothing resets it, and %s covers them all. Call %s once an epoch.",
			retention.Code(m.Object), class, rounds, retention.Code(*m.Computed), fixes.Appended(m.Object, ".reset()"))
	}
	f.Evidence = append(f.Evidence, retention.Step(*m.Computed, "its value is computed here, of all that it was given so far"))
	return f
}

// own is the finding of an object of the program.
func own(pile flow.Pile, f rules.Finding) rules.Finding {
	f.Span = argument(pile).Span()
	method := fixes.NameOf(*pile.Emptied)
	called := *pile.Call
	if called.Kind() == syntax.Call {
		called.Node = called.Module.Tree.Child(called.Node, syntax.FieldFunction)
	}
	f.Message = fmt.Sprintf("What %s is given stays through %s: nothing calls %s in between. Call it where the value was read.",
		retention.Code(called), retention.AllRounds(pile), retention.Code(method))
	f.Evidence = append(f.Evidence, retention.Step(method, "this would empty it"))
	f.Fixes = fixes.ResetObject(pile)
	return f
}

// argument is the argument of a pile's call that a tensor comes from, or the first
// one, or the call if it has none.
func argument(p flow.Pile) flow.Location {
	call := *p.Call
	t := call.Module.Tree
	first := call
	for n := range t.Children(t.Child(call.Node, syntax.FieldArguments)) {
		if t.Kind(n) == syntax.KeywordArgument {
			n = t.Child(n, syntax.FieldValue)
		}
		at := flow.Location{Module: call.Module, Node: n}
		if slices.ContainsFunc(p.Tensors, func(piled flow.Piled) bool { return piled.From != nil && within(*piled.From, at) }) {
			return at
		}
		if first == call {
			first = at
		}
	}
	return first
}

func within(inner, outer flow.Location) bool {
	in, out := inner.Span(), outer.Span()
	return inner.Module == outer.Module && out.Start <= in.Start && in.End <= out.End
}
