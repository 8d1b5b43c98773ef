package fixes

import (
	"github.com/graphleak/graphleak/analyzer/flow"
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
	var edit text.Edit
	if c.MapLocation != nil {
		edit = text.Edit{Span: c.MapLocation.Span(), New: `"cpu"`}
	} else {
		edit = keyword(c.Load, "map_location", `"cpu"`)
	}
	fix.Edits = []rules.FileEdit{{Path: c.Load.Module.Path, Edit: edit}}
	return []rules.Fix{fix}
}
