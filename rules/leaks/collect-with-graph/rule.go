// Package collect reports containers that take in values together with their
// autograd graphs.
package collect

import (
	_ "embed"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL102.
var Rule = &rules.Rule{Code: "GL102", Name: "collect-with-graph", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.Collection, p.Facts) {
		p.Report(retention.Finding(p, g, retention.Wording{Keeper: retention.Code(g.Target), Verb: "Store"}))
	}
}
