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
	NeverCleared          // between one such loop and the next, although read there
	NeverReset            // likewise, in an object whose method would do so
	OfViews               // small parts that keep the whole tensors
	Memo                  // results that are remembered by what equals only itself
	Snapshots             // copies of all parameters of a model
)

// PileKindOf is the kind of a pile.
func PileKindOf(p flow.Pile) PileKind {
	kind := kindOf(p)
	if kind != NeverReset && p.Call != nil && p.Call.Module != p.Kept.Module {
		return NoPile // an object of another file, in whose text it is
	}
	return kind
}

func kindOf(p flow.Pile) PileKind {
	small := func(t flow.Piled) bool { return t.Part }
	weights := func(t flow.Piled) bool { return t.Extent == flow.Weights }
	switch {
	case slices.ContainsFunc(p.Tensors, weights):
		if p.Lasts && !p.Fills {
			return Snapshots
		}
		return NoPile
	case p.Memo && p.ByIdentity:
		return Memo
	case !p.Draws || p.Memo:
		return NoPile
	case p.Around != nil && len(p.Readings) > 0 && p.Emptied != nil && p.Call != nil:
		return NeverReset
	case p.Around != nil && len(p.Readings) > 0:
		return NeverCleared
	case len(p.Tensors) == 0:
		return NoPile
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

// AcrossEpochs is the finding of a pile that is read once an epoch but never
// emptied. It is none where nothing is known of its tensors, or where they are a
// history of single numbers.
func AcrossEpochs(p flow.Pile) (rules.Finding, bool) {
	tensors := p.Tensors
	if len(tensors) == 0 {
		if !p.Implicit {
			return rules.Finding{}, false // of which plots are made
		}
		tensors = p.Scalars
	}
	f := PileFinding(p, tensors)
	f.Memory = rules.Host
	if slices.ContainsFunc(tensors, func(t flow.Piled) bool { return t.Device != torch.OnHost }) {
		f.Memory = rules.Device
	}
	if len(p.Tensors) == 0 {
		f.Severity, f.Confidence = rules.Hint, rules.Medium
	}
	f.Evidence = append(f.Evidence, Step(p.Readings[0], Code(p.Readings[0])+" is read here, once for all steps before"))
	return f, true
}

// AllRounds says of what a pile that is never emptied keeps everything.
func AllRounds(p flow.Pile) string {
	if p.Implicit {
		return "all epochs"
	}
	return "all rounds of the outer loop"
}
