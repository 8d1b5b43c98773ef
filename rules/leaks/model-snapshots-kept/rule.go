// Package snapshot reports collections that take in a copy of a model's
// parameters from every iteration.
package snapshot

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL205.
var Rule = &rules.Rule{Code: "GL205", Name: "model-snapshots-kept", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, pile := range p.Facts.Piles {
		if retention.PileKindOf(pile) != retention.Snapshots {
			continue
		}
		f := retention.PileFinding(pile, pile.Tensors)
		f.Severity, f.Confidence = rules.Hint, rules.High
		f.Message = fmt.Sprintf("%s keeps a copy of all parameters of a model for every iteration. Save them to a file, or keep only the best.", retention.Code(pile.Target))
		if slices.ContainsFunc(pile.Tensors, func(t flow.Piled) bool { return t.Device == torch.OnAccelerator }) {
			f.Severity, f.Memory = rules.Warning, rules.Device
			f.Message = fmt.Sprintf("%s keeps a copy of all parameters of a model in device memory for every iteration. Save them to a file, or keep them in host memory.", retention.Code(pile.Target))
			f.Fixes = fixes.CopyToHost(pile)
		}
		p.Report(f)
	}
}
