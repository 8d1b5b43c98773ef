package fixes

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// blockOf is the block in which the statement around n stands.
func blockOf(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for n >= 0 && t.Kind(n) != syntax.Block {
		n = t.Parent(n)
	}
	return n
}

// indentation is the white space before a statement that starts its line.
func indentation(t *syntax.Tree, n syntax.NodeID) (string, bool) {
	before := string(t.Source()[:t.Span(n).Start])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return line, strings.Trim(line, " \t") == ""
}

// standsAlone reports whether a statement has its lines for itself, but for a
// comment.
func standsAlone(t *syntax.Tree, statement syntax.NodeID) bool {
	_, first := indentation(t, statement)
	rest := strings.TrimSpace(t.Source()[t.Span(statement).End:lineEnd(t, statement)])
	return first && (rest == "" || strings.HasPrefix(rest, "#"))
}

// lineEnd is where the last line of a statement ends.
func lineEnd(t *syntax.Tree, statement syntax.NodeID) int {
	end := t.Span(statement).End
	line, _, _ := strings.Cut(t.Source()[end:], "\n")
	return end + len(strings.TrimRight(line, "\r"))
}

// insertAfter puts statements on lines of their own after one that stands alone.
func insertAfter(m *names.Module, statement syntax.NodeID, code string) rules.FileEdit {
	indent, _ := indentation(m.Tree, statement)
	at := lineEnd(m.Tree, statement)
	return rules.FileEdit{Path: m.Path, Edit: text.Edit{Span: text.Span{Start: at, End: at}, New: "\n" + indented(code, indent)}}
}

// insertBefore puts statements on lines of their own before one that stands
// alone.
func insertBefore(m *names.Module, statement syntax.NodeID, code string) rules.FileEdit {
	indent, _ := indentation(m.Tree, statement)
	at := m.Tree.Span(statement).Start - len(indent)
	return rules.FileEdit{Path: m.Path, Edit: text.Edit{Span: text.Span{Start: at, End: at}, New: indented(code, indent) + "\n"}}
}

// indented is code with an indentation before each line.
func indented(code, by string) string {
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = by + l
		}
	}
	return strings.Join(lines, "\n")
}

// statementOf is the statement in a block that n is part of, NoNode when it is
// in none.
func statementOf(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for ; n >= 0; n = t.Parent(n) {
		if p := t.Parent(n); p >= 0 && (t.Kind(p) == syntax.Block || t.Kind(p) == syntax.Module) {
			return n
		}
	}
	return syntax.NoNode
}
