// Package view reports collections of small views, each of which keeps the
// storage of the whole tensor that it is a part of.
package view

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL203.
var Rule = &rules.Rule{Code: "GL203", Name: "view-keeps-storage", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, pile := range p.Facts.Piles {
		views := viewsOf(p.Facts, pile)
		if retention.PileKindOf(pile) != retention.OfViews || len(views) == 0 {
			continue
		}
		f := retention.PileFinding(pile, views)
		f.Keeps = rules.Storage
		f.Message = message(pile, views)
		onDevice := !slices.ContainsFunc(views, func(v flow.Piled) bool { return v.Device != torch.OnAccelerator })
		if onDevice {
			f.Memory = rules.Device
		} else {
			f.Severity = rules.Hint
		}
		f.Fixes = fixes.CopyViews(p, pile, views, onDevice)
		p.Report(f)
	}
}

// viewsOf are the tensors of a pile that are views of something which nothing
// else in the file keeps as a whole.
func viewsOf(facts *flow.Facts, pile flow.Pile) []flow.Piled {
	kept := func(whole flow.Location) bool {
		return slices.ContainsFunc(facts.Piles, func(other flow.Pile) bool {
			return slices.ContainsFunc(other.Tensors, func(t flow.Piled) bool { return !t.Part && t.Module == whole.Module && t.Text() == whole.Text() })
		})
	}
	return slices.DeleteFunc(slices.Clone(pile.Tensors), func(t flow.Piled) bool { return !t.Part || t.Whole == nil || kept(*t.Whole) })
}

func message(pile flow.Pile, views []flow.Piled) string {
	var parts []string
	for _, v := range views {
		parts = append(parts, retention.Code(v.Location))
	}
	last := len(parts) - 1
	if last == 0 {
		return fmt.Sprintf("%s keeps a view in each entry, and with it all of %s that %s is a part of. Store %s instead.",
			retention.Code(pile.Target), retention.Code(*views[0].Whole), parts[0], fixes.Appended(views[0].Location, ".clone()"))
	}
	return fmt.Sprintf("%s keeps views in each entry, and with them all of the tensors that %s and %s are parts of. Store copies, with `.clone()`, instead.",
		retention.Code(pile.Target), strings.Join(parts[:last], ", "), parts[last])
}
