package retention

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
)

// PileKind says which rule speaks of a pile. Each pile has at most one kind.
type PileKind uint8

// The kinds of piles.
const (
	NoPile       PileKind = iota
	UntilTheEnd           // of a loop over data
	NeverCleared          // nor between one such loop and the next
	OfViews               // small parts that keep the whole tensors
	Memo                  // results that are remembered by what equals only itself
	Snapshots             // copies of all parameters of a model
)

// PileKindOf is the kind of a pile.
func PileKindOf(p flow.Pile) PileKind {
	small := func(t flow.Piled) bool { return t.Part }
	weights := func(t flow.Piled) bool { return t.Extent == flow.Weights }
	switch {
	case slices.ContainsFunc(p.Tensors, weights):
		if p.Lasts {
			return Snapshots
		}
		return NoPile
	case p.Memo && p.ByIdentity:
		return Memo
	case !p.Draws || p.Memo:
		return NoPile
	case p.Around != nil:
		return NeverCleared
	case slices.ContainsFunc(p.Tensors, small):
		return OfViews
	case p.Implicit:
		return NoPile
	}
	return UntilTheEnd
}

// OnDevice are the tensors of a pile that stay on the device and that a model
// gave: more than positions, truth values and the data itself.
func OnDevice(p flow.Pile) []flow.Piled {
	return slices.DeleteFunc(slices.Clone(p.Tensors), func(t flow.Piled) bool {
		return t.Device != torch.OnAccelerator || t.Extent < flow.Reduced
	})
}

// PileFinding is what all findings about a pile say alike.
func PileFinding(p flow.Pile, tensors []flow.Piled) rules.Finding {
	f := rules.Finding{Span: p.Kept.Span(), Severity: rules.Hint, Memory: rules.Host, Keeps: rules.Values, Confidence: rules.Medium}
	for _, t := range tensors {
		if t.Extent == flow.Output {
			f.Severity, f.Confidence = rules.Warning, rules.High
		}
		if t.From != nil && len(f.Evidence) < maxMade && !slices.ContainsFunc(f.Evidence, func(e rules.Evidence) bool { return e.Span == t.From.Span() }) {
			f.Evidence = append(f.Evidence, Step(*t.From, Code(*t.From)+" gives it"))
		}
	}
	f.Evidence = append(f.Evidence, Step(p.Store, Code(p.Store)+" stores it here"), LoopStep(p.Loop, "each iteration of this loop adds to it"))
	if p.Implicit {
		f.Evidence[len(f.Evidence)-1].Message = "each call of this adds to it"
	}
	return f
}
