// Package ctxattribute reports custom autograd functions that keep tensors as
// attributes of their context.
package ctxattribute

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL403.
var Rule = &rules.Rule{Code: "GL403", Name: "ctx-attribute", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, a := range p.Facts.Contexts {
		p.Report(finding(p, a))
	}
}

func finding(p *rules.Pass, a flow.ContextAttribute) rules.Finding {
	f := rules.Finding{
		Span: a.Target.Span(), Severity: rules.Hint, Memory: rules.Peak, Keeps: rules.Graph,
		Confidence: rules.High, Fixes: fixes.SaveForBackward(a, p.Facts.Contexts),
	}
	worst := slices.MaxFunc(a.Tensors, func(x, y flow.ContextTensor) int { return int(x.Role) - int(y.Role) })
	for _, t := range a.Tensors {
		f.Evidence = append(f.Evidence, retention.Step(t.Location, retention.Code(t.Location)+" is "+roles[t.Role]))
	}
	attribute, tensor := retention.Code(a.Target), retention.Code(worst.Location)
	advice := fmt.Sprintf("Pass it to `%s.save_for_backward` instead", context(a))
	switch {
	case worst.Role == flow.OutputTensor && !a.Cleared:
		f.Severity, f.Memory = rules.Warning, rules.Device
		f.Message = fmt.Sprintf("%s keeps the output %s, and the output refers to the node that has the attribute: a cycle. Until Python's garbage collector runs, the tensors of each call stay in device memory. %s.", attribute, tensor, advice)
	case worst.Role == flow.OutputTensor:
		f.Message = fmt.Sprintf("%s keeps the output %s, and the output refers to the node that has the attribute: a cycle until a backward clears it. %s.", attribute, tensor, advice)
	case worst.Role == flow.SharedTensor:
		f.Confidence = rules.Medium
		f.Message = fmt.Sprintf("%s keeps %s, which may share the memory of the output: no backward frees it, and it may keep the output in a cycle. %s.", attribute, tensor, advice)
	default:
		f.Message = fmt.Sprintf("%s keeps %s as long as anything refers to the graph: no backward frees it. %s.", attribute, tensor, advice)
	}
	return f
}

// roles say what a tensor is to the function.
var roles = map[flow.ContextRole]string{
	flow.InputTensor: "an input", flow.IntermediateTensor: "computed in forward", flow.SharedTensor: "made from an output", flow.OutputTensor: "an output",
}

// context is what the function calls its context.
func context(a flow.ContextAttribute) string {
	t := a.Target.Module.Tree
	return t.Text(t.First(a.Target.Node))
}
