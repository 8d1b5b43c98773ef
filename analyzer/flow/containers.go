package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// item is element i of a value that is unpacked or indexed at n.
func (in *interpreter) item(n syntax.NodeID, v *Value, i int) *Value {
	if v == nil {
		return plain
	}
	if v.elements != nil {
		if e := v.element(i); e != nil {
			return e
		}
	}
	var out *Value
	for _, id := range v.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer:
			f := in.index(i)
			if info.known[f] {
				out = join(out, in.state.get(Place{id, f}))
				if info.known[anyElement] {
					out = join(out, in.state.get(Place{id, anyElement}))
				}
				continue
			}
			out = join(out, in.contents(id))
		case objectUnknown:
			out = join(out, in.unknownItem(v, id, i))
		case objectModule:
			out = join(out, in.submodule(n, id))
		case objectInstance:
			out = join(out, in.instanceItem(n, id, &Value{kinds: KindPlain, literal: i}))
		case objectParams:
			if !v.is(KindTensor) {
				out = join(out, in.parameter(id))
			}
		}
	}
	if out == nil && v.is(KindTensor) {
		return &Value{kinds: KindTensor, atoms: in.record(n, v.atoms, false), size: torch.AnySize}
	}
	if out == nil && v.is(KindUnknown) {
		return in.slotOf(v, i)
	}
	if out == nil {
		return plain
	}
	return out
}

// instanceItem is obj[key] of an instance of a class of the program.
func (in *interpreter) instanceItem(n syntax.NodeID, id ObjectID, key *Value) *Value {
	class := in.objects[id].class
	if v, owner := in.classAttribute(class, in.symbol("__getitem__"), 0); v != nil {
		return in.apply(n, in.bind(n, v, object(id), owner), arguments{positional: []*Value{orPlain(key)}})
	}
	if in.isModuleClass(class) {
		return in.submodule(n, id)
	}
	if v := in.state.get(Place{id, in.index(key.literalOf())}); v != nil {
		return v
	}
	return in.unknownField(id, in.index(key.literalOf()))
}

// unknownItem is an element of something that was made elsewhere.
func (in *interpreter) unknownItem(v *Value, id ObjectID, i int) *Value {
	return in.unknownEntry(v, id, in.index(i))
}

// unknownEntry is an element of something that was made elsewhere, under a
// literal key. Once it was looked at it has a place of its own: what is then
// done to it, such as storing its detached twin, is done to the whole.
func (in *interpreter) unknownEntry(v *Value, id ObjectID, f Symbol) *Value {
	p := Place{id, f}
	if e := in.state.get(p); e != nil {
		return e
	}
	e := *in.unknownField(id, f)
	if len(v.atoms) == 0 {
		return &e
	}
	e.atoms = in.slotOf(v, int(f)).atoms
	in.write(p, &e)
	return &e
}

// slotOf is one of several results of an unknown call: each has a graph of its
// own, if any.
func (in *interpreter) slotOf(v *Value, i int) *Value {
	out := make(atoms, 0, len(v.atoms))
	for _, x := range v.atoms {
		info := in.atoms[x]
		if info.kind == atomOrigin && info.sure == Possible && info.at.slot == 0 && i >= 0 {
			at := info.at
			at.slot = int32(i) + 1
			x = in.origin(at, info.loop, info.saves, info.leaf, info.sure)
		}
		out = append(out, x)
	}
	slices.Sort(out)
	return &Value{kinds: KindUnknown, atoms: slices.Compact(out)}
}

// elementOf is any element of what an expression evaluated to: what iterating
// over it gives, step by step, without running generators.
func (in *interpreter) elementOf(n syntax.NodeID, v *Value) *Value {
	if v == nil || !in.deeper() {
		return plain
	}
	defer func() { in.nesting-- }()
	var out *Value
	for _, e := range v.elements {
		out = join(out, e)
	}
	for _, id := range v.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer:
			if info.name == "dict" {
				out = join(out, plain) // its keys
				continue
			}
			out = join(out, in.contents(id))
		case objectGenerator:
			out = join(out, in.resume(n, id))
		case objectParams:
			out = join(out, in.parameter(id))
		case objectModule, objectInstance:
			out = join(out, in.iterated(n, id))
		case objectUnknown:
			f := in.symbol("[*]")
			if e := in.state.get(Place{id, f}); e != nil {
				out = join(out, e)
				continue
			}
			if e := in.state.get(Place{id, anyElement}); e != nil {
				out = join(out, e)
				continue
			}
			e := *in.unknownField(id, f)
			e.atoms = v.atoms
			out = join(out, &e)
		}
	}
	if v.is(KindTensor) {
		out = join(out, &Value{kinds: KindTensor, atoms: in.record(n, v.atoms, false)})
	}
	if out == nil && v.is(KindUnknown) {
		return &Value{kinds: KindUnknown, atoms: v.atoms}
	}
	if out == nil {
		return plain
	}
	return out
}

// next is what one step of a for loop over an iterable binds. It differs in
// each iteration.
func (in *interpreter) next(loopNode, n syntax.NodeID, it *Value) *Value {
	v := in.elementOf(n, it)
	if in.loop == nil {
		return v
	}
	return in.stepped(v, in.analysis.header(atomStep, in.loop, Place{}), 0)
}

// stepped marks a value and its elements as differing in each iteration.
func (in *interpreter) stepped(v *Value, step Atom, depth int) *Value {
	if v == nil || depth > 3 {
		return v
	}
	c := *v
	c.atoms = c.atoms.union(atoms{step})
	c.literal = nil
	if c.elements != nil {
		es := make([]*Value, len(c.elements))
		for i, e := range c.elements {
			es[i] = in.stepped(e, step, depth+1)
		}
		c.elements = es
	}
	return &c
}

// few reports whether iterating over v takes as many steps as the program has
// parts rather than as there is data.
func (in *interpreter) few(v *Value) bool {
	if v == nil {
		return false
	}
	if v.structural {
		return true
	}
	few := false
	for _, id := range v.objects {
		switch info := in.objects[id]; info.kind {
		case objectParams, objectModule:
			few = true
		case objectContainer:
			if in.contents(id) == nil {
				continue // nothing is known to be in it
			}
			if info.name != "dict" && !in.holdsModules(id) {
				return false
			}
			few = true
		default:
			return false
		}
	}
	return few
}

// holdsModules reports whether the elements of a container are modules: its
// length is the depth of a network.
func (in *interpreter) holdsModules(id ObjectID) bool {
	v := in.contents(id)
	if v == nil || !v.only(KindObject) || len(v.objects) == 0 {
		return false
	}
	for _, e := range v.objects {
		info := in.objects[e]
		if info.kind != objectModule && !(info.kind == objectInstance && in.isModuleClass(info.class)) {
			return false
		}
	}
	return true
}

// sequenceOf is a list of the elements of v.
func (in *interpreter) sequenceOf(n syntax.NodeID, v *Value) *Value {
	id := in.allocate(objectContainer, n, "list")
	in.write(Place{id, anyElement}, v)
	return object(id)
}

func (in *interpreter) getItem(n syntax.NodeID) *Value {
	t := in.tree()
	v := in.expression(t.Child(n, syntax.FieldValue))
	subscript := t.Child(n, syntax.FieldSubscript)
	if t.Kind(subscript) == syntax.Slice {
		in.expression(subscript)
		return in.slice(n, v, subscript)
	}
	key := in.expression(subscript)
	several := false
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldSubscript && c != subscript {
			in.expression(c)
			several = true
		}
	}
	if several {
		if v.is(KindTensor | KindUnknown) {
			return &Value{kinds: v.kinds & (KindTensor | KindUnknown), atoms: in.record(n, in.shallow(v), false)}
		}
		return plain
	}
	if i, ok := key.literal.(int); ok {
		return in.item(n, v, i)
	}
	return in.lookup(n, v, key)
}

// lookup is v[key] for a key that is not a literal position.
func (in *interpreter) lookup(n syntax.NodeID, v, key *Value) *Value {
	var out *Value
	for _, e := range v.elements {
		out = join(out, e)
	}
	for _, id := range v.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer:
			f := in.index(key.literalOf())
			e := in.state.get(Place{id, anyElement})
			if f != anyElement {
				e = join(e, in.state.get(Place{id, f}))
			} else {
				e = join(e, in.contents(id))
			}
			if e == nil && info.factory != nil {
				e = in.missing(n, id, f)
			}
			out = join(out, e)
		case objectUnknown:
			if f := in.index(key.literalOf()); f != anyElement {
				out = join(out, in.unknownEntry(v, id, f))
				continue
			}
			e := in.state.get(Place{id, anyElement})
			if e == nil {
				u := *in.unknownField(id, anyElement)
				u.atoms = v.atoms
				e = &u
			}
			out = join(out, e)
		case objectModule:
			out = join(out, in.submodule(n, id))
		case objectInstance:
			out = join(out, in.instanceItem(n, id, key))
		case objectParams:
			if !v.is(KindTensor) {
				out = join(out, in.parameter(id))
			}
		}
	}
	if v.is(KindTensor) {
		out = join(out, &Value{kinds: KindTensor, atoms: in.record(n, in.shallow(v), false)})
	}
	if out == nil && v.is(KindUnknown) {
		return &Value{kinds: KindUnknown, atoms: v.atoms}
	}
	if out == nil {
		return plain
	}
	return out
}

// missing makes the element that a defaultdict makes on first use.
func (in *interpreter) missing(n syntax.NodeID, id ObjectID, f Symbol) *Value {
	factory := in.objects[id].factory
	var out *Value
	for _, fid := range factory.objects {
		switch name := in.objects[fid].name; name {
		case "list", "set", "dict", "deque", "collections.deque":
			child, _ := in.newObject(objectKey{kind: objectContainer, parent: id, field: f, name: name})
			out = join(out, object(child))
		default:
			switch in.objects[fid].kind {
			case objectFunction, objectPartial:
				out = join(out, in.apply(n, object(fid), arguments{}))
			case objectClass:
				child, _ := in.newObject(objectKey{kind: objectInstance, parent: id, field: f, class: fid})
				out = join(out, in.initialise(n, child, fid, arguments{}))
			}
		}
	}
	if out == nil {
		out = plain
	}
	in.write(Place{id, f}, join(in.state.get(Place{id, f}), out))
	return out
}

// slice is v[a:b]: a view of a tensor, a new sequence of a list.
func (in *interpreter) slice(n syntax.NodeID, v *Value, subscript syntax.NodeID) *Value {
	if v.elements != nil && !v.variadic {
		return &Value{kinds: KindObject, elements: []*Value{joinAll(v.elements)}, variadic: true, structural: true}
	}
	few := in.takesFew(subscript)
	if v.elements != nil {
		w := *v
		w.structural = w.structural || few
		return &w
	}
	var out *Value
	for _, id := range v.objects {
		switch info := in.objects[id]; info.kind {
		case objectContainer:
			content := in.contents(id)
			if in.isTail(subscript) && content != nil {
				c := *content
				c.atoms = in.fromThisIteration(c.atoms)
				content = &c
			}
			list := in.allocate(objectContainer, n, "list")
			in.write(Place{list, anyElement}, content)
			out = join(out, object(list))
		case objectModule:
			out = join(out, in.submodule(n, id))
		case objectInstance:
			out = join(out, in.instanceItem(n, id, plain))
		}
	}
	if v.is(KindTensor | KindUnknown) {
		out = join(out, &Value{kinds: v.kinds & (KindTensor | KindUnknown), atoms: in.record(n, v.atoms, false)})
	}
	if few && out != nil {
		w := *out
		w.structural = true
		return &w
	}
	return out
}

// takesFew reports whether a slice takes a small literal number of elements.
func (in *interpreter) takesFew(subscript syntax.NodeID) bool {
	s := strings.TrimSpace(in.tree().Text(subscript))
	k, err := strconv.Atoi(strings.TrimSpace(strings.Trim(s, ":-")))
	return err == nil && k <= fewSteps && (strings.HasPrefix(s, ":") != strings.HasSuffix(s, ":")) &&
		strings.HasPrefix(s, ":") != strings.HasPrefix(s, "-")
}

// isTail reports whether a slice takes a fixed number of elements from the end.
func (in *interpreter) isTail(subscript syntax.NodeID) bool {
	s := in.tree().Text(subscript)
	return strings.HasPrefix(s, "-") && strings.HasSuffix(strings.TrimSpace(s), ":")
}

// fromThisIteration drops what a bounded tail of a list keeps only for a
// while.
func (in *interpreter) fromThisIteration(as atoms) atoms {
	var out atoms
	for _, x := range as {
		if k := in.atoms[x].kind; k != atomCarried && k != atomChained {
			out = append(out, x)
		}
	}
	return out
}

// setItem runs target[key] = v.
func (in *interpreter) setItem(target syntax.NodeID, v *Value, stmt, expr syntax.NodeID) {
	t := in.tree()
	base := t.Child(target, syntax.FieldValue)
	obj := in.expression(base)
	subscript := t.Child(target, syntax.FieldSubscript)
	key := in.expression(subscript)
	if in.state == nil || obj == nil {
		return
	}
	for _, id := range obj.objects {
		info := in.objects[id]
		if info.kind != objectContainer && info.kind != objectUnknown {
			continue
		}
		if info.kind == objectUnknown && obj.is(KindTensor) {
			continue
		}
		f := in.index(key.literalOf())
		p := Place{id, f}
		if f != anyElement {
			in.store(p, v, stmt, expr, target)
			continue
		}
		if in.shallowChained(v, p) {
			in.store(p, join(in.state.get(p), v), stmt, expr, target)
			continue
		}
		if l := in.varies(key); l != nil {
			in.collectIn(l, id, f, v, stmt, expr, target)
			continue
		}
		in.write(p, join(in.state.get(p), v))
	}
	if obj.is(KindTensor) {
		// Writing into a tensor chains its graph to what is written.
		p := in.placeOf(base)
		if p == nil || in.off {
			return
		}
		out := *obj
		out.atoms = in.record(target, in.shallow(obj).union(in.shallow(v)), false)
		in.store(*p, &out, stmt, expr, target)
	}
}

func (in *interpreter) shallowChained(v *Value, p Place) bool {
	all := in.shallow(v)
	for l := in.loop; l != nil; l = l.parent {
		if all.has(in.analysis.header(atomChained, l, p)) {
			return true
		}
	}
	return false
}

// varies finds the outermost running loop in each iteration of which a key
// has a new value.
func (in *interpreter) varies(key *Value) *loop {
	var found *loop
	for l := in.loop; l != nil; l = l.parent {
		for _, x := range key.atoms {
			info := &in.atoms[x]
			if info.header == l && (info.kind == atomStep || info.kind == atomChained) {
				found = l
			}
		}
	}
	return found
}

// collectIn is collect for a container whose keys are new only in each
// iteration of l.
func (in *interpreter) collectIn(l *loop, id ObjectID, f Symbol, v *Value, stmt, expr, target syntax.NodeID) {
	p := Place{id, f}
	old := in.state.get(p)
	in.write(p, join(old, v))
	if in.dry || old == nil || in.objects[id].bounded {
		return
	}
	all := in.shallow(old)
	if all.has(in.analysis.header(atomCarried, l, p)) || all.has(in.analysis.header(atomChained, l, p)) {
		in.note(l, &storeEvent{place: p, at: in.site(stmt), expr: expr, target: target, added: in.reach(v), collect: true})
	}
}

// placeOf is the place that an expression reads, nil when it is none.
func (in *interpreter) placeOf(n syntax.NodeID) *Place {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
		p := in.variable(t.Text(n))
		return &p
	case syntax.Attribute:
		obj := in.valueOf(t.Child(n, syntax.FieldObject))
		if obj == nil || len(obj.objects) != 1 {
			return nil
		}
		return &Place{obj.objects[0], in.symbol(t.Text(t.Child(n, syntax.FieldAttribute)))}
	case syntax.Subscript:
		obj := in.valueOf(t.Child(n, syntax.FieldValue))
		key := in.valueOf(t.Child(n, syntax.FieldSubscript))
		if obj == nil || key == nil || len(obj.objects) != 1 {
			return nil
		}
		return &Place{obj.objects[0], in.index(key.literalOf())}
	case syntax.ParenthesizedExpression:
		return in.placeOf(t.First(n))
	}
	return nil
}
