package retention

import "github.com/graphleak/graphleak/analyzer/flow"

// Kind says which rule speaks of a growth. Each growth has one kind.
type Kind uint8

// The kinds of growth.
const (
	Sum        Kind = iota // a value to which each iteration adds
	Collection             // a container that takes in each iteration's value
	Meter                  // either of them, behind a call
	Statistic              // an average, or what a module keeps of what it sees
	SideOutput             // a sum or collection of what the backward leaves out
	State                  // a value that each iteration computes from the last
	Hook                   // what a hook stores
	Failure                // an exception, with what its frames hold
)

// KindOf is the kind of a growth.
func KindOf(g flow.Growth) Kind {
	switch {
	case g.Caught:
		return Failure
	case g.Hook.Module != nil:
		return Hook
	case g.State && !g.Collects:
		return State
	case !g.Collects && !g.Joins && (g.OfModule || g.Decays && !g.ThroughCall):
		return Statistic
	case g.ThroughCall:
		return Meter
	case g.SideOutput && g.Retained == nil:
		return SideOutput
	case g.Collects || g.Joins:
		return Collection
	}
	return Sum
}

// Of are the growths of one kind.
func Of(kind Kind, facts *flow.Facts) func(yield func(flow.Growth) bool) {
	return func(yield func(flow.Growth) bool) {
		for _, g := range facts.Growths {
			if KindOf(g) == kind && !yield(g) {
				return
			}
		}
	}
}
