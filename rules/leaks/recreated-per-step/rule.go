// Package recreated reports what each step makes anew and that is meant to be made
// once: optimizers, traces, and iterators of loaders with workers.
package recreated

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL504.
var Rule = &rules.Rule{Code: "GL504", Name: "recreated-per-step", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, r := range p.Facts.Remade {
		f := rules.Finding{
			Span: r.Made.Span(), Severity: rules.Hint, Memory: rules.Host, Keeps: rules.Values, Confidence: rules.High,
			Evidence: []rules.Evidence{retention.LoopStep(r.Loop, "each iteration of this loop makes another one")},
		}
		each := "Each iteration"
		if r.Sometimes {
			each = "Each time it gets here, the loop"
			f.Evidence[0].Message = "some iterations of this loop make another one"
		}
		of := retention.Code(r.Of)
		switch r.Kind {
		case flow.RemadeOptimizer:
			optimizer(&f, r, each)
		case flow.RemadeTrace:
			f.Severity = rules.Warning
			f.Message = fmt.Sprintf("%s traces %s again, and each trace leaves its graph in host memory for good, also when nothing refers to what was traced. Trace once, before the loop.", each, of)
		case flow.RemadeIterator:
			f.Message = fmt.Sprintf("%s starts the workers of %s anew for one batch, and they load others that nobody takes: nothing grows, but it is slow, and the old workers may still be there. Make one iterator before the loop, or loop over the loader.", each, of)
		}
		p.Report(f)
	}
}

// optimizer tells about one that forgets.
func optimizer(f *rules.Finding, r flow.Remade, each string) {
	f.Evidence = append(f.Evidence, retention.Step(r.Used, "it takes one step, and goes"))
	f.Message = fmt.Sprintf("%s makes a new `%s`, which takes one step: what it keeps of earlier gradients, such as their averages, is gone each time. Make it once, before the loop.", each, r.Name)
	if r.Scheduler.Module != nil {
		f.Severity = rules.Warning
		f.Evidence = append(f.Evidence, retention.Step(r.Scheduler, "this scheduler and the optimizer refer to each other"))
		f.Message = fmt.Sprintf("%s makes a new `%s` and a scheduler for it, which take one step: what they keep of earlier steps is gone each time, and their objects stay in host memory until Python's garbage collector runs. Make them once, before the loop.", each, r.Name)
	}
}
