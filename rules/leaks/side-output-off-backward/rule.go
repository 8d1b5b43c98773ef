// Package sideoutput reports values that are kept with a graph which the
// backward of the same iteration does not run through.
package sideoutput

import (
	_ "embed"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL105.
var Rule = &rules.Rule{Code: "GL105", Name: "side-output-off-backward", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for g := range retention.Of(retention.SideOutput, p.Facts) {
		w := retention.Wording{Keeper: retention.Code(g.Target), Verb: "Store"}
		if g.Adds {
			w.Verb = "Add"
		}
		p.Report(retention.Finding(p, g, w))
	}
}
