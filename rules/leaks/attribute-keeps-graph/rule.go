// Package attribute reports attributes that keep the graph of the last iteration
// until the next one, though nothing that reads them needs it.
package attribute

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL302.
var Rule = &rules.Rule{Code: "GL302", Name: "attribute-keeps-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, v := range p.Facts.LastValues {
		each := "iteration"
		if v.Implicit {
			each = "call"
		}
		p.Report(rules.Finding{
			Span: v.Stored.Span(), Severity: rules.Hint, Memory: rules.Peak, Keeps: rules.Graph, Confidence: rules.Medium,
			Message: fmt.Sprintf("%s keeps the graph of %s until the next %s replaces it, and all that reads it in this file takes the value alone "+
				"(a higher peak, no growth). Store it without its graph.", retention.Code(v.Target), retention.Code(v.Stored), each),
			Evidence: []rules.Evidence{
				retention.Step(v.Target, "is kept here"),
				retention.LoopStep(v.Loop, fmt.Sprintf("each %s of this replaces it", each)),
				retention.Step(v.Read, "this needs no graph"),
			},
			Fixes: fixes.DetachStored(v.Stored),
		})
	}
}
