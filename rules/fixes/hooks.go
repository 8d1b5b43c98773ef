package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// CaptureDetached is the fix of a hook that refers to its tensor by the tensor's
// own variable: the hook gets a detached copy, which shares the memory of the
// values but not the graph. It is not safe: a hook of a second derivative may
// want the graph.
func CaptureDetached(c flow.HookCycle) []rules.Fix {
	t := c.Call.Module.Tree
	if !c.Itself || c.Tensor.Kind() != syntax.Identifier || c.Function.Module != c.Call.Module {
		return nil
	}
	statement := statementOf(t, c.Call.Node)
	if statement < 0 || !standsAlone(t, statement) || c.Function.Kind() != syntax.Lambda || !t.Span(statement).Covers(c.Function.Span()) {
		return nil
	}
	name := c.Tensor.Text()
	fresh := name + "_values"
	if mentions(t, t.Root(), fresh) {
		return nil
	}
	edits := []rules.FileEdit{insertBefore(c.Call.Module, statement, fmt.Sprintf("%s = %s.detach()", fresh, name))}
	parameters := t.Child(c.Function.Node, syntax.FieldParameters)
	for n := c.Function.Node; n < t.End(c.Function.Node); n++ {
		if t.Kind(n) != syntax.Identifier || t.Text(n) != name || t.Role(n) == syntax.FieldAttribute {
			continue
		}
		if parameters >= 0 && t.Span(parameters).Covers(t.Span(n)) {
			return nil // a default: the parameter has the name too
		}
		edits = append(edits, rules.FileEdit{Path: c.Call.Module.Path, Edit: text.Edit{Span: t.Span(n), New: fresh}})
	}
	return []rules.Fix{{
		Title:  fmt.Sprintf("Let the hook use `%s.detach()` (check that it does not need the graph)", name),
		Safety: rules.Unsafe, Edits: edits,
	}}
}

// RemoveHook is the fix of a hook that is registered in each iteration or call:
// keep its handle and remove it at the end. It is not safe: somebody may rely on
// the hook afterwards.
func RemoveHook(l flow.LastingHook) []rules.Fix {
	t := l.Call.Module.Tree
	statement := t.Parent(l.Call.Node)
	if t.Kind(statement) != syntax.ExpressionStatement || !standsAlone(t, statement) || l.Repeats.Module != l.Call.Module {
		return nil
	}
	body := t.Child(l.Repeats.Node, syntax.FieldBody)
	if body < 0 || t.Parent(statement) != body {
		return nil
	}
	const handle = "handle"
	if mentions(t, l.Repeats.Node, handle) {
		return nil
	}
	last := statement
	for n := t.Next(statement); n >= 0; n = t.Next(n) {
		last = n
	}
	for n := t.End(statement); n < t.End(body); n++ {
		switch t.Kind(n) {
		case syntax.ContinueStatement, syntax.BreakStatement, syntax.ReturnStatement, syntax.RaiseStatement, syntax.Yield:
			if n != last {
				return nil // leaves the body before the end
			}
		}
	}
	if last == statement || !standsAlone(t, last) {
		return nil
	}
	start := t.Span(statement).Start
	edits := []rules.FileEdit{{Path: l.Call.Module.Path, Edit: text.Edit{Span: text.Span{Start: start, End: start}, New: handle + " = "}}}
	if t.Kind(last) == syntax.ReturnStatement {
		for n := last; n < t.End(last); n++ {
			if t.Kind(n) == syntax.Call {
				return nil // it may be what runs the hook
			}
		}
		edits = append(edits, insertBefore(l.Call.Module, last, handle+".remove()"))
	} else {
		edits = append(edits, insertAfter(l.Call.Module, last, handle+".remove()"))
	}
	return []rules.Fix{{Title: "Keep the handle and remove the hook at the end (check that nothing needs it later)", Safety: rules.Unsafe, Edits: edits}}
}
