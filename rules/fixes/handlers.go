package fixes

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// LeaveHandler is the fix of a recovery within an except clause: the handler
// sets a flag, and what computes runs after the try statement. It keeps the
// behaviour as long as what moves does not look at the exception.
func LeaveHandler(r flow.Recovery) []rules.Fix {
	m := r.Try.Module
	t := m.Tree
	const flag = "out_of_memory"
	if !standsAlone(t, r.Try.Node) || !standsAlone(t, r.First.Node) || mentions(t, t.Root(), flag) {
		return nil
	}
	block := t.Parent(r.First.Node)
	for c := range t.Children(r.Try.Node) {
		switch t.Kind(c) {
		case syntax.FinallyClause, syntax.ExceptGroupClause:
			return nil // runs before what moves
		}
	}
	last := r.First.Node
	for n := t.Next(last); n >= 0; n = t.Next(n) {
		last = n
	}
	if t.Kind(block) != syntax.Block || !standsAlone(t, last) || !canLeave(t, r, last) {
		return nil
	}
	if block != t.Child(r.Handler.Node, syntax.FieldBody) && !endsHandler(t, r, block) {
		return nil // code after the condition runs in between
	}
	outer, _ := indentation(t, r.Try.Node)
	inner, _ := indentation(t, r.First.Node)
	start := t.Span(r.First.Node).Start
	end := lineEnd(t, last)
	moved := strings.Split(inner+t.Source()[start:end], "\n")
	for i, l := range moved {
		rest, ok := strings.CutPrefix(l, inner)
		if !ok && strings.TrimSpace(l) != "" {
			return nil
		}
		if moved[i] = ""; strings.TrimSpace(l) != "" {
			moved[i] = "    " + rest
		}
	}
	after := lineEnd(t, r.Try.Node)
	edits := []rules.FileEdit{
		insertBefore(m, r.Try.Node, flag+" = False"),
		{Path: m.Path, Edit: text.Edit{Span: text.Span{Start: start, End: end}, New: flag + " = True"}},
	}
	recovery := "\n" + indented("if "+flag+":\n"+strings.Join(moved, "\n"), outer)
	if after == end { // the handler ends the file or the block: one edit for both
		edits[1].New += recovery
	} else {
		edits = append(edits, rules.FileEdit{Path: m.Path, Edit: text.Edit{Span: text.Span{Start: after, End: after}, New: recovery}})
	}
	return []rules.Fix{{Title: "Recover after the try statement", Safety: rules.Safe, Edits: edits}}
}

// canLeave reports whether the statements from the first of a recovery to the
// last do not need to be in the handler.
func canLeave(t *syntax.Tree, r flow.Recovery, last syntax.NodeID) bool {
	for n := r.First.Node; n < t.End(last); n++ {
		switch t.Kind(n) {
		case syntax.RaiseStatement:
			if t.First(n) < 0 {
				return false
			}
		case syntax.String:
			if strings.Contains(t.Text(n), "\n") {
				return false // its lines would move
			}
		case syntax.Identifier:
			switch name := t.Text(n); {
			case r.Variable != "" && name == r.Variable, name == "traceback", name == "exc_info", name == "exception", name == "format_exc":
				return false
			}
		}
	}
	return true
}

// endsHandler reports whether nothing but other branches follows a block in its
// handler.
func endsHandler(t *syntax.Tree, r flow.Recovery, block syntax.NodeID) bool {
	body := syntax.NoNode
	for c := range t.Children(r.Handler.Node) {
		if t.Kind(c) == syntax.Block {
			body = c
		}
	}
	if block == body {
		return true
	}
	statement := t.Parent(block)
	if t.Kind(statement) == syntax.ElseClause {
		statement = t.Parent(statement)
	}
	return t.Kind(statement) == syntax.IfStatement && t.Parent(statement) == body && t.Next(statement) < 0
}

// KeepText is the fix of a collection of exceptions: their text is kept, and not
// what their frames hold.
func KeepText(g flow.Growth) []rules.Fix {
	if g.Kept.Kind() != syntax.Identifier {
		return nil
	}
	s := g.Kept.Span()
	name := g.Kept.Text()
	return []rules.Fix{{
		Title: fmt.Sprintf("Store `str(%s)` (check that nothing needs the exception itself)", name), Safety: rules.Unsafe,
		Edits: []rules.FileEdit{{Path: g.Kept.Module.Path, Edit: text.Edit{Span: s, New: "str(" + name + ")"}}},
	}}
}
