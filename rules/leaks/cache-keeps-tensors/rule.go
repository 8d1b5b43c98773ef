// Package cache reports functions that remember their results by tensors, or
// together with the objects that hold them.
package cache

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL204.
var Rule = &rules.Rule{Code: "GL204", Name: "cache-keeps-tensors", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, c := range p.Facts.Caches {
		f := rules.Finding{
			Span: c.Decorator.Span(), Severity: severity(c), Memory: rules.Host, Keeps: rules.Values, Confidence: rules.Medium,
			Message:  message(c),
			Evidence: []rules.Evidence{retention.LoopStep(c.Function, fmt.Sprintf("%s remembers its results", retention.Code(fixes.NameOf(c.Function))))},
			Fixes:    fixes.Uncache(c),
		}
		if c.Device == torch.OnAccelerator || f.Severity == rules.Error {
			f.Memory = rules.Device
		}
		if f.Severity == rules.Error {
			f.Keeps = rules.Graph
		}
		for _, t := range c.Tensors {
			f.Evidence = append(f.Evidence, retention.Step(t, retention.Code(t)+" is a tensor"))
		}
		p.Report(f)
	}
	for _, pile := range p.Facts.Piles {
		if retention.PileKindOf(pile) == retention.Memo {
			p.Report(ownCache(pile))
		}
	}
}

// ownCache is the finding of a dict that the program itself uses as a cache.
func ownCache(pile flow.Pile) rules.Finding {
	f := retention.PileFinding(pile, pile.Tensors)
	f.Confidence = rules.Medium
	if len(retention.OnDevice(pile)) > 0 {
		f.Memory = rules.Device
	} else {
		f.Severity = rules.Hint
	}
	f.Message = fmt.Sprintf("%s is looked up by a tensor, which equals only itself: no new one finds an entry, and every %s stays. Use a number of the sample as the key, or remember nothing.",
		retention.Code(pile.Target), retention.Code(pile.Kept))
	return f
}

// few is how many remembered results are taken to be little.
const few = 16

// severity follows what stays: all graphs, or many results, or a few.
func severity(c flow.Cache) rules.Severity {
	switch {
	case c.Size == 0 && c.Sure >= flow.Likely && len(c.Tensors) > 0:
		return rules.Error
	case c.Size > 0 && c.Size <= few, c.Holder && !c.Instance && len(c.Tensors) == 0:
		return rules.Hint
	case c.Unrecorded && c.Device != torch.OnAccelerator:
		return rules.Hint
	}
	return rules.Warning
}

func message(c flow.Cache) string {
	calls := "every call"
	switch {
	case c.Size == 1:
		calls = "the last call"
	case c.Size > 0:
		calls = fmt.Sprintf("the last %d calls", c.Size)
	}
	name := retention.Code(fixes.NameOf(c.Function))
	if len(c.Tensors) == 0 && !c.Instance {
		return fmt.Sprintf("The cache of %s belongs to the class: it keeps the objects of %s alive, with the models and tensors that they may have been given. Remember the value in the object instead.", name, calls)
	}
	if len(c.Tensors) == 0 {
		return fmt.Sprintf("The cache of %s belongs to the class: it keeps the objects of %s alive, with the tensors they hold. Cache in the object instead, with `functools.cached_property` or an attribute.", name, calls)
	}
	var tensors []string
	for _, t := range c.Tensors {
		tensors = append(tensors, retention.Code(t))
	}
	by := "the tensor "
	if len(tensors) > 1 {
		by = "the tensors "
	}
	return fmt.Sprintf("%s is cached by %s, and a tensor equals only itself: no new one finds an entry, and the arguments and results of %s stay. Cache by numbers, or remove the cache.",
		name, by+strings.Join(tensors, " and "), calls)
}
