package syntax

import "strings"

// markJoined finds statements that the grammar put together from two lines: it
// reads
//
//	total +=
//	opt.step()
//
// as total += opt.step() without an error. Python does not, so a statement whose
// tokens stand on several lines, outside brackets and without a backslash, is
// damaged, and everything around it. It reports whether there is one.
func (t *Tree) markJoined() bool {
	found := false
	for i := range t.nodes {
		n := NodeID(i)
		if t.isJoined(n) {
			t.damage(n)
			found = true
		}
	}
	return found
}

func (t *Tree) isJoined(n NodeID) bool {
	kind := t.nodes[n].kind
	switch shapes[kind] {
	case simpleStatement:
		return t.crossesLine(n)
	case compoundStatement, clause:
		return kind != DecoratedDefinition && t.headerCrossesLine(n)
	}
	return false
}

// crossesLine reports whether there is a line end between tokens of n that
// neither brackets nor a backslash excuse.
func (t *Tree) crossesLine(n NodeID) bool {
	d := &t.nodes[n]
	if d.kind == String || d.kind == Comment || d.kind == LineContinuation ||
		strings.IndexByte(t.src[d.start:d.end], '\n') < 0 {
		return false
	}
	at, depth := d.start, 0
	for c := d.first; c >= 0; c = t.nodes[c].next {
		if crossed := crossesGap(t.src[at:t.nodes[c].start], &depth); crossed {
			return true
		}
		if depth == 0 && t.crossesLine(c) {
			return true
		}
		at = t.nodes[c].end
	}
	return crossesGap(t.src[at:d.end], &depth)
}

// headerCrossesLine is crossesLine for what stands before the colon of a
// compound statement.
func (t *Tree) headerCrossesLine(n NodeID) bool {
	d := &t.nodes[n]
	at, depth := d.start, 0
	for c := d.first; c >= 0; c = t.nodes[c].next {
		gap := t.src[at:t.nodes[c].start]
		colon := strings.IndexByte(gap, ':')
		if colon >= 0 {
			gap = gap[:colon]
		}
		if crossesGap(gap, &depth) {
			return true
		}
		if depth == 0 && (colon >= 0 || shapes[t.nodes[c].kind] == block) {
			return false
		}
		if depth == 0 && t.crossesLine(c) {
			return true
		}
		at = t.nodes[c].end
	}
	return false
}

// crossesGap looks at the text between two nodes, which has only brackets,
// operators, keywords and blanks. depth is the number of open brackets.
func crossesGap(gap string, depth *int) bool {
	for i := range len(gap) {
		switch gap[i] {
		case '(', '[', '{':
			*depth++
		case ')', ']', '}':
			*depth--
		case '\n':
			if *depth == 0 && !strings.HasSuffix(strings.TrimSuffix(gap[:i], "\r"), "\\") {
				return true
			}
		}
	}
	return false
}

// shape is the part that a kind plays among the lines of a program.
type shape uint8

const (
	inner shape = iota // a part of a statement
	simpleStatement
	compoundStatement
	clause // continues a compound statement
	block
)

var shapes = func() (s [kindCount]shape) {
	for shape, kinds := range map[shape][]Kind{
		simpleStatement: {
			ExpressionStatement, ReturnStatement, DeleteStatement, RaiseStatement, PassStatement, BreakStatement,
			ContinueStatement, GlobalStatement, NonlocalStatement, AssertStatement, ImportStatement, ImportFromStatement,
			FutureImportStatement, PrintStatement, ExecStatement, TypeAliasStatement, Decorator,
		},
		compoundStatement: {
			IfStatement, MatchStatement, ForStatement, WhileStatement, TryStatement, WithStatement, FunctionDefinition,
			ClassDefinition, DecoratedDefinition,
		},
		clause: {ElifClause, ElseClause, CaseClause, ExceptClause, ExceptGroupClause, FinallyClause},
		block:  {Block},
	} {
		for _, k := range kinds {
			s[k] = shape
		}
	}
	return s
}()
