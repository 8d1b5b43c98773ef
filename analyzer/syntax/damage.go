package syntax

import "github.com/graphleak/graphleak/analyzer/text"

// damage marks n and what it lies in.
func (t *Tree) damage(n NodeID) {
	t.nodes[n].flags |= flagDamaged | flagBroken
	for p := t.nodes[n].parent; p >= 0 && t.nodes[p].flags&flagDamaged == 0; p = t.nodes[p].parent {
		t.nodes[p].flags |= flagDamaged
	}
}

// isForeign reports whether the text is no Python at all: most of its statements
// are errors, and not because somebody is typing one.
func (t *Tree) isForeign() bool {
	const some = 10
	if !t.Damaged(t.Root()) {
		return false
	}
	bad, good := 0, 0
	for _, d := range t.nodes {
		switch shapes[d.kind] {
		case simpleStatement, compoundStatement:
			good++
		case inner:
			if d.kind == Error && d.parent >= 0 && (t.Kind(d.parent) == Module || shapes[t.Kind(d.parent)] == block) {
				bad++
			}
		}
	}
	return bad >= some && bad > good
}

// DamagedSpans are the parts of the text about which an analysis of functions
// may say less than it would if the text had no errors. An editor keeps what it
// knew about them until it can tell again.
//
// An error within a function damages that function from its decorators to what
// follows it, also if the error is in a function inside it. An
// error elsewhere damages all text outside functions, since modules and class
// bodies run like one function. The spans are in order and do not overlap;
// without errors there are none.
func (t *Tree) DamagedSpans() []text.Span {
	if !t.Damaged(t.Root()) {
		return nil
	}
	var functions []text.Span // all outermost ones
	var damaged []bool        // by function
	outside := false
	for n := t.Root(); int(n) < len(t.nodes); {
		if f := t.function(n); f >= 0 {
			end := t.End(n)
			s := text.Span{Start: t.Span(n).Start, End: len(t.src)}
			if int(end) < len(t.nodes) {
				s.End = max(t.Span(end).Start, t.Span(n).End)
			}
			functions = append(functions, s)
			damaged = append(damaged, t.Damaged(n))
			n = end
			continue
		}
		outside = outside || t.nodes[n].flags&flagBroken != 0 || t.Damaged(n) && !t.damagedWithin(n)
		n++
	}
	var spans []text.Span
	add := func(s text.Span) {
		if last := len(spans) - 1; last >= 0 && spans[last].End >= s.Start {
			spans[last].End = s.End
		} else if s.Len() > 0 {
			spans = append(spans, s)
		}
	}
	at := 0
	for i, f := range functions {
		if outside {
			add(text.Span{Start: at, End: f.Start})
		}
		if damaged[i] {
			add(f)
		}
		at = f.End
	}
	if outside {
		add(text.Span{Start: at, End: len(t.src)})
	}
	return spans
}

// function is the function that n defines, with or without decorators.
func (t *Tree) function(n NodeID) NodeID {
	switch t.Kind(n) {
	case FunctionDefinition:
		return n
	case DecoratedDefinition:
		if d := t.Child(n, FieldDefinition); t.Kind(d) == FunctionDefinition {
			return d
		}
	}
	return NoNode
}

// damagedWithin reports whether a child of n is damaged.
func (t *Tree) damagedWithin(n NodeID) bool {
	for c := t.nodes[n].first; c >= 0; c = t.nodes[c].next {
		if t.Damaged(c) {
			return true
		}
	}
	return false
}
