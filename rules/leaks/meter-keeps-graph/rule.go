// Package meter reports values that a call stores, together with their
// autograd graph, in an object that outlives the iteration: meters, metrics,
// histories.
package meter

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL103.
var Rule = &rules.Rule{Code: "GL103", Name: "meter-keeps-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, g := range p.Facts.Growths {
		if !g.ThroughCall {
			continue
		}
		kept := retention.Code(g.Kept)
		subject := fmt.Sprintf("this call keeps the autograd graph of every %s in %s", kept, retention.Code(g.Target))
		p.Report(retention.Finding(p, g, subject, fmt.Sprintf("Pass %s without its graph.", kept)))
	}
}
