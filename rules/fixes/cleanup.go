package fixes

import (
	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// CleanAfter is the fix of a cleanup that comes before the del which it is for: the
// two change places. Nothing runs between them.
func CleanAfter(c flow.Cleanup) []rules.Fix {
	t := c.Call.Module.Tree
	first, second := t.Parent(c.Call.Node), c.Late.Node
	if !standsAlone(t, first) || !standsAlone(t, second) {
		return nil
	}
	path := c.Call.Module.Path
	return []rules.Fix{{
		Title: "Clean up after `" + t.Text(second) + "`", Safety: rules.Safe,
		Edits: []rules.FileEdit{
			{Path: path, Edit: text.Edit{Span: t.Span(first), New: t.Text(second)}},
			{Path: path, Edit: text.Edit{Span: t.Span(second), New: t.Text(first)}},
		},
	}}
}
