package flow

import (
	"strconv"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// tupleDisplay evaluates a, b, *c.
func (in *interpreter) tupleDisplay(n syntax.NodeID) *Value {
	t := in.tree()
	elements := []*Value{}
	for c := range t.Children(n) {
		v := in.expression(c)
		if t.Kind(c) == syntax.ListSplat {
			if v.elements != nil && !v.variadic {
				elements = append(elements, v.elements...)
				continue
			}
			return &Value{kinds: KindObject, elements: []*Value{join(joinAll(elements), in.elementOf(c, v))}, variadic: true}
		}
		elements = append(elements, v)
	}
	return &Value{kinds: KindObject, elements: elements, structural: true}
}

// joinAll is the join of all values, nil when there is none.
func joinAll(vs []*Value) *Value {
	var out *Value
	for _, v := range vs {
		out = join(out, v)
	}
	return out
}

// listDisplay evaluates [a, b, *c] and {a, b}.
func (in *interpreter) listDisplay(n syntax.NodeID) *Value {
	t := in.tree()
	var parts []*Value
	var exprs []syntax.NodeID
	splat := false
	for c := range t.Children(n) {
		v := in.expression(c)
		if t.Kind(c) == syntax.ListSplat {
			splat = true
		} else {
			v = &Value{kinds: KindObject, elements: []*Value{v}}
		}
		parts, exprs = append(parts, v), append(exprs, c)
	}
	if splat {
		return in.joinedList(n, exprs, parts)
	}
	if len(parts) == 0 {
		return object(in.allocateEmpty(n, torch.List))
	}
	id := in.allocateContainer(n, torch.List)
	for i, part := range parts {
		// A list made of what an earlier one held hands it on.
		in.store(Place{id, in.index(i)}, part.elements[0], n, exprs[i], in.assignedTo(n, exprs[i]))
	}
	v := object(id)
	v.structural = true
	return v
}

// assignedTo is the variable that an expression is assigned to as a whole, else
// otherwise.
func (in *interpreter) assignedTo(n, otherwise syntax.NodeID) syntax.NodeID {
	t := in.tree()
	if p := t.Parent(n); t.Kind(p) == syntax.Assignment && t.Role(n) == syntax.FieldRight {
		return t.Child(p, syntax.FieldLeft)
	}
	return otherwise
}

// index is the field of a container's element at a literal position or key.
func (a *analysis) index(key any) Symbol {
	switch k := key.(type) {
	case int:
		return a.symbol("[" + strconv.Itoa(k) + "]")
	case string:
		return a.symbol("[\"" + k + "\"]")
	}
	return anyElement
}

// entry is an element of a collection.
type entry struct {
	field Symbol
	value *Value
	key   *Value        // of an entry of a dict display
	expr  syntax.NodeID // the same: the value's, else NoNode
}

// entries are the elements of an object by its fields.
func (in *interpreter) entries(id ObjectID) []entry {
	var out []entry
	for _, f := range in.objects[id].fields {
		if v := in.state.get(Place{id, f}); v != nil {
			out = append(out, entry{f, v, nil, syntax.NoNode})
		}
	}
	return out
}

// writeAll gives a collection elements by their fields.
func (in *interpreter) writeAll(id ObjectID, es []entry) {
	for _, e := range es {
		p := Place{id, e.field}
		v := e.value
		if e.field == anyElement {
			v = join(in.state.get(p), v)
		}
		in.write(p, v)
	}
}

// dictDisplay evaluates {key: value, **other}.
func (in *interpreter) dictDisplay(n syntax.NodeID) *Value {
	t := in.tree()
	var entries []entry
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.Pair:
			key := in.expression(t.Child(c, syntax.FieldKey))
			value := t.Child(c, syntax.FieldValue)
			entries = append(entries, entry{in.index(key.literal), in.expression(value), key, value})
		case syntax.DictionarySplat:
			v := in.expression(c)
			for _, id := range v.objects {
				entries = append(entries, in.entries(id)...)
			}
		}
	}
	if len(entries) == 0 {
		return object(in.allocateEmpty(n, torch.Dict))
	}
	id := in.allocateContainer(n, torch.Dict)
	for _, e := range entries {
		p := Place{id, e.field}
		switch {
		case e.expr >= 0:
			in.put(id, e.key, e.value, n, e.expr, n)
		case e.field == anyElement:
			in.write(p, join(in.state.get(p), e.value))
		default:
			in.write(p, e.value)
		}
	}
	return object(id)
}

// comprehension runs [element for target in iterable if condition]: a loop
// that appends to a new container. What it reads may be the container that it
// made the last time, so the elements come into it when the loop is over.
func (in *interpreter) comprehension(n syntax.NodeID) *Value {
	t := in.tree()
	body := t.Child(n, syntax.FieldBody)
	container := torch.List
	value := body
	if t.Kind(n) == syntax.DictionaryComprehension {
		container = torch.Dict
		value = t.Child(body, syntax.FieldValue)
	}
	at := in.site(n)
	at.slot = 1
	made, _ := in.newObject(objectKey{at: at, kind: objectContainer, container: container})
	in.renew(made)
	var keys *Value
	few := true
	in.enclosed(n, func() {
		in.write(Place{made, anyElement}, &Value{})
		few = in.clauses(n, func() {
			if value != body {
				keys = join(keys, in.expression(t.Child(body, syntax.FieldKey)))
			}
			in.collect(made, anyElement, in.expression(value), n, value, n, nil)
		})
	})
	id := in.allocateContainer(n, container)
	if in.state == nil {
		return object(id)
	}
	in.state.set(Place{id, elementKeys}, keys)
	in.store(Place{id, anyElement}, in.state.get(Place{made, anyElement}), n, value, n)
	v := object(id)
	v.structural = few
	return v
}

// clauses runs body in the loops and under the conditions of a comprehension.
// It reports whether all loops take few steps.
func (in *interpreter) clauses(n syntax.NodeID, body func()) (few bool) {
	t := in.tree()
	var clauses []syntax.NodeID
	for c := range t.Children(n) {
		if k := t.Kind(c); k == syntax.ForInClause || k == syntax.IfClause {
			clauses = append(clauses, c)
		}
	}
	few = true
	var run func(i int)
	run = func(i int) {
		if in.state == nil {
			return
		}
		if i == len(clauses) {
			body()
			return
		}
		c := clauses[i]
		if t.Kind(c) == syntax.IfClause {
			in.expression(t.First(c))
			base := in.state
			if base == nil {
				return
			}
			in.state = base.push()
			run(i + 1)
			in.state = merge(base, nil, in.state, base.push())
			return
		}
		right := t.Child(c, syntax.FieldRight)
		it := in.expression(right)
		steps := in.extentOf(it)
		few = few && steps.few
		in.iterate(c, steps, forLoop, func() {
			in.assign(t.Child(c, syntax.FieldLeft), in.next(c, right, it), c, right)
			run(i + 1)
		})
	}
	run(0)
	return few
}

// enclosed runs f in the scope of a comprehension or lambda-like block.
func (in *interpreter) enclosed(n syntax.NodeID, f func()) {
	scope := in.frame.module.Scope(n)
	outer := in.frame
	if scope == nil {
		f()
		return
	}
	id := in.allocate(objectScope, n)
	inner := *outer
	inner.scope, inner.object, inner.closure = scope, id, outer
	in.frame = &inner
	f()
	outer.yields, outer.result = inner.yields, inner.result
	outer.returns, outer.loops = inner.returns, inner.loops
	if !scope.Captured {
		in.leave(&inner, []*state{in.state})
	}
	in.frame = outer
}
