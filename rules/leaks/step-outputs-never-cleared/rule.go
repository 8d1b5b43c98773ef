// Package outputs reports collections of what each step gave that are read once
// an epoch and never emptied.
package outputs

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

// Rule is GL202.
var Rule = &rules.Rule{Code: "GL202", Name: "step-outputs-never-cleared", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, pile := range p.Facts.Piles {
		if retention.PileKindOf(pile) != retention.NeverCleared {
			continue
		}
		f, ok := retention.AcrossEpochs(pile)
		if !ok {
			continue
		}
		f.Message = fmt.Sprintf("%s keeps every %s of %s: nothing empties it after %s. Clear it there.",
			retention.Code(pile.Target), retention.Code(pile.Kept), retention.AllRounds(pile), reader(pile))
		f.Fixes = fixes.ClearAfterReading(pile)
		p.Report(f)
	}
}

// reader says what reads a pile once an epoch: a method by its name, else a line.
func reader(pile flow.Pile) string {
	read := pile.Readings[0]
	if function := fixes.FunctionAround(read); function.Node >= 0 && function != fixes.FunctionAround(*pile.Around) {
		return retention.Code(fixes.NameOf(function)) + " has read it"
	}
	return "it is read"
}
