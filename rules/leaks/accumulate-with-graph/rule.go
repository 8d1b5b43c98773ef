// Package accumulate reports sums that take in a value together
// with its autograd graph.
package accumulate

import (
	_ "embed"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL101.
var Rule = &rules.Rule{Code: "GL101", Name: "accumulate-with-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.Sum, p.Facts) {
		w := retention.Wording{Keeper: retention.Code(g.Target), Verb: "Add"}
		switch g.Target.Kind() {
		case syntax.Call, syntax.GeneratorExpression: // sum(…)
			w.Keeper = "This sum"
		case syntax.Subscript:
			if !g.Adds {
				w.Verb = "Store"
			}
		}
		p.Report(retention.Finding(p, g, w))
	}
}
