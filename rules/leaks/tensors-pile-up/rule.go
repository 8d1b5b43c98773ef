// Package pileup reports collections that keep tensors without a graph on the
// device, from the first iteration of a loop to the last.
package pileup

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

// Rule is GL201.
var Rule = &rules.Rule{Code: "GL201", Name: "tensors-pile-up", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, pile := range p.Facts.Piles {
		tensors := retention.OnDevice(pile)
		if retention.PileKindOf(pile) != retention.UntilTheEnd || len(tensors) == 0 {
			continue
		}
		f := retention.PileFinding(pile, tensors)
		f.Memory = rules.Device
		f.Message = fmt.Sprintf("%s keeps every %s in device memory until the loop is over. Store %s instead.",
			retention.Code(pile.Target), retention.Code(pile.Kept), inHostMemory(tensors))
		f.Fixes = fixes.MoveToHost(p, pile, tensors)
		p.Report(f)
	}
}

// inHostMemory is what to store instead.
func inHostMemory(tensors []flow.Piled) string {
	if len(tensors) == 1 && tensors[0].Alone {
		return fixes.Appended(tensors[0].Location, ".cpu()")
	}
	return "it in host memory, with `.cpu()`,"
}
