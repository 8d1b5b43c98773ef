// Package evaluation reports code that evaluates a model and records a graph
// that nothing uses.
package evaluation

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

// Rule is GL301.
var Rule = &rules.Rule{Code: "GL301", Name: "evaluation-without-no-grad", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, u := range p.Facts.Unguarded {
		f := rules.Finding{
			Span:     u.Call.Span(),
			Severity: rules.Hint,
			Memory:   rules.Peak,
			Keeps:    rules.Graph,
			Message: fmt.Sprintf("%s records an autograd graph that no backward runs on: the model is in evaluation mode, and the activations saved for it "+
				"raise the peak memory of each iteration. Run it under `torch.no_grad()`.", retention.Code(u.Call)),
			Confidence: rules.Medium,
			Evidence: []rules.Evidence{
				retention.Step(u.Evaluation, retention.Code(u.Evaluation)+" puts the model in evaluation mode, which records graphs all the same"),
				retention.LoopStep(u.Loop, "each iteration of this loop records one graph"),
			},
			Fixes: fixes.GuardEvaluation(u),
		}
		if u.Sure == flow.Certain {
			f.Confidence = rules.High
		}
		p.Report(f)
	}
}
