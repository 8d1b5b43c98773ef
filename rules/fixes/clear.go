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
	where := FunctionAround(last)
	ofLoop := !pile.Implicit && where == FunctionAround(*pile.Around)
	if ofLoop {
		where = *pile.Around
	}
	if where.Node < 0 || pile.Target.Kind() == syntax.Identifier && where != *pile.Around {
		return nil // another function's variable
	}
	in := "of each round of the outer loop"
	if !ofLoop {
		in = "of " + source(NameOf(where))
	}
	edit, ok := atEnd(where, collection+".clear()", collection)
	if !ok {
		return nil
	}
	return []rules.Fix{{
		Title:  fmt.Sprintf("Clear %s at the end %s (what is computed of it then covers one of them only: check that)", source(pile.Target), in),
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
