package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
)

// ClearAfterReading is the fix of a pile that is read once an epoch: it is
// emptied at the end of the function that reads it, or of the loop around.
// It is not safe: what is computed of it then covers one epoch and no longer all
// of them, which is what was meant, but not what ran.
func ClearAfterReading(pile flow.Pile) []rules.Fix {
	t := pile.Target.Module.Tree
	if k := pile.Target.Kind(); k != syntax.Identifier && k != syntax.Attribute || t.Role(pile.Target.Node) == syntax.FieldLeft {
		return nil
	}
	collection := pile.Target.Text()
	last := pile.Readings[len(pile.Readings)-1]
	if last.Text() != collection {
		return nil // read under another name
	}
	r := round{pile.Target, last, *pile.Around, pile.Implicit}
	return r.end(collection+".clear()", collection, fmt.Sprintf("Clear %s", source(pile.Target)))
}

// ResetMetric is the fix of a metric that is computed once an epoch: it is reset
// behind that. It is not safe, for the same reason.
func ResetMetric(m flow.Metric) []rules.Fix {
	if m.Computed == nil || m.Running || m.Computed.Module != m.Object.Module {
		return nil
	}
	computed := receiver(*m.Computed)
	if computed.Text() != m.Object.Text() {
		return nil // another name
	}
	r := round{m.Object, *m.Computed, m.Around, m.Implicit}
	return r.end(m.Object.Text()+".reset()", m.Computed.Text(), fmt.Sprintf("Reset %s", source(m.Object)))
}

// ResetObject is the fix of a pile in an object of the program whose class has a
// method that empties it. That has to be one without arguments.
func ResetObject(pile flow.Pile) []rules.Fix {
	t := pile.Emptied.Module.Tree
	parameters := 0
	for range t.Children(t.Child(pile.Emptied.Node, syntax.FieldParameters)) {
		parameters++
	}
	object := receiver(*pile.Call)
	last := pile.Readings[len(pile.Readings)-1]
	if parameters != 1 || last.Kind() != syntax.Call || receiver(last).Text() != object.Text() {
		return nil
	}
	name := NameOf(*pile.Emptied).Text()
	r := round{object, last, *pile.Around, pile.Implicit}
	return r.end(fmt.Sprintf("%s.%s()", object.Text(), name), last.Text(), fmt.Sprintf("Call `%s` of %s", name, source(object)))
}

// receiver is what a method is called on, or what is called itself.
func receiver(call flow.Location) flow.Location {
	t := call.Module.Tree
	f := t.Child(call.Node, syntax.FieldFunction)
	if t.Kind(f) == syntax.Attribute {
		f = t.Child(f, syntax.FieldObject)
	}
	return flow.Location{Module: call.Module, Node: f}
}

// round is one round of a loop around the loops over the data, in which something
// that they fill is read.
type round struct {
	filled, read, around flow.Location
	implicit             bool
}

// end is the fix that puts a statement at the end of a round, or of the function
// that reads what was filled. What the statement may not come before is the text
// reads.
func (r round) end(statement, reads, title string) []rules.Fix {
	if k := r.filled.Kind(); k != syntax.Identifier && k != syntax.Attribute {
		return nil
	}
	where, in := FunctionAround(r.read), ""
	switch {
	case !r.implicit && where == FunctionAround(r.around):
		where, in = r.around, "of each round of the outer loop"
	case where.Node < 0 || r.filled.Kind() == syntax.Identifier:
		return nil // another function's variable
	default:
		in = "of " + source(NameOf(where))
	}
	edit, ok := atEnd(where, statement, reads)
	if !ok {
		return nil
	}
	return []rules.Fix{{
		Title:  fmt.Sprintf("%s at the end %s (what is computed of it then covers one of them only: check that)", title, in),
		Safety: rules.Unsafe, Edits: []rules.FileEdit{edit},
	}}
}

// atEnd puts a statement at the end of the body of a function or loop, if all
// ways through it come by there. One that returns a value computed from read
// keeps its return last only where that does not read it.
func atEnd(where flow.Location, statement, read string) (rules.FileEdit, bool) {
	m := where.Module
	t := m.Tree
	body := t.Child(where.Node, syntax.FieldBody)
	if body < 0 {
		return rules.FileEdit{}, false
	}
	last := syntax.NoNode
	for n := t.First(body); n >= 0; n = t.Next(n) {
		last = n
	}
	if last < 0 || !standsAlone(t, last) {
		return rules.FileEdit{}, false
	}
	for n := body; n < t.End(body); n++ {
		switch t.Kind(n) {
		case syntax.ReturnStatement, syntax.ContinueStatement:
			if n != last && leaves(t, n, where.Node) {
				return rules.FileEdit{}, false
			}
		}
	}
	if t.Kind(last) != syntax.ReturnStatement {
		return insertAfter(m, last, statement), true
	}
	for n := last; n < t.End(last); n++ {
		if t.Text(n) == read || t.Kind(n) == syntax.Call {
			return rules.FileEdit{}, false // what it calls may read it
		}
	}
	return insertBefore(m, last, statement), true
}

// leaves reports whether a statement leaves a function, or the iteration of a
// loop, rather than something within it.
func leaves(t *syntax.Tree, n, where syntax.NodeID) bool {
	for p := t.Parent(n); p > where; p = t.Parent(p) {
		switch t.Kind(p) {
		case syntax.FunctionDefinition, syntax.Lambda:
			return false
		case syntax.ForStatement, syntax.WhileStatement:
			if t.Kind(n) == syntax.ContinueStatement {
				return false
			}
		}
	}
	return true
}

// FunctionAround is the function whose code a location is in, with no node
// where it is in none.
func FunctionAround(l flow.Location) flow.Location {
	t := l.Module.Tree
	for n := t.Parent(l.Node); n >= 0; n = t.Parent(n) {
		if t.Kind(n) == syntax.FunctionDefinition {
			return flow.Location{Module: l.Module, Node: n}
		}
	}
	return flow.Location{Module: l.Module, Node: syntax.NoNode}
}
