// Package cleanup reports calls that free what nothing refers to, where something
// still does.
package cleanup

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

// Rule is GL503.
var Rule = &rules.Rule{Code: "GL503", Name: "cleanup-without-effect", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, c := range p.Facts.Cleanups {
		switch {
		case len(c.Held) > 0:
			p.Report(held(c, c.Held[0]))
		case c.Late.Module != nil:
			p.Report(late(c))
		default:
			if g, ok := growing(p.Facts.Growths, c); ok {
				p.Report(kept(c, g))
			}
		}
	}
}

func finding(c flow.Cleanup) rules.Finding {
	return rules.Finding{Span: c.Call.Span(), Severity: rules.Hint, Memory: rules.Device, Keeps: rules.Values, Confidence: rules.High}
}

// held is the finding of a cleanup after a del that left another reference.
func held(c flow.Cleanup, h flow.Held) rules.Finding {
	f := finding(c)
	f.Evidence = []rules.Evidence{retention.Step(h.Deleted, "only this name is gone")}
	name := retention.Code(h.Deleted)
	if h.Caller {
		f.Evidence = append(f.Evidence, retention.Step(h.By, "the caller still refers to it here"))
		f.Message = fmt.Sprintf("This frees nothing of %s: the caller still refers to it as `%s`, and `del` removes a name of this function only. Delete it in the caller, and clean up there.", name, h.Name)
		return f
	}
	refers := "to it"
	if h.Parameters || h.Name != "" && h.By.Module == nil {
		refers = "to what it holds"
	}
	if h.By.Module != nil {
		f.Evidence = append(f.Evidence, retention.Step(h.By, fmt.Sprintf("`%s` still refers %s", h.Name, refers)))
	}
	f.Message = fmt.Sprintf("This frees nothing of %s: `%s` still refers %s. Delete that as well, before the cleanup.", name, h.Name, refers)
	return f
}

// late is the finding of a cleanup before the del that it is for.
func late(c flow.Cleanup) rules.Finding {
	f := finding(c)
	f.Evidence = []rules.Evidence{retention.Step(c.Late, "this makes free what the call before could have released")}
	f.Message = fmt.Sprintf("This comes before %s: what that frees stays reserved by PyTorch. Clean up after it.", retention.Code(c.Late))
	f.Fixes = fixes.CleanAfter(c)
	return f
}

// growing is a growth in a loop around a cleanup that keeps activations.
func growing(growths []flow.Growth, c flow.Cleanup) (flow.Growth, bool) {
	i := slices.IndexFunc(growths, func(g flow.Growth) bool { return g.Activations && slices.Contains(c.Loops, g.Loop) })
	if i < 0 {
		return flow.Growth{}, false
	}
	return growths[i], true
}

// kept is the finding of a cleanup in a loop that keeps graphs.
func kept(c flow.Cleanup, g flow.Growth) rules.Finding {
	f := finding(c)
	f.Evidence = []rules.Evidence{
		retention.Step(g.Store, fmt.Sprintf("%s refers to the graphs of all iterations", retention.Code(g.Target))),
		retention.LoopStep(g.Loop, "in each iteration of this loop the call finds nothing of them to free"),
	}
	f.Message = fmt.Sprintf("This does not help against what %s keeps: it frees what nothing refers to, and the graphs of all iterations are referred to. Store values without their graphs instead.", retention.Code(g.Target))
	return f
}
