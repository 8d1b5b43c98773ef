package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

const toNone = "set_to_none=True"

// ResetGradients are the fixes of a backward that leaves graphs in gradients:
// set them to None once the optimizer has used them. None is safe: what reads
// the gradients later finds none.
func ResetGradients(g flow.GradientGraph) []rules.Fix {
	t := g.Call.Module.Tree
	switch {
	case g.Growth == flow.GradientsAdded && g.Step.Module == g.Call.Module:
		statement := t.Parent(g.Step.Node)
		optimizer := t.Text(t.Child(t.Child(g.Step.Node, syntax.FieldFunction), syntax.FieldObject))
		if t.Kind(statement) != syntax.ExpressionStatement || !standsAlone(t, statement) {
			return nil
		}
		code := fmt.Sprintf("%s.zero_grad(%s)", optimizer, toNone)
		return []rules.Fix{{
			Title: fmt.Sprintf("Reset the gradients after the step: `%s`", Shorten(code, 60)), Safety: rules.Unsafe,
			Edits: []rules.FileEdit{insertAfter(g.Step.Module, statement, code)},
		}}
	case g.Growth == flow.GradientsReset && g.Reset.Module == g.Call.Module && t.Kind(g.Reset.Node) == syntax.Call:
		args := t.Child(g.Reset.Node, syntax.FieldArguments)
		if t.First(args) >= 0 {
			return nil
		}
		s := t.Span(args)
		return []rules.Fix{{
			Title: fmt.Sprintf("Set the gradients to None instead of zero: `%s` (the default since PyTorch 2.0)", toNone), Safety: rules.Unsafe,
			Edits: []rules.FileEdit{{Path: g.Reset.Module.Path, Edit: text.Edit{Span: text.Span{Start: s.Start + 1, End: s.End - 1}, New: toNone}}},
		}}
	}
	return nil
}
