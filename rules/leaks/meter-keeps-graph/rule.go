// Package meter reports values that a call stores, together with their
// autograd graph, in an object that outlives the iteration: meters, metrics,
// histories.
package meter

import (
	_ "embed"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL103.
var Rule = &rules.Rule{Code: "GL103", Name: "meter-keeps-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.Meter, p.Facts) {
		p.Report(retention.Finding(p, g, retention.Wording{Keeper: "This call", Verb: "Pass"}))
	}
}
