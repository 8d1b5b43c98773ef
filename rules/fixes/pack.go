package fixes

import (
	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
)

// PackDetached is the fix of a hook that packs saved tensors as they are; given are
// where it returns them. A detached tensor shares their memory, and the backward
// takes nothing else from it. So it is safe.
func PackDetached(given []flow.Location) []rules.Fix {
	if len(given) == 0 {
		return nil // another function returns them
	}
	return []rules.Fix{{Title: "Detach what the hook returns", Safety: rules.Safe, Edits: call(asParts(given), ".detach()")}}
}
