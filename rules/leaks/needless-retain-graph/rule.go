// Package retain reports backward passes that are asked to keep a graph for
// which no other backward asks.
package retain

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

// Rule is GL401.
var Rule = &rules.Rule{Code: "GL401", Name: "needless-retain-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, r := range p.Facts.Retentions {
		p.Report(finding(r))
	}
}

func finding(r flow.Retention) rules.Finding {
	f := rules.Finding{
		Span: r.Argument.Span(), Severity: rules.Hint, Memory: rules.Peak, Keeps: rules.Graph,
		Confidence: rules.Medium, Evidence: retention.Made(r.Made),
	}
	if r.Seen {
		f.Confidence = rules.High
	}
	add := func(l flow.Location, message string) {
		f.Evidence = append(f.Evidence, rules.Evidence{Path: l.Module.Path, Span: l.Span(), Message: message})
	}
	argument := retention.Code(r.Argument)
	if len(r.Collected) > 0 {
		for _, l := range r.Collected {
			add(l, "this graph was recorded before the loop and is run through in each iteration of it")
		}
		add(r.Call, "an optimizer steps after this backward")
		f.Message = fmt.Sprintf("%s is needed only because this backward runs through what was recorded before the loop (%s), again and again while the optimizer changes the parameters. Compute that anew in each iteration, or detach it where it is stored.",
			argument, retention.Code(r.Collected[0]))
		return f
	}
	f.Fixes = fixes.DropRetention(r)
	add(r.Call, "no other backward runs through this graph")
	f.Message = fmt.Sprintf("No other backward runs through this graph: %s only keeps its activations until the variables that refer to it change, so the peak is higher. Leave the argument out.", argument)
	return f
}
