// Package recovery reports handlers that compute or keep exceptions while these
// hold the tensors of what failed.
package recovery

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

// Rule is GL501.
var Rule = &rules.Rule{Code: "GL501", Name: "oom-recovery-in-except", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, r := range p.Facts.Recoveries {
		p.Report(recovers(r))
	}
	for g := range retention.Of(retention.Failure, p.Facts) {
		p.Report(collected(p, g))
	}
	for _, k := range p.Facts.Exceptions {
		p.Report(kept(k))
	}
}

// recovers is the finding of a recovery in a handler.
func recovers(r flow.Recovery) rules.Finding {
	f := rules.Finding{
		Span: r.At.Span(), Severity: rules.Warning, Memory: rules.Device, Keeps: rules.Graph, Confidence: rules.Medium,
		Fixes: fixes.LeaveHandler(r),
		Evidence: []rules.Evidence{
			retention.LoopStep(r.Try, "what this computed before it failed stays as long as the exception is handled"),
			retention.Step(r.Condition, "memory could not be allocated"),
			retention.Step(r.At, "this needs memory again"),
		},
	}
	what := "This computes"
	if r.Again {
		f.Confidence = rules.High
		what = "This tries again"
	}
	f.Message = what + " while the exception is still being handled: its traceback holds the frames that failed, and their tensors stay in device memory until the handler ends. Set a flag here and recover after the try statement."
	return f
}

// collected is the finding of exceptions that a loop collects.
func collected(p *rules.Pass, g flow.Growth) rules.Finding {
	f := retention.Finding(p, g, retention.Wording{})
	f.Fixes = fixes.KeepText(g)
	f.Message = fmt.Sprintf("%s keeps every exception, and with its traceback the frames that failed and their tensors, in device memory. Store `str(%s)` instead.",
		retention.Code(g.Target), g.Kept.Text())
	if !g.Activations {
		f.Severity, f.Memory, f.Keeps = rules.Error, rules.Device, rules.Graph
	}
	if k := g.Kept.Kind(); k != syntax.Identifier {
		f.Message = fmt.Sprintf("%s keeps every exception, and with its traceback the frames that failed and their tensors, in device memory. Store its text instead.", retention.Code(g.Target))
	}
	return f
}

// kept is the finding of an exception in a variable of the function that caught
// it.
func kept(k flow.KeptException) rules.Finding {
	f := rules.Finding{
		Span: k.Store.Span(), Severity: rules.Warning, Memory: rules.Device, Keeps: rules.Graph, Confidence: rules.Medium,
		Evidence: append(retention.Made(k.Made),
			retention.Step(k.Store, fmt.Sprintf("the exception holds this function's frame, and the frame `%s`", k.Variable)),
			retention.LoopStep(k.Loop, "each iteration of this loop calls the function")),
	}
	f.Message = fmt.Sprintf("`%s` keeps the exception in the frame that its traceback refers to: a cycle. Until Python's garbage collector runs, the tensors of each failure stay in device memory. Keep `str(…)` of it, or set the variable to None at the end.", k.Variable)
	return f
}
