package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// A collection that several loops over the data add to is either a history, which
// is read when all of them are over, or it was meant for one of them: then what
// reads it between one and the next is what should empty it. This file finds what
// reads it there, and the method that would empty it.

// noteReadings notes, when the loop of a pile is over, what reads the collection
// outside of the loops within that one. Code that follows the loop has not run
// yet.
func (in *interpreter) noteReadings(p *pile) {
	l, e := p.loop, p.event
	nested := false
	for _, other := range in.piles {
		nested = nested || other.loop != l && l.encloses(other.loop) && other.event.at == e.at && other.event.expr == e.expr
	}
	if !nested || in.main == nil { // piles of what is summarised are not told
		return
	}
	t := in.main.Tree
	values := in.values[in.main]
	here := l.at.module == in.main
	own := syntax.NoNode
	if here {
		own = in.functionAround(l.at.node)
	}
	maker, made := syntax.NoNode, in.objects[e.place.object].at
	if made.module == in.main {
		maker = in.functionAround(made.node)
	}
	for n := syntax.NodeID(0); int(n) < t.Len(); n++ {
		if !in.readsPile(t, values, n, e) {
			continue
		}
		if here && in.functionAround(n) == own && (l.implicit || !in.within(codeKey{in.main, n}, l.at.node)) {
			continue // before the loop, or around what makes an engine
		}
		if made.module == in.main && !(here && maker == own) && in.functionAround(n) == maker {
			continue // its next call makes another collection
		}
		p.readings = append(p.readings, n)
	}
}

// readsPile reports whether n is an expression that gives a collection, or a call
// of a method of the object that holds it.
func (in *interpreter) readsPile(t *syntax.Tree, values lastValues, n syntax.NodeID, e *storeEvent) bool {
	switch t.Kind(n) {
	case syntax.Identifier, syntax.Attribute, syntax.Subscript:
		v := values.at(n)
		return v != nil && slices.Contains(v.objects, e.place.object) && (n != e.target || e.at.module != in.main) && !isStored(t, n)
	case syntax.Call:
		return e.holder != nil && in.isCalledOn(t, values, n, e.holder.object)
	}
	return false
}

// isStored reports whether an expression is what a statement binds, or a
// collection that it adds to or removes from.
func isStored(t *syntax.Tree, n syntax.NodeID) bool {
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.Assignment, syntax.AugmentedAssignment:
		return t.Role(n) == syntax.FieldLeft
	case syntax.Subscript:
		return isStored(t, p)
	case syntax.DeleteStatement, syntax.KeywordArgument:
		return t.Kind(p) == syntax.DeleteStatement || t.Role(n) == syntax.FieldName
	case syntax.Attribute:
		switch torch.ContainerMethods[t.Text(t.Child(p, syntax.FieldAttribute))] {
		case torch.Adds, torch.Inserts, torch.Extends, torch.Updates, torch.Drops, torch.Empties:
			return t.Kind(t.Parent(p)) == syntax.Call
		}
	}
	return false
}

// readingsOf are the readings of a pile that are not in a loop over the data.
func (p *pile) readingsOf(inner *loop, m *names.Module) []Location {
	t := m.Tree
	var out []Location
	for _, n := range p.readings {
		if inner.at.module == m && t.Span(inner.at.node).Covers(t.Span(n)) {
			continue
		}
		if len(out) > 0 && t.Span(out[len(out)-1].Node).Covers(t.Span(n)) {
			continue
		}
		out = append(out, Location{m, n})
	}
	return out
}

// emptier is a method of the object that holds a collection which empties it, nil
// when its class has none.
func (in *interpreter) emptier(e *storeEvent) *Location {
	if e.holder == nil || in.objects[e.holder.object].kind != objectInstance {
		return nil
	}
	field := in.symbolNames[e.holder.field]
	for _, class := range in.objects[in.objects[e.holder.object].class].lineage {
		info := in.objects[class]
		if info.kind != objectClass {
			continue
		}
		t := info.at.module.Tree
		for n := info.at.node; n < t.End(info.at.node); n++ {
			if t.Kind(n) == syntax.FunctionDefinition && t.Text(t.Child(n, syntax.FieldName)) != "__init__" && empties(t, n, field) {
				return &Location{info.at.module, n}
			}
		}
	}
	return nil
}

// empties reports whether a function gives an attribute an empty collection, or
// empties the one it has.
func empties(t *syntax.Tree, function syntax.NodeID, field string) bool {
	is := func(n syntax.NodeID) bool {
		return t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == field
	}
	for n := function; n < t.End(function); n++ {
		switch t.Kind(n) {
		case syntax.Assignment:
			if is(t.Child(n, syntax.FieldLeft)) && isEmpty(t, bare(t, t.Child(n, syntax.FieldRight))) {
				return true
			}
		case syntax.Attribute:
			if torch.ContainerMethods[t.Text(t.Child(n, syntax.FieldAttribute))] == torch.Empties && is(t.Child(n, syntax.FieldObject)) {
				return true
			}
		}
	}
	return false
}

// isEmpty reports whether an expression is an empty collection, or None.
func isEmpty(t *syntax.Tree, n syntax.NodeID) bool {
	if n < 0 {
		return false
	}
	switch t.Kind(n) {
	case syntax.None:
		return true
	case syntax.List, syntax.Dictionary:
		return t.First(n) < 0
	case syntax.Call:
		name := t.Text(t.Child(n, syntax.FieldFunction))
		name = name[strings.LastIndexByte(name, '.')+1:]
		_, plain := torch.Containers[name]
		_, special := torch.Containers["collections."+name]
		first := t.First(t.Child(n, syntax.FieldArguments))
		return (plain || special) && (first < 0 || name == "defaultdict" && t.Next(first) < 0 || t.Kind(first) == syntax.KeywordArgument)
	}
	return false
}

// callWithin is the call in the code of a loop, of a method of the object that
// holds a collection, through which a store happens. It is nil when the loop's
// code, or the object itself, stores.
func (in *interpreter) callWithin(e *storeEvent, l *loop) *Location {
	var call *Location
	for c := e.at.frame; c != nil && c != l.at.frame; c = c.caller {
		t := c.module.Tree
		if t.Kind(c.node) != syntax.Call {
			continue
		}
		if e.holder != nil && in.isCalledOn(t, in.values[c.module], c.node, e.holder.object) {
			call = &Location{c.module, c.node}
		}
	}
	return call
}

// isCalledOn reports whether a call is one of an object or of a method of it, and
// not made by the object itself.
func (in *interpreter) isCalledOn(t *syntax.Tree, values lastValues, call syntax.NodeID, id ObjectID) bool {
	is := func(n syntax.NodeID) bool {
		v := values.at(n)
		return v != nil && slices.Contains(v.objects, id) && !isReceiver(t, n)
	}
	f := t.Child(call, syntax.FieldFunction)
	return is(f) || t.Kind(f) == syntax.Attribute && is(t.Child(f, syntax.FieldObject))
}

// isReceiver reports whether an expression is the first parameter of the method
// that it is in.
func isReceiver(t *syntax.Tree, n syntax.NodeID) bool {
	f := n
	for f >= 0 && t.Kind(f) != syntax.FunctionDefinition {
		f = t.Parent(f)
	}
	if f < 0 || t.Kind(n) != syntax.Identifier {
		return false
	}
	first := t.First(t.Child(f, syntax.FieldParameters))
	block := t.Parent(f)
	if t.Kind(block) == syntax.DecoratedDefinition {
		block = t.Parent(block)
	}
	return first >= 0 && t.Text(first) == t.Text(n) && t.Kind(t.Parent(block)) == syntax.ClassDefinition
}
