// Package ineffective reports guards that switch off no recording where it
// looks as if they did.
package ineffective

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

// Rule is GL305.
var Rule = &rules.Rule{Code: "GL305", Name: "grad-guard-without-effect", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, g := range p.Facts.Guards {
		f := rules.Finding{
			Span: g.Guard.Span(), Severity: rules.Hint, Memory: rules.Peak, Keeps: rules.Graph, Confidence: rules.High,
			Evidence: []rules.Evidence{retention.Step(g.Guard, retention.Code(g.Guard)+" makes the guard")},
		}
		guard := retention.Code(g.Guard)
		switch g.Why {
		case flow.NeverEntered:
			f.Message = fmt.Sprintf("%s makes a context manager that nothing enters: grad mode stays as it is. "+
				"Use it in a `with` statement or as a decorator.", guard)
			f.Fixes = fixes.EnterGuard(g.Guard)
		case flow.CoroutineLater:
			f.Message = fmt.Sprintf("%s guards the call of this async function, which only makes a coroutine: its body runs unguarded. "+
				"Put `with %s:` in it, around code that does not await.", guard, g.Guard.Text())
			f.Evidence = append(f.Evidence, retention.LoopStep(g.Runs, "the body runs when it is awaited"))
		case flow.ConstructorOnly:
			f.Message = fmt.Sprintf("%s on a class guards the making of its instances, not their methods. Decorate the methods.", guard)
			f.Evidence = append(f.Evidence, retention.LoopStep(g.Runs, "the methods of this class run unguarded"))
		case flow.GeneratorLater:
			f.Span = g.Runs.Span()
			f.Message = fmt.Sprintf("%s makes a generator under %s that runs where it is consumed, unguarded: operations are recorded there. "+
				"Consume it under the guard, or guard the code in it.", retention.Code(g.Runs), guard)
			f.Evidence = append(f.Evidence, retention.Step(g.Runs, "this only makes the generator"))
		case flow.OtherThread:
			f.Span = g.Runs.Span()
			f.Message = fmt.Sprintf("%s under %s runs code in another thread, and grad mode is a thread's own: operations are recorded there. "+
				"Guard the code that the thread runs.", retention.Code(g.Runs), guard)
			f.Evidence = append(f.Evidence, retention.Step(g.Runs, "this runs code in another thread"))
			if g.Target != nil {
				f.Evidence = append(f.Evidence, retention.LoopStep(*g.Target, "this runs unguarded there"))
				f.Fixes = fixes.Guard([]flow.Region{{Location: *g.Target, Opaque: true}})
			}
		}
		p.Report(f)
	}
}
