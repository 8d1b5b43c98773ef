package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
)

// CopyViews are the fixes of a pile of views: each is copied when it is stored,
// so that the tensor which it is a part of is freed. From a device, the copy may
// as well be in host memory.
func CopyViews(p *rules.Pass, pile flow.Pile, views []flow.Piled, onDevice bool) []rules.Fix {
	copies := eachTensor(pile, views, ".clone()", func(what string) rules.Fix {
		fix := rules.Fix{Title: fmt.Sprintf("Store a copy of %s", what), Safety: rules.Safe}
		if u := (uses{module: p.Module, target: pile.Target, loop: pile.Loop, collects: true}); u.changesElements() {
			fix.Safety = rules.Unsafe
			fix.Title += " (what is written into it no longer shows in the whole)"
			return fix
		}
		for _, v := range views {
			if v.Whole == nil || changes(*v.Whole) {
				fix.Safety = rules.Unsafe
				fix.Title += " (what is written into the whole later no longer shows in it)"
				break
			}
		}
		return fix
	})
	if !onDevice {
		return copies
	}
	moves := MoveToHost(p, pile, views)
	if len(moves) > 0 && moves[0].Safety == rules.Safe {
		return append(moves, copies...)
	}
	return append(copies, moves...)
}

// changes reports whether something in the file writes into a tensor in place,
// under the name that it has where a view of it is taken.
func changes(whole flow.Location) bool {
	t := whole.Module.Tree
	name := whole.Text()
	for n := t.Root(); int(n) < t.Len(); n++ {
		var written syntax.NodeID
		switch t.Kind(n) {
		case syntax.AugmentedAssignment, syntax.Assignment:
			left := t.Child(n, syntax.FieldLeft)
			if t.Kind(left) == syntax.Subscript {
				left = t.Child(left, syntax.FieldValue)
			} else if t.Kind(n) == syntax.Assignment {
				continue
			}
			written = left
		case syntax.Call:
			f := t.Child(n, syntax.FieldFunction)
			if t.Kind(f) != syntax.Attribute || !torch.InPlace(t.Text(t.Child(f, syntax.FieldAttribute))) {
				continue
			}
			written = t.Child(f, syntax.FieldObject)
		default:
			continue
		}
		if t.Text(written) == name {
			return true
		}
	}
	return false
}
