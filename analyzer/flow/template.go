package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// copied is the use of a summary's result by one call: the result is made anew
// from the arguments of that call, its objects when they are first looked at.
type copied struct {
	summary *summary
	at      site // the call
	leaves  []*Value
	origins []Atom
	objects []ObjectID // made so far, by number; 0 for the others
	fields  []map[Symbol]*copiedValue
	held    []heldObject // of the arguments
	within  *copied      // the copy whose object this one makes
	// changed says that something was written to one of the objects.
	changed bool
	// given says that the objects were there before the call that is being
	// summarised.
	given bool
}

// template says where the fields of an object come from.
type template struct {
	copy   *copied
	number int
}

// copyKey names the use of a summary at a call, or by an object of another
// summary's result.
type copyKey struct {
	summary *summary
	at      site
	within  *copied
	number  int
}

// reproduce is the result of a call at n by its summary.
func (in *interpreter) reproduce(n syntax.NodeID, s *summary, sig *signature) *Value {
	if s.active {
		in.activity++
	}
	if !in.dry {
		for _, leaf := range s.escapes {
			in.mark(in.escaped, in.reach(sig.leaves[leaf]))
			in.handOver(in.reach(sig.leaves[leaf]))
		}
		for _, leaf := range s.handed {
			in.mark(in.evaluations.handed, in.reach(sig.leaves[leaf]))
		}
	}
	at := in.site(n)
	c := in.copyOf(copyKey{summary: s, at: at}, at)
	c.leaves, c.held = sig.leaves, sig.held
	c.origins = c.origins[:0]
	var ofModels []Atom
	for i, o := range s.result.origins {
		here := at
		here.slot = int32(firstCopiedSlot + i)
		x := in.newOrigin(here, o.recorded)
		in.atoms[x].at = site{module: o.module, node: o.node, frame: in.called(n)}
		c.origins = append(c.origins, x)
		if o.model {
			ofModels = append(ofModels, x)
		}
	}
	in.summarisedCall(ofModels, sig)
	for i, o := range s.result.origins {
		x := c.origins[i]
		if len(o.through) > 0 {
			in.atoms[x].through = in.chain(c.atoms(in, o.through))
		}
		if in.proved[x] {
			in.atoms[x].sure = Certain
		}
		if o.escaped && !in.dry {
			in.mark(in.escaped, atoms{x})
		}
	}
	return orPlain(c.value(in, s.result.value))
}

// firstCopiedSlot starts the slots of origins that come from a summary: the
// results of unknown calls have those below.
const firstCopiedSlot = 1 << 16

// copyOf is the copy that a key names, with all objects as the summary has
// them.
func (in *interpreter) copyOf(key copyKey, at site) *copied {
	c := in.copies[key]
	if c == nil {
		count := len(key.summary.result.objects)
		c = &copied{summary: key.summary, at: at, within: key.within, objects: make([]ObjectID, count), fields: make([]map[Symbol]*copiedValue, count)}
		in.copies[key] = c
	}
	for _, id := range c.objects {
		if id != 0 {
			in.renew(id)
		}
	}
	c.changed = false
	return c
}

// value makes a value of the copy.
func (c *copied) value(in *interpreter, v *copiedValue) *Value {
	if v == nil {
		return nil
	}
	out := &Value{kinds: v.kinds, size: v.size, variadic: v.variadic, structural: v.structural, shown: v.shown, literal: v.literal, atoms: c.atoms(in, v.atoms)}
	out.elements = c.values(in, v.elements)
	for _, r := range v.objects {
		out.objects = unionSorted(out.objects, c.object(in, r))
	}
	return out
}

func (c *copied) values(in *interpreter, vs []*copiedValue) []*Value {
	var out []*Value
	for _, v := range vs {
		out = append(out, c.value(in, v))
	}
	return out
}

func (c *copied) atoms(in *interpreter, as []copiedAtom) atoms {
	var out atoms
	for _, a := range as {
		if !a.leaf {
			out = out.union(atoms{c.origins[a.number]})
			continue
		}
		from := c.leaves[a.number].atoms
		if a.chained {
			from = in.chain(from)
		}
		out = out.union(from)
	}
	return out
}

// object finds or makes what a reference refers to.
func (c *copied) object(in *interpreter, r reference) []ObjectID {
	switch r.kind {
	case toNamed:
		if id, ok := in.referent(r.object, r.module, r.node, r.name); ok {
			return []ObjectID{id}
		}
		return nil
	case toLeaf:
		leaf := c.leaves[r.number]
		if leaf == nil {
			return nil
		}
		ids := leaf.objects
		for _, name := range r.path {
			var next []ObjectID
			for _, id := range ids {
				v := in.state.get(Place{id, in.symbol(name)})
				if v == nil {
					v = in.unknownField(id, in.symbol(name))
				}
				next = unionSorted(next, v.objects)
			}
			ids = next
		}
		return ids
	}
	if r.kind == toHeld {
		h := c.held[r.number]
		if h.copy == nil {
			return []ObjectID{h.id}
		}
		return h.copy.object(in, reference{number: r.part})
	}
	if id := c.objects[r.number]; id != 0 {
		return []ObjectID{id}
	}
	if id := c.make(in, r.number); id != 0 {
		return []ObjectID{id}
	}
	return nil
}

// make makes object number of the copy.
func (c *copied) make(in *interpreter, number int) ObjectID {
	o := &c.summary.result.objects[number]
	if o.summary != nil { // another summary made it
		key := copyKey{summary: o.summary, at: c.at, within: c, number: number}
		inner := in.copies[key]
		if inner == nil {
			inner = in.copyOf(key, c.at)
		}
		inner.leaves = c.values(in, o.leaves)
		inner.origins = inner.origins[:0]
		for _, x := range o.origins {
			inner.origins = append(inner.origins, c.origins[x.number])
		}
		if id := inner.objects[o.number]; id != 0 {
			c.objects[number] = id
			return id
		}
		id := inner.make(in, o.number)
		c.objects[number] = id
		return id
	}
	key := objectKey{at: c.at, kind: o.like.kind, made: c, part: int32(number), name: o.like.name, container: o.like.container}
	switch o.like.kind {
	case objectInstance:
		class := c.object(in, o.class)
		if len(class) == 0 {
			return 0
		}
		key.class = class[0]
	case objectBound:
		function, receiver := c.object(in, o.class), c.object(in, o.parent)
		if len(function) == 0 || len(receiver) == 0 {
			return 0
		}
		key.class, key.parent = function[0], receiver[0]
	case objectParams:
		module := c.object(in, o.parent)
		if len(module) == 0 {
			return 0
		}
		key = objectKey{kind: objectParams, parent: module[0]}
	}
	id, info := in.newObject(key)
	c.objects[number] = id
	if !c.given {
		in.births++
		info.born = in.births
	}
	info.bounded, info.nn, info.model, info.optimizer = o.like.bounded, o.like.nn, o.like.model, o.like.optimizer
	switch o.like.kind {
	case objectPartial:
		info.call, info.args = c.value(in, o.call), arguments{positional: c.values(in, o.positional)}
		for _, k := range o.keywords {
			info.args.keyword = append(info.args.keyword, keywordArgument{name: k.name, value: c.value(in, k.value)})
		}
	case objectContainer:
		info.factory = c.value(in, o.call)
	}
	info.template = &template{copy: c, number: number}
	fields := make(map[Symbol]*copiedValue, len(o.fields))
	info.fields, info.known = nil, make(map[Symbol]bool, len(o.fields))
	for _, f := range o.fields {
		s := in.symbol(f.name)
		fields[s] = f.value
		info.fields = append(info.fields, s)
		info.known[s] = true
	}
	c.fields[number] = fields
	return id
}

// original is what a place held when a summary made its object, nil when none
// did.
func (in *interpreter) original(p Place) *Value {
	t := in.objects[p.object].template
	if t == nil {
		return nil
	}
	v, ok := t.copy.fields[t.number][p.field]
	if !ok {
		return nil
	}
	return t.copy.value(in, v)
}

// overwritten notes that a field of an object that a summary made has another
// value now.
func (info *objectInfo) overwritten(f Symbol) {
	if info.template == nil {
		return
	}
	for c := info.template.copy; c != nil; c = c.within {
		c.changed = true
	}
	if !slices.Contains(info.changed, f) {
		info.changed = append(info.changed, f)
	}
}

// barren reports whether nothing in the copy carries a graph, as is known
// without making its objects.
func (c *copied) barren() bool {
	return !c.changed && len(c.origins) == 0 && !slices.ContainsFunc(c.leaves, func(v *Value) bool { return v != nil && len(v.atoms) > 0 })
}
