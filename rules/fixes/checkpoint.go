package fixes

import (
	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// LoadOnHost is the fix of a checkpoint on the device: it is loaded to the CPU,
// from where load_state_dict copies it to wherever the parameters are. It is
// safe when nothing else of the checkpoint is used.
func LoadOnHost(c flow.Checkpoint) []rules.Fix {
	fix := rules.Fix{Title: "Load it to the CPU", Safety: rules.Safe}
	if !c.Only {
		fix.Safety = rules.Unsafe
		fix.Title += " (check that no other entry is needed on the device)"
	}
	edit := text.Edit{New: `"cpu"`}
	if c.MapLocation != nil {
		edit.Span = c.MapLocation.Span()
	} else {
		t := c.Load.Module.Tree
		last := syntax.NoNode
		for a := range t.Children(t.Child(c.Load.Node, syntax.FieldArguments)) {
			last = a
		}
		if last < 0 || t.Kind(last) == syntax.DictionarySplat {
			return nil
		}
		edit = insertion(t.Span(last).End, `, map_location="cpu"`)
	}
	fix.Edits = []rules.FileEdit{{Path: c.Load.Module.Path, Edit: edit}}
	return []rules.Fix{fix}
}
