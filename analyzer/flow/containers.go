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
	return in.heldBy(v, orPlain(out))
}

// instanceItem is obj[key] of an instance of a class of the program.
func (in *interpreter) instanceItem(n syntax.NodeID, id ObjectID, key *Value) *Value {
	class := in.objects[id].class
	if f := in.methodOf(n, id, "__getitem__"); f != nil {
		return in.apply(n, f, arguments{positional: []*Value{orPlain(key)}})
	}
	if elements, ok := in.elementsOf(id); ok {
		return in.lookup(n, object(elements), orPlain(key))
	}
	if in.isModuleClass(class) {
		return in.submodule(n, id)
	}
	if v := in.state.get(Place{id, in.index(key.literalOf())}); v != nil {
		return v
	}
	if v := in.fieldAt(id, key); v != nil {
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
			x = in.origin(at, info.loop, info.recorded)
		}
		out = append(out, x)
	}
	slices.Sort(out)
	return &Value{kinds: KindUnknown, atoms: slices.Compact(out)}
}

// sequenceOf is a list of the elements of v.
func (in *interpreter) sequenceOf(n syntax.NodeID, v *Value) *Value {
	id := in.allocateContainer(n, torch.List)
	in.write(Place{id, anyElement}, v)
	return object(id)
}

// getItem evaluates v[key] and v[a:b].
func (in *interpreter) getItem(n syntax.NodeID) *Value {
	t := in.tree()
	v := in.expression(t.Child(n, syntax.FieldValue))
	subscript := t.Child(n, syntax.FieldSubscript)
	if t.Kind(subscript) == syntax.Slice {
		for c := range t.Children(n) {
			if t.Role(c) == syntax.FieldSubscript {
				in.expression(c)
			}
		}
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
	switch {
	case len(v.objects) == 1 && strings.HasPrefix(in.objects[v.objects[0]].name, torch.Typing):
		return v // Tuple[int] is some Tuple
	case several:
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
	out := joinAll(v.elements)
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
	return in.heldBy(v, orPlain(out))
}

// missing makes the element that a defaultdict makes on first use.
func (in *interpreter) missing(n syntax.NodeID, id ObjectID, f Symbol) *Value {
	out := in.produced(n, id, f, in.objects[id].factory)
	in.write(Place{id, f}, join(in.state.get(Place{id, f}), out))
	return out
}

// produced is what a factory makes for the field of an object: a new container
// or instance of its own.
func (in *interpreter) produced(n syntax.NodeID, id ObjectID, f Symbol, factory *Value) *Value {
	var out *Value
	for _, fid := range factory.objects {
		switch info := in.objects[fid]; info.kind {
		case objectLibrary:
			if container, ok := torch.Containers[info.name]; ok {
				child, _ := in.newObject(objectKey{kind: objectContainer, parent: id, field: f, container: container})
				in.renew(child)
				out = join(out, object(child))
			}
		case objectFunction, objectPartial:
			out = join(out, in.apply(n, object(fid), arguments{}))
		case objectClass:
			child, _ := in.newObject(objectKey{kind: objectInstance, parent: id, field: f, class: fid})
			in.renew(child)
			out = join(out, in.initialise(n, child, fid, arguments{}))
		}
	}
	return orPlain(out)
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
			list := in.allocateContainer(n, torch.List)
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
func (a *analysis) fromThisIteration(as atoms) atoms {
	var out atoms
	for _, x := range as {
		if k := a.atoms[x].kind; k != atomCarried && k != atomChained {
			out = append(out, x)
		}
	}
	return out
}

// put gives v to the element of a container under a key. Elements whose keys
// are not literals share one place, which each new key makes larger.
func (in *interpreter) put(id ObjectID, key, v *Value, stmt, expr, target syntax.NodeID) {
	p := Place{id, in.index(key.literalOf())}
	if p.field != anyElement {
		in.store(p, v, stmt, expr, target)
		return
	}
	keys := Place{id, elementKeys}
	in.state.set(keys, join(in.state.get(keys), key))
	switch l := in.varies(key); {
	case in.shallowChained(v, p):
		in.store(p, join(in.state.get(p), v), stmt, expr, target)
	case l != nil:
		in.collectIn(l, id, anyElement, v, stmt, expr, target)
	default:
		in.write(p, join(in.state.get(p), v))
	}
}

// shallowChained reports whether v was made from what p was at the header of a
// running loop.
func (in *interpreter) shallowChained(v *Value, p Place) bool {
	all := in.shallow(v)
	for l := in.loop; l != nil; l = l.parent {
		if all.has(in.header(atomChained, l, p)) {
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
	if in.dependsOn(all, l, p) {
		in.note(l, &storeEvent{place: p, at: in.site(stmt), expr: expr, target: target, added: in.reach(v), collect: true})
	}
}

// newContainer is list(x), dict(x), deque(x), defaultdict(f)…
func (in *interpreter) newContainer(n syntax.NodeID, name string, container torch.Container, args arguments) *Value {
	first := args.at(0, "")
	// What is copied may be what n made the last time.
	var old []entry
	var element *Value
	expr := args.expr(0, n)
	switch {
	case first == nil || in.isLazy(first):
	case container == torch.Dict:
		for _, src := range first.objects {
			old = append(old, in.entries(src)...)
		}
	default:
		element = in.elementOf(expr, first)
	}
	allocate := in.allocateContainer
	if len(args.values()) == 0 {
		allocate = in.allocateEmpty
	}
	id := allocate(n, container)
	info := in.objects[id]
	switch name {
	case "collections.defaultdict":
		info.factory, first = first, args.at(1, "")
	case "collections.deque":
		info.bounded = info.bounded || isSmall(args.at(1, "maxlen"))
	case "queue.Queue":
		info.bounded = info.bounded || isSmall(args.at(0, "maxsize"))
		info.name = name
		first = nil
	}
	if container != torch.List {
		for _, k := range args.keyword {
			in.write(Place{id, in.index(k.name)}, k.value)
		}
	}
	v := object(id)
	if first == nil {
		return v
	}
	switch {
	case in.isLazy(first):
		v.structural = in.few(first)
		in.drain(id, n, expr, first)
	case container == torch.Dict:
		in.writeAll(id, old)
	default:
		in.write(Place{id, anyElement}, element)
		v.structural = in.few(first)
	}
	return v
}

// drain runs an iterator to its end: a loop that appends to a new container.
func (in *interpreter) drain(id ObjectID, n, expr syntax.NodeID, iterator *Value) {
	in.iterate(n, in.extentOf(iterator), forLoop, func() {
		in.write(Place{id, anyElement}, join(in.state.get(Place{id, anyElement}), &Value{}))
		e := in.next(n, expr, iterator)
		element := in.generated(expr)
		in.remember(element, e)
		in.consuming = element == expr
		in.collect(id, anyElement, e, n, element, n, nil)
		in.consuming = false
	})
}

// isSmall reports whether a limit keeps a queue to little.
func isSmall(limit *Value) bool {
	k, ok := limit.literalOf().(int)
	return ok && k > 0 && k <= smallQueue
}

// smallQueue is the largest maxlen of a deque that bounds it to little: a
// replay buffer of ten thousand is bounded too, but not before memory is full.
const smallQueue = 1000

// containerMethod is a method of a collection.
func (in *interpreter) containerMethod(n, receiver syntax.NodeID, id ObjectID, name string, args arguments) *Value {
	info := in.objects[id]
	first := args.at(0, "")
	expr := args.expr(0, n)
	switch torch.ContainerMethods[name] {
	case torch.Adds:
		in.collect(id, anyElement, first, n, expr, receiver, in.placeOf(receiver))
		return noValue
	case torch.Inserts:
		in.collect(id, anyElement, args.at(1, ""), n, args.expr(1, n), receiver, in.placeOf(receiver))
		return noValue
	case torch.Extends:
		in.extend(n, receiver, id, first, expr, in.placeOf(receiver))
		return noValue
	case torch.Updates:
		in.update(n, receiver, id, first, args)
		return noValue
	case torch.Defaults:
		f := in.index(first.literalOf())
		p := Place{id, f}
		v := join(in.state.get(p), in.ownDefault(id, f, args.at(1, "")))
		in.write(p, v)
		return orPlain(v)
	case torch.Gets:
		if info.container == torch.List { // of a queue
			v := in.contents(id)
			in.trim(id)
			return orPlain(v)
		}
		v := in.lookup(n, object(id), first)
		if len(args.positional) > 1 {
			v = join(v, args.positional[1])
		}
		return v
	case torch.Takes:
		v := in.contents(id)
		if first != nil && info.container == torch.Dict {
			v = in.lookup(n, object(id), first)
		}
		in.trim(id)
		return orPlain(v)
	case torch.Drops:
		in.trim(id)
		return noValue
	case torch.Empties:
		in.clear(id)
		return noValue
	case torch.Copies:
		old := in.entries(id)
		twin := in.allocateContainer(n, info.container)
		in.writeAll(twin, old)
		return object(twin)
	case torch.Keys:
		return &Value{kinds: KindObject, elements: []*Value{plain}, variadic: true, structural: true}
	case torch.Values:
		return &Value{kinds: KindObject, elements: []*Value{orPlain(in.contents(id))}, variadic: true, structural: info.container == torch.Dict}
	case torch.Items:
		return &Value{kinds: KindObject, elements: []*Value{tuple(plain, orPlain(in.contents(id)))}, variadic: true, structural: true}
	}
	return plain
}

// push is a function that puts an element into a list.
func (in *interpreter) push(n syntax.NodeID, list, element *Value, expr, target syntax.NodeID) *Value {
	if list == nil {
		return noValue
	}
	for _, id := range list.objects {
		if in.objects[id].kind == objectContainer {
			in.collect(id, anyElement, element, n, expr, target, in.placeOf(target))
		}
	}
	return noValue
}

// ownDefault is the default value of setdefault. An empty container that is
// made for each call becomes the entry's own.
func (in *interpreter) ownDefault(id ObjectID, f Symbol, v *Value) *Value {
	if v == nil || len(v.objects) != 1 {
		return v
	}
	info := in.objects[v.objects[0]]
	if info.kind != objectContainer || in.contents(v.objects[0]) != nil {
		return v
	}
	child, _ := in.newObject(objectKey{kind: objectContainer, parent: id, field: f, container: info.container})
	return object(child)
}

// extend gives the elements of v, the value of expr, to a collection that is
// written as target.
func (in *interpreter) extend(stmt, target syntax.NodeID, id ObjectID, v *Value, expr syntax.NodeID, holder *Place) {
	if in.objects[id].container != torch.List {
		in.update(stmt, target, id, v, arguments{exprs: []syntax.NodeID{expr}})
		return
	}
	in.collect(id, anyElement, in.elementOf(expr, v), stmt, in.onlyElement(expr), target, holder)
}

// update merges a mapping into a dict. A Counter adds instead of replacing.
func (in *interpreter) update(n, receiver syntax.NodeID, id ObjectID, with *Value, args arguments) {
	adds := in.objects[id].container == torch.Counter
	give := func(f Symbol, key, v *Value, expr syntax.NodeID) {
		p := Place{id, f}
		old := in.state.get(p)
		switch {
		case adds && old != nil:
			in.store(p, in.operate(n, false, old, v), n, expr, n)
		case f == anyElement:
			in.put(id, key, v, n, expr, receiver)
		default:
			in.write(p, v)
		}
	}
	if with != nil {
		for _, src := range with.objects {
			keys := orPlain(in.state.get(Place{src, elementKeys}))
			for _, f := range in.objects[src].fields {
				if v := in.state.get(Place{src, f}); v != nil {
					give(f, keys, v, in.entryExpr(args.expr(0, n), in.symbolNames[f]))
				}
			}
		}
	}
	for _, k := range args.keyword {
		give(in.index(k.name), plain, k.value, k.expr)
	}
}

// entryExpr is the value of a dict display's entry, else the whole expression.
func (in *interpreter) entryExpr(n syntax.NodeID, field string) syntax.NodeID {
	t := in.tree()
	if t.Kind(n) != syntax.Dictionary {
		return n
	}
	for c := range t.Children(n) {
		if t.Kind(c) != syntax.Pair {
			continue
		}
		if key := in.valueOf(t.Child(c, syntax.FieldKey)); key != nil && in.symbolNames[in.index(key.literal)] == field {
			return t.Child(c, syntax.FieldValue)
		}
	}
	return n
}

// clear empties a container.
func (in *interpreter) clear(id ObjectID) {
	info := in.objects[id]
	if info.kind != objectContainer && info.kind != objectUnknown {
		return
	}
	if !info.known[anyElement] {
		in.write(Place{id, anyElement}, nil)
	}
	for _, f := range info.fields {
		in.state.set(Place{id, f}, nil)
	}
}

// trim removes some elements of a container: what is left is bounded.
func (in *interpreter) trim(id ObjectID) {
	p := Place{id, anyElement}
	v := in.state.get(p)
	if v == nil {
		return
	}
	for l := in.loop; l != nil; l = l.parent {
		v = v.with(in.header(atomReset, l, p))
	}
	in.write(p, v)
}
