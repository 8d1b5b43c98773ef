// Package hook reports hooks that keep tensors: what they store, what they refer
// to, and those that are never removed.
package hook

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL404.
var Rule = &rules.Rule{Code: "GL404", Name: "hook-keeps-tensors", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.Hook, p.Facts) {
		f := retention.Finding(p, g, retention.Wording{Keeper: retention.Code(g.Target), Verb: "Store"})
		f.Evidence = append(f.Evidence, retention.Step(g.Hook, "the hook that stores it is registered here"))
		p.Report(f)
	}
	for _, c := range p.Facts.Cycles {
		p.Report(cycle(c))
	}
	for _, h := range p.Facts.Holders {
		p.Report(holder(h))
	}
	for _, l := range p.Facts.Hooks {
		p.Report(lasting(l))
	}
}

// cycle is the finding of a hook that refers to its tensor.
func cycle(c flow.HookCycle) rules.Finding {
	f := rules.Finding{
		Span: c.Call.Span(), Severity: rules.Error, Memory: rules.Device, Keeps: rules.Graph, Confidence: rules.Medium,
		Fixes: fixes.CaptureDetached(c),
	}
	if c.Sure == flow.Certain {
		f.Confidence = rules.High
	}
	tensor := retention.Code(c.Tensor)
	how := fmt.Sprintf("it refers to `%s`, which was computed from %s", c.Captured, tensor)
	if c.Itself {
		how = "it refers to " + tensor + " itself"
	}
	f.Evidence = append(f.Evidence, retention.LoopStep(c.Function, "this hook refers to `"+c.Captured+"`"), retention.Step(c.Call, "the graph of "+tensor+" holds the hook from here on"))
	times := "each call leaves its graph"
	if c.Loop.Module != nil {
		f.Evidence = append(f.Evidence, retention.LoopStep(c.Loop, "each iteration of this loop makes another cycle"))
		times = "each iteration leaves its graph"
	} else {
		f.Severity, f.Memory = rules.Hint, rules.Peak
	}
	f.Message = fmt.Sprintf("This hook on %s closes a cycle that no garbage collector sees: %s, so %s in device memory for good. Let the hook use a detached copy, or remove it after the backward.", tensor, how, times)
	return f
}

// holder is the finding of an object that a hook on a tensor refers to, and that
// keeps what another hook is given.
func holder(h flow.HookedObject) rules.Finding {
	target := retention.Code(h.Target)
	return rules.Finding{
		Span: h.Stored.Span(), Severity: rules.Hint, Memory: rules.Peak, Keeps: rules.Graph, Confidence: rules.Medium,
		Message: fmt.Sprintf("%s keeps what the backward pass gave until the next one, and a hook on a tensor refers to its object by `%s`: "+
			"a backward with `create_graph=True` makes that a cycle which no garbage collector sees. Clear it once it was read, or let the hook refer to the object weakly.", target, h.Captured),
		Evidence: []rules.Evidence{
			retention.Step(h.Registered, "the hook that stores it is registered here"),
			retention.Step(h.Holds, "the graph holds this hook, which refers to `"+h.Captured+"`"),
		},
	}
}

// lasting is the finding of a hook that is never removed.
func lasting(l flow.LastingHook) rules.Finding {
	f := rules.Finding{
		Span: l.Call.Span(), Severity: rules.Hint, Memory: rules.Host, Keeps: rules.Values, Confidence: rules.High,
		Fixes: fixes.RemoveHook(l),
	}
	each := "iteration of this loop"
	if l.Repeats.Kind() == syntax.FunctionDefinition {
		each, f.Confidence = "call of this function", rules.Medium
	}
	f.Evidence = append(f.Evidence, retention.Step(l.Call, "nobody keeps the handle that this returns"), retention.LoopStep(l.Repeats, "each "+each+" registers another hook"))
	if l.Runs.Module != nil {
		f.Evidence = append(f.Evidence, retention.Step(l.Runs, "all of them run here"))
	}
	keeps := "the hooks pile up and all of them run"
	if l.Captured != "" {
		f.Severity, f.Memory = rules.Warning, rules.Device
		keeps = fmt.Sprintf("each hook keeps its own `%s` with the tensors in it, and all of them run", l.Captured)
	}
	f.Message = fmt.Sprintf("This hook is registered in each %s and never removed: %s. Register it once, or keep the handle and remove it.", each, keeps)
	return f
}
