// Package creategraph reports backward passes that leave a graph in the
// gradients of parameters.
package creategraph

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

// Rule is GL402.
var Rule = &rules.Rule{Code: "GL402", Name: "create-graph-backward", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, g := range p.Facts.Gradients {
		p.Report(finding(g))
	}
}

func finding(g flow.GradientGraph) rules.Finding {
	f := rules.Finding{
		Span: g.Argument.Span(), Severity: rules.Error, Memory: rules.Device, Keeps: rules.Graph,
		Confidence: rules.Medium, Fixes: append(fixes.AskForGradients(g), fixes.ResetGradients(g)...),
	}
	if g.Sure == flow.Certain {
		f.Confidence = rules.High
	}
	f.Evidence = append(f.Evidence, retention.Step(g.Call, "this backward stores gradients that have a graph of their own"))
	const instead = "Use `torch.autograd.grad(…, create_graph=True)`, which leaves `.grad` alone"
	argument := retention.Code(g.Argument)
	switch g.Growth {
	case flow.GradientsAdded:
		f.Evidence = append(f.Evidence, retention.LoopStep(g.Loop, "no iteration of this loop resets the gradients"))
		f.Message = fmt.Sprintf("With %s each `.grad` has a graph, and nothing in this loop resets the gradients: each iteration adds its whole graph to them, in device memory. %s, or reset the gradients in each iteration.", argument, instead)
	case flow.ModelsDropped:
		f.Evidence = append(f.Evidence, retention.LoopStep(g.Loop, "each iteration of this loop makes a model and drops it with its gradients"))
		f.Message = fmt.Sprintf("With %s parameters and their `.grad` refer to each other, and no garbage collector frees that: the model that each iteration makes stays in device memory with its graph. %s, or set `.grad` to None after use.", argument, instead)
	default:
		f.Severity, f.Memory = rules.Hint, rules.Peak
		until := "the gradients are reset"
		if g.Reset.Module != nil {
			f.Evidence = append(f.Evidence, retention.Step(g.Reset, "this resets the gradients, and frees their graphs"))
			until = retention.Code(g.Reset)
		}
		f.Message = fmt.Sprintf("With %s each `.grad` keeps its own graph and that of the loss alive until %s: the peak is higher. %s, or set `.grad` to None after use.", argument, until, instead)
	}
	return f
}
