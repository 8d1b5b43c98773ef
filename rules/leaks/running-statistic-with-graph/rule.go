// Package statistic reports running averages, and what modules keep of what
// goes through them, that take in a value together with its autograd graph.
package statistic

import (
	_ "embed"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL104.
var Rule = &rules.Rule{Code: "GL104", Name: "running-statistic-with-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.Statistic, p.Facts) {
		p.Report(retention.Finding(p, g, retention.Wording{Keeper: retention.Code(g.Target), Verb: "Use"}))
	}
}
