package fixes

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// CopyToHost are the fixes of a pile of states of a model on the device: each
// parameter is copied to host memory. It is offered for copy.deepcopy of a
// state_dict().
func CopyToHost(pile flow.Pile) []rules.Fix {
	t := pile.Kept.Module.Tree
	args := t.Child(pile.Kept.Node, syntax.FieldArguments)
	if t.Kind(pile.Kept.Node) != syntax.Call || args < 0 {
		return nil
	}
	state := t.First(args)
	if state < 0 || t.Next(state) >= 0 || !strings.HasSuffix(t.Text(state), ".state_dict()") || !strings.HasSuffix(t.Text(t.Child(pile.Kept.Node, syntax.FieldFunction)), "deepcopy") {
		return nil
	}
	return []rules.Fix{{
		Title:  "Copy the parameters to host memory (what loads them later moves them back)",
		Safety: rules.Unsafe,
		Edits: []rules.FileEdit{{Path: pile.Kept.Module.Path, Edit: text.Edit{
			Span: pile.Kept.Span(),
			New:  fmt.Sprintf("{name: value.to(\"cpu\", copy=True) for name, value in %s.items()}", t.Text(state)),
		}}},
	}}
}
