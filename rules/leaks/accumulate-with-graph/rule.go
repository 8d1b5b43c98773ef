// Package accumulate reports sums and averages that take in a value together
// with its autograd graph.
package accumulate

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL101.
var Rule = &rules.Rule{Code: "GL101", Name: "accumulate-with-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, g := range p.Facts.Growths {
		if g.Collects || g.ThroughCall {
			continue
		}
		kept := retention.Code(g.Kept)
		subject := fmt.Sprintf("%s keeps the autograd graph of every %s", retention.Code(g.Target), kept)
		p.Report(retention.Finding(p, g, subject, fmt.Sprintf("Add %s without its graph.", kept)))
	}
}
