package retention

import (
	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
)

// Made are the first steps of an argument about a graph: the operations that
// recorded it.
func Made(ls []flow.Location) []rules.Evidence {
	var out []rules.Evidence
	for _, l := range outermost(ls) {
		out = append(out, Step(l, Code(l)+" records the graph here"))
	}
	return out
}
