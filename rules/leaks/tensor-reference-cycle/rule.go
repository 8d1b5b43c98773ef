// Package cycle reports what each iteration makes anew with tensors in it, and what
// refers to itself, so that it outlives its last use.
package cycle

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL502.
var Rule = &rules.Rule{Code: "GL502", Name: "tensor-reference-cycle", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, r := range p.Facts.References {
		p.Report(reference(r))
	}
	for _, g := range p.Facts.Packed {
		p.Report(packed(g))
	}
}

// reference is the finding of a cycle that the garbage collector frees.
func reference(r flow.ReferenceCycle) rules.Finding {
	f := rules.Finding{
		Span: retention.Header(r.Made), Severity: rules.Hint, Memory: rules.Device, Keeps: rules.Values, Confidence: rules.Medium,
		Evidence: []rules.Evidence{retention.LoopStep(r.Made, "refers to itself: "+strings.Join(way(r), " → "))},
	}
	holds := "the tensors of `" + strings.TrimPrefix(r.Holds, ".") + "`"
	switch {
	case r.Graph:
		f.Severity, f.Keeps = rules.Warning, rules.Graph
		holds = "the graph of `" + strings.TrimPrefix(r.Holds, ".") + "`"
	case r.Holds == "":
		holds = "a whole model"
	}
	each := "iteration of this loop"
	if r.Implicit {
		each = "call of this"
	}
	f.Evidence = append(f.Evidence, retention.LoopStep(r.Loop, "each "+each+" makes another one"))
	if r.Function {
		f.Message = fmt.Sprintf("`%s` refers to itself and holds %s: nothing frees them when the call is over, and until Python's garbage collector runs those of many calls stay. Define it outside and pass it what it needs, or delete it at the end.", r.Name, holds)
		return f
	}
	f.Message = fmt.Sprintf("`%s` refers to itself through `%s` and holds %s: nothing frees it when the last variable lets go, and until Python's garbage collector runs those of many iterations stay. Use `weakref.ref` on the way back, or cut it when done.", r.Name, strings.TrimPrefix(r.Path[len(r.Path)-1], "."), holds)
	return f
}

// way are the steps of a cycle.
func way(r flow.ReferenceCycle) []string {
	out := []string{"`" + r.Name + "`"}
	for _, p := range r.Path {
		out = append(out, "`"+p+"`")
	}
	return out
}

// packed is the finding of a hook that keeps saved tensors as they are.
func packed(g flow.PackedGraph) rules.Finding {
	f := rules.Finding{
		Span: g.Context.Span(), Severity: rules.Error, Memory: rules.Device, Keeps: rules.Graph, Confidence: rules.Medium,
		Message: "This hook packs saved tensors as they are: an operation that saves its own result, such as a ReLU, then refers to itself, in a way that no garbage collector sees. " +
			"No backward opens these cycles, so the graphs of all iterations stay in device memory. Detach what the hook returns.",
		Fixes: fixes.PackDetached(g.Given),
	}
	f.Evidence = append(retention.Made(g.Made),
		retention.LoopStep(g.Pack, "this gives back the very tensor that is saved"),
		retention.LoopStep(g.Loop, "each iteration of this loop leaves its graph"))
	return f
}
