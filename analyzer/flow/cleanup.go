package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Cleanup is a call that frees what nothing refers to, such as gc.collect(): it
// frees nothing else.
type Cleanup struct {
	Call Location
	Name string // dotted
	// Loops are those around it, also in callers, the innermost first.
	Loops []Location
	// Held is what was deleted just before, and something still refers to.
	Held []Held
	// Late is a del statement after it, of something large, with no call in between.
	// No other cleanup follows; its Module is nil where there is none.
	Late Location
}

// Held is a name that was deleted, of something that is still referred to.
type Held struct {
	Deleted Location
	// By is what refers to it: a variable of the same function, or the argument of
	// the caller.
	By     Location
	Name   string
	Caller bool
	// Parameters says that it has the parameters of a model, as an optimizer has.
	Parameters bool
}

// cleans notes a cleanup that runs at n.
func (in *interpreter) cleans(n syntax.NodeID, name string) {
	t := in.tree()
	statement := t.Parent(n)
	if in.dry || in.frame.module != in.main || t.Kind(statement) != syntax.ExpressionStatement {
		return
	}
	c := Cleanup{Call: Location{in.main, n}, Name: name}
	for l := in.loop; l != nil; l = l.parent {
		if !l.steps.few {
			c.Loops = append(c.Loops, loopLocation(l))
		}
	}
	siblings := slices.Collect(t.Children(t.Parent(statement)))
	at := slices.Index(siblings, statement)
	before, after := siblings[:at], siblings[at+1:]
	for _, s := range slices.Backward(before) {
		if t.Kind(s) != syntax.DeleteStatement {
			continue
		}
		for _, deleted := range namesIn(t, s) {
			if h, ok := in.heldAfter(deleted, after); ok {
				c.Held = append(c.Held, h)
			}
		}
	}
	if torch.Cleans(name) == torch.CleansCache && !slices.ContainsFunc(after, in.isCleanup) {
		c.Late = in.lateAfter(after)
	}
	if earlier, ok := in.cleanups[c.Call]; ok {
		c.Loops = append(c.Loops, earlier.Loops...)
		if len(c.Held) == 0 {
			c.Held = earlier.Held
		}
	}
	in.cleanups[c.Call] = c
}

// lateAfter is the del statement of something large among those that follow a
// cleanup, its Module nil where there is none, or where something is done first.
func (in *interpreter) lateAfter(statements []syntax.NodeID) Location {
	t := in.tree()
	for _, s := range statements {
		if t.Kind(s) == syntax.DeleteStatement {
			names := namesIn(t, s)
			for n := statements[0]; n < s; n++ { // what uses it comes first
				if t.Kind(n) == syntax.Identifier && slices.ContainsFunc(names, func(name syntax.NodeID) bool { return t.Text(name) == t.Text(n) }) {
					return Location{}
				}
			}
			if slices.ContainsFunc(names, in.isLarge) {
				return Location{in.main, s}
			}
			return Location{}
		}
		for n := s; n < t.End(s); n++ {
			if t.Kind(n) == syntax.Call {
				return Location{}
			}
		}
	}
	return Location{}
}

// namesIn are the variables that a del statement deletes.
func namesIn(t *syntax.Tree, statement syntax.NodeID) []syntax.NodeID {
	var out []syntax.NodeID
	first := t.First(statement)
	if t.Kind(first) == syntax.Identifier {
		return []syntax.NodeID{first}
	}
	if k := t.Kind(first); k == syntax.ExpressionList || k == syntax.Tuple {
		for c := range t.Children(first) {
			if t.Kind(c) == syntax.Identifier {
				out = append(out, c)
			}
		}
	}
	return out
}

// isCleanup reports whether a statement is a call that cleans up.
func (in *interpreter) isCleanup(statement syntax.NodeID) bool {
	t := in.tree()
	if t.Kind(statement) != syntax.ExpressionStatement || t.Kind(t.First(statement)) != syntax.Call {
		return false
	}
	f := in.nameOf(t.Child(t.First(statement), syntax.FieldFunction)) // it may not have run yet
	return f != nil && slices.ContainsFunc(f.objects, func(id ObjectID) bool { return torch.Cleans(in.objects[id].name) != torch.CleansNothing })
}

// nameOf is what a name, or attributes of one, refers to, nil for anything else.
func (in *interpreter) nameOf(n syntax.NodeID) *Value {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
		return in.load(n)
	case syntax.Attribute:
		if v := in.nameOf(t.Child(n, syntax.FieldObject)); v != nil {
			return in.attribute(n, v, t.Text(t.Child(n, syntax.FieldAttribute)))
		}
	}
	return nil
}

// deletes notes what a name had that is deleted.
func (in *interpreter) deletes(n syntax.NodeID) {
	if !in.dry && in.frame.module == in.main {
		in.deletions[n] = in.state.get(in.variable(in.tree().Text(n)))
	}
}

// isLarge reports whether a variable has a tensor or a model.
func (in *interpreter) isLarge(name syntax.NodeID) bool {
	v := in.state.get(in.variable(in.tree().Text(name)))
	return v != nil && (v.is(KindTensor|KindUnknown) && v.memory != nil || v.only(KindTensor) && in.sure(v.atoms) >= Likely || len(in.models(v)) > 0)
}

// models are the objects of a value that have parameters.
func (in *interpreter) models(v *Value) []ObjectID {
	var out []ObjectID
	for _, id := range v.objects {
		if in.isModel(object(id)) {
			out = append(out, id)
		}
	}
	return out
}

// heldAfter is what refers to something after its name was deleted; rest are the
// statements that follow the cleanup.
func (in *interpreter) heldAfter(deleted syntax.NodeID, rest []syntax.NodeID) (Held, bool) {
	t := in.tree()
	v := in.deletions[deleted]
	if v == nil {
		return Held{}, false
	}
	name := t.Text(deleted)
	h := Held{Deleted: Location{in.main, deleted}}
	if arg, ok := in.givenBy(name); ok {
		h.By, h.Name, h.Caller = arg, arg.Text(), true
		return h, true
	}
	models := in.models(v)
	if len(models) == 0 {
		return Held{}, false
	}
	for _, field := range in.objects[in.frame.object].fields {
		p := Place{in.frame.object, field}
		other := in.state.get(p)
		if other == nil || in.symbolNames[field] == name {
			continue
		}
		held, parameters := in.holdsModel(other, models, 0)
		if !held || in.deletedLater(in.symbolNames[field], rest) {
			continue
		}
		h.Name, h.Parameters = in.symbolNames[field], parameters
		if d, ok := in.defined[p]; ok {
			h.By = d.expr
		}
		return h, true
	}
	return Held{}, false
}

// deletedLater reports whether statements delete a name and then clean up.
func (in *interpreter) deletedLater(name string, statements []syntax.NodeID) bool {
	t := in.tree()
	gone := false
	for _, s := range statements {
		switch {
		case t.Kind(s) == syntax.DeleteStatement:
			gone = gone || slices.ContainsFunc(namesIn(t, s), func(n syntax.NodeID) bool { return t.Text(n) == name })
		case gone && in.isCleanup(s):
			return true
		}
	}
	return false
}

// holdsModel reports whether a value holds one of the models, or their parameters.
func (in *interpreter) holdsModel(v *Value, models []ObjectID, depth int) (held, parameters bool) {
	if v == nil || depth > 3 {
		return false, false
	}
	for _, e := range v.elements {
		if held, parameters = in.holdsModel(e, models, depth+1); held {
			return held, parameters
		}
	}
	for _, id := range v.objects {
		info := in.objects[id]
		if slices.Contains(models, id) {
			return true, false
		}
		switch info.kind {
		case objectParams:
			held, parameters = slices.Contains(models, info.parent), true
		case objectContainer, objectInstance:
			held, parameters = in.holdsModel(in.contents(id), models, depth+1)
		case objectUnknown:
			if m := in.makings[id]; m != nil && torch.OptimizerClass(info.name) {
				held, parameters = in.holdsModel(m.given, models, depth+1)
			}
		}
		if held {
			return held, parameters
		}
	}
	return false, false
}

// givenBy is the expression of the running call that gives a parameter its value, if
// it is one that the caller goes on to hold: a name, an attribute or an element.
func (in *interpreter) givenBy(name string) (Location, bool) {
	f := in.frame
	if f.code == nil || f.call == nil {
		return Location{}, false
	}
	t, call := f.call.module.Tree, f.call.node
	own := f.code.module.Tree
	index := slices.Index(parameterNames(own, f.code.node), name)
	if index < 0 || t.Kind(call) != syntax.Call || bindsWithin(own, own.Child(f.code.node, syntax.FieldBody), name) {
		return Location{}, false
	}
	if f.code.class != 0 && f.code.kind != staticMethod {
		index--
	}
	for e := range t.Children(t.Child(call, syntax.FieldArguments)) {
		value := syntax.NoNode
		switch k := t.Kind(e); {
		case k == syntax.KeywordArgument:
			if t.Text(t.Child(e, syntax.FieldName)) == name {
				value = t.Child(e, syntax.FieldValue)
			}
		case k == syntax.ListSplat, k == syntax.DictionarySplat, k == syntax.Comment:
			return Location{}, false
		case index == 0:
			value = e
			fallthrough
		default:
			index--
		}
		switch {
		case value < 0:
		case t.Kind(value) == syntax.Identifier, t.Kind(value) == syntax.Attribute, t.Kind(value) == syntax.Subscript:
			return Location{f.call.module, value}, true
		default:
			return Location{}, false
		}
	}
	return Location{}, false
}

// cleanupFacts are the cleanups of the checked module.
func (in *interpreter) cleanupFacts() []Cleanup {
	return slices.SortedFunc(maps.Values(in.cleanups), func(a, b Cleanup) int { return compareLocations(a.Call, b.Call) })
}
