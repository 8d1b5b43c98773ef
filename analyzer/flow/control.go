package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// conditional runs an if statement.
func (in *interpreter) conditional(n syntax.NodeID) {
	t := in.tree()
	var bodies []syntax.NodeID // elif and else clauses
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldAlternative {
			bodies = append(bodies, c)
		}
	}
	in.branch(t.Child(n, syntax.FieldCondition), t.Child(n, syntax.FieldConsequence), bodies)
}

// branch runs one arm under its condition, and else the rest.
func (in *interpreter) branch(condition, consequence syntax.NodeID, rest []syntax.NodeID) {
	t := in.tree()
	test := in.expression(condition)
	if in.state == nil {
		return
	}
	otherwise := func() {
		if len(rest) == 0 {
			return
		}
		if t.Kind(rest[0]) == syntax.ElifClause {
			in.branch(t.Child(rest[0], syntax.FieldCondition), t.Child(rest[0], syntax.FieldConsequence), rest[1:])
			return
		}
		in.block(t.Child(rest[0], syntax.FieldBody))
	}
	if test != nil {
		if truth, known := test.truth(); known {
			if truth {
				in.block(consequence)
			} else {
				otherwise()
			}
			return
		}
	}
	if in.asksForMain(condition) {
		if in.frame.module == in.main {
			in.block(consequence)
		} else {
			otherwise()
		}
		return
	}
	base := in.state
	in.state = base.push()
	in.narrow(condition, true)
	if in.state != nil {
		in.block(consequence)
	}
	then := in.state
	in.state = base.push()
	in.narrow(condition, false)
	if in.state != nil {
		otherwise()
	}
	in.state = merge(base, in.noteResets(condition), then, in.state)
}

// asksForMain reports whether a condition asks if the file is run as a script.
func (in *interpreter) asksForMain(condition syntax.NodeID) bool {
	text := in.tree().Text(condition)
	return strings.Contains(text, "__name__") && strings.Contains(text, "__main__")
}

// forLoop runs a for statement.
func (in *interpreter) forLoop(n syntax.NodeID) {
	t := in.tree()
	left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
	it := in.expression(right)
	if in.state == nil {
		return
	}
	in.iterate(n, in.extentOf(it), forLoop, func() {
		in.assign(left, in.next(n, right, it), n, right)
		in.block(t.Child(n, syntax.FieldBody))
	})
	in.rewrites(n)
	if alternative := t.Child(n, syntax.FieldAlternative); alternative >= 0 && in.state != nil {
		in.block(t.Child(alternative, syntax.FieldBody))
	}
}

// whileLoop runs a while statement.
func (in *interpreter) whileLoop(n syntax.NodeID) {
	t := in.tree()
	condition := t.Child(n, syntax.FieldCondition)
	test := in.expression(condition)
	truth, known := false, false
	if test != nil {
		truth, known = test.truth()
	}
	if known && !truth {
		return
	}
	kind := whileLoop
	if known && truth {
		kind = endlessLoop
	}
	in.iterate(n, extent{}, kind, func() {
		in.expression(condition)
		in.block(t.Child(n, syntax.FieldBody))
	})
	if alternative := t.Child(n, syntax.FieldAlternative); alternative >= 0 && in.state != nil {
		in.block(t.Child(alternative, syntax.FieldBody))
	}
}

// try runs a try statement: a handler starts from what was there before the
// body, since the body may fail at once. Whatever leaves the statement runs its
// finally clause first.
func (in *interpreter) try(n syntax.NodeID) {
	t := in.tree()
	base := in.state
	left := in.frame.exits()
	in.state = base.push()
	failure := in.attempted(func() { in.block(t.Child(n, syntax.FieldBody)) })
	done := in.state
	var ends []*state
	var finally syntax.NodeID = syntax.NoNode
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.ExceptClause, syntax.ExceptGroupClause:
			in.state = base.push()
			in.handle(n, c, failure)
			ends = append(ends, in.state)
		case syntax.ElseClause:
			if done != nil {
				in.state = done
				in.block(t.Child(c, syntax.FieldBody))
				done = in.state
			}
		case syntax.FinallyClause:
			finally = c
		}
	}
	in.state = merge(base, nil, append(ends, done)...)
	if finally < 0 {
		return
	}
	run := func() {
		for d := range t.Children(finally) {
			if t.Kind(d) == syntax.Block && in.state != nil {
				in.block(d)
			}
		}
	}
	run()
	after := in.state
	in.frame.leaveThrough(left, func(exit *state) *state {
		in.state = exit
		run()
		return in.state
	})
	in.state = after
}

// exits counts the paths that have left the running loop or function.
func (f *frame) exits() (counts [3]int) {
	counts[0] = len(f.returns)
	if k := len(f.loops); k > 0 {
		counts[1], counts[2] = len(f.loops[k-1].breaks), len(f.loops[k-1].continues)
	}
	return counts
}

// leaveThrough replaces the ends of the paths that have left since exits was
// asked.
func (f *frame) leaveThrough(since [3]int, replace func(*state) *state) {
	replaceAll := func(ends []*state) {
		for i, end := range ends {
			if end != nil {
				ends[i] = replace(end)
			}
		}
	}
	replaceAll(f.returns[since[0]:])
	if k := len(f.loops); k > 0 {
		replaceAll(f.loops[k-1].breaks[since[1]:])
		replaceAll(f.loops[k-1].continues[since[2]:])
	}
}

// with runs the body of a with statement under the grad mode that its managers
// set.
func (in *interpreter) with(n syntax.NodeID) {
	t := in.tree()
	was := in.off
	defer func() { in.off = was }()
	var managers []*Value
	clause, body := t.First(n), t.Child(n, syntax.FieldBody)
	run := func() { in.block(body) }
	for item := range t.Children(clause) {
		if t.Kind(item) != syntax.WithItem {
			continue
		}
		value := t.Child(item, syntax.FieldValue)
		var target syntax.NodeID = syntax.NoNode
		if t.Kind(value) == syntax.AsPattern {
			target = t.Child(value, syntax.FieldAlias)
			value = t.First(value)
		}
		manager := in.expression(value)
		if in.state == nil {
			return
		}
		managers = append(managers, manager)
		if pack := in.packsAsIs(value); pack != nil {
			run = func() { in.under(value, pack, body) }
		}
		entered := in.enter(value, manager)
		if in.state == nil {
			return
		}
		if target >= 0 {
			in.assign(target, entered, n, value)
		}
	}
	left := in.frame.exits()
	run()
	leave := func() {
		for _, m := range slices.Backward(managers) {
			if in.state != nil {
				in.exit(clause, m)
			}
		}
	}
	leave()
	after := in.state
	in.frame.leaveThrough(left, func(exit *state) *state {
		in.state = exit
		leave()
		return in.state
	})
	in.state = after
}
