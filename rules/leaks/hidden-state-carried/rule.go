// Package hiddenstate reports recurrent states that are handed from one
// iteration to the next together with their autograd graph.
package hiddenstate

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL405.
var Rule = &rules.Rule{Code: "GL405", Name: "hidden-state-carried", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.State, p.Facts) {
		f := retention.Finding(p, g, retention.Wording{Keeper: retention.Code(g.Target), Advice: "Detach it before the next iteration uses it"})
		f.Fixes = fixes.DetachState(p, g)
		p.Report(f)
	}
	for _, r := range p.Facts.Reuses {
		p.Report(raises(p, r))
	}
}

// raises is the finding of a state whose graph the next iteration's backward
// cannot run through.
func raises(p *rules.Pass, r flow.Reuse) rules.Finding {
	why := "which its own backward has freed"
	if r.Retained {
		why = "which needs parameters that the optimizer has changed since"
	}
	return rules.Finding{
		Span: r.Kept.Span(), Severity: rules.Hint, Memory: rules.Peak, Keeps: rules.Graph, Confidence: rules.High,
		Message: fmt.Sprintf("%s hands the graph of one iteration to the next, %s: from the second one on, %s raises a RuntimeError. Detach it before the next iteration uses it.",
			retention.Code(r.Target), why, retention.Code(r.Backward)),
		Evidence: []rules.Evidence{
			retention.Step(r.Store, "the state is kept here"),
			retention.Step(r.Backward, "this backward also runs through the graph of the iteration before"),
			retention.LoopStep(r.Loop, "in this loop"),
		},
		Fixes: fixes.TruncateState(p, r),
	}
}
