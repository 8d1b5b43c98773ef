package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// What refers to itself outlives its last use: Python frees it when the garbage
// collector comes by, and not when the last variable lets go of it. Where each
// iteration makes another one, those of many iterations lie in memory until then.

// ReferenceCycle is a function or an object that each iteration makes anew, that
// refers to itself, and that holds tensors.
type ReferenceCycle struct {
	// Made is what makes it: the definition of a function, or the call of a class.
	Made Location
	Name string // of the function or class
	// Path are the names by which it refers to itself: variables of functions, and
	// attributes with a dot.
	Path []string
	// Function says that it is a function, and not an object.
	Function bool
	// Holds is the variable or attribute that has the tensors. Graph says that no
	// backward freed the graphs of some, Model that it is a module.
	Holds        string
	Graph, Model bool
	Loop         Location
	Implicit     bool
	way          []link
	// depth is how many calls led to the function: the more of them were seen, the
	// better is known what it is given.
	depth int
}

// link is a step from one object to another.
type link struct {
	name string
	id   ObjectID
}

// Limits of the search for cycles: links in a row, and objects in all.
const (
	longestCycle = 6
	maxLinked    = 100
)

// cycles looks for those of what was made since a loop began, or in a frame.
type cycles struct {
	in    *interpreter
	loop  *loop
	since int // births; what is older is part of no cycle
	seen  map[ObjectID]bool
}

// links are what an object refers to. What comes from an earlier iteration is none
// of it: the next object of a chain is another one.
func (c *cycles) links(id ObjectID) []link {
	in := c.in
	var out []link
	add := func(name string, v *Value) { out = c.linked(out, name, v, 0) }
	switch info := in.objects[id]; info.kind {
	case objectInstance, objectModule:
		for _, f := range info.fields {
			add("."+in.symbolNames[f], in.state.get(Place{id, f}))
		}
	case objectContainer:
		add("", in.contents(id))
	case objectBound:
		out = append(out, link{"", info.parent})
	case objectFunction, objectPartial:
		for _, e := range in.captures(object(id)) {
			add(e.name, e.value)
		}
	}
	return out
}

func (c *cycles) linked(out []link, name string, v *Value, depth int) []link {
	if v == nil || depth > 2 || c.isCarried(v) {
		return out
	}
	for _, e := range v.elements {
		out = c.linked(out, name, e, depth+1)
	}
	for _, id := range v.objects {
		out = append(out, link{name, id})
	}
	return out
}

// isCarried reports whether a value is, or may be, that of an earlier iteration.
func (c *cycles) isCarried(v *Value) bool {
	return slices.ContainsFunc(v.atoms, func(x Atom) bool {
		info := &c.in.atoms[x]
		return (info.kind == atomCarried || info.kind == atomChained) && info.header.encloses(c.loop)
	})
}

// back is the way from an object to start, nil when there is none.
func (c *cycles) back(start, at ObjectID, way []link) []link {
	if c.seen[at] || len(way) >= longestCycle || len(c.seen) > maxLinked {
		return nil
	}
	c.seen[at] = true
	for _, l := range c.links(at) {
		if way := append(slices.Clone(way), l); l.id == start {
			if c.closes(start, way) {
				return way
			}
		} else if c.isNew(l.id) {
			if found := c.back(start, l.id, way); found != nil {
				return found
			}
		}
	}
	return nil
}

// closes reports whether a way from an object to one of its name leads to the very
// same: two objects of one place in the text have one name, so that a way through
// others, or through a function, says more than an attribute does.
func (c *cycles) closes(start ObjectID, way []link) bool {
	if c.in.objects[start].kind == objectFunction {
		return true
	}
	return slices.ContainsFunc(way, func(l link) bool {
		switch c.in.objects[l.id].kind {
		case objectBound, objectFunction, objectPartial:
			return true
		case objectInstance:
			return l.id != start
		}
		return false
	})
}

func (c *cycles) isNew(id ObjectID) bool {
	switch info := c.in.objects[id]; info.kind {
	case objectInstance, objectContainer, objectModule:
		return info.born > c.since
	case objectBound:
		return c.isNew(info.parent)
	case objectFunction, objectPartial:
		return true
	}
	return false
}

// holds looks for the tensors that an object keeps alive, itself or through others
// that are as new.
func (c *cycles) holds(id ObjectID, name string, r *ReferenceCycle) {
	if c.seen[id] || len(c.seen) > maxLinked {
		return
	}
	c.seen[id] = true
	in := c.in
	info := in.objects[id]
	if info.kind == objectModule || info.kind == objectInstance && in.isModuleClass(info.class) {
		r.Model = true
	}
	switch info.kind {
	case objectInstance, objectModule:
		for _, f := range info.fields {
			c.value(in.state.get(Place{id, f}), "."+in.symbolNames[f], r)
		}
	case objectContainer:
		c.value(in.contents(id), name, r)
	case objectBound:
		c.holds(info.parent, name, r)
	case objectFunction, objectPartial:
		for _, e := range in.captures(object(id)) {
			c.value(e.value, e.name, r)
		}
	}
}

func (c *cycles) value(v *Value, name string, r *ReferenceCycle) {
	if v == nil {
		return
	}
	in := c.in
	for _, x := range v.atoms {
		o := &in.atoms[x]
		if o.kind != atomOrigin || o.sure < Likely || o.leaf || o.parameter || !c.loop.encloses(o.loop) {
			continue
		}
		if unfreed := o.saves && !in.freed(x); r.Holds == "" || unfreed && !r.Graph {
			r.Holds, r.Graph = name, unfreed
		}
	}
	if r.Holds == "" && v.is(KindTensor) && v.memory != nil && v.memory.extent == Output && c.loop.encloses(v.memory.made) {
		r.Holds = name
	}
	for _, e := range v.elements {
		c.value(e, name, r)
	}
	for _, id := range v.objects {
		if c.isNew(id) {
			c.holds(id, name, r)
		}
	}
}

// cycleOf is the cycle through an object, if there is one that holds tensors.
func (in *interpreter) cycleOf(id ObjectID, l *loop, since int) (ReferenceCycle, bool) {
	c := &cycles{in: in, loop: l, since: since, seen: map[ObjectID]bool{}}
	way := c.back(id, id, nil)
	if way == nil {
		return ReferenceCycle{}, false
	}
	r := ReferenceCycle{Loop: Location{l.at.module, l.at.node}, Implicit: l.implicit, way: way}
	for _, s := range way {
		if s.name != "" {
			r.Path = append(r.Path, s.name)
		}
	}
	clear(c.seen)
	for _, s := range way {
		c.holds(s.id, s.name, &r)
	}
	return r, r.Holds != "" || r.Model
}

// closuresOf looks for functions that refer to themselves among those that a
// function defined, when it is over.
func (in *interpreter) closuresOf(f *frame) {
	l := in.anew(captured{frame: f})
	if in.dry || l == nil || f.module != in.main {
		return
	}
	t := in.main.Tree
	for _, name := range in.objects[f.object].fields {
		v := in.state.get(Place{f.object, name})
		if v == nil || len(v.objects) != 1 || in.objects[v.objects[0]].kind != objectFunction {
			continue
		}
		id := v.objects[0]
		code := in.objects[id].code
		if code.closure != f {
			continue
		}
		if r, ok := in.cycleOf(id, l, l.births); ok {
			r.Made, r.Name, r.Function = Location{code.module, code.node}, in.symbolNames[name], true
			r.depth = f.depth
			if r.Model = false; r.Holds != "" && t.Kind(code.node) != syntax.ClassDefinition && r.depth >= in.referenceCycles[r.Made].depth {
				in.referenceCycles[r.Made] = r
			}
		}
	}
}

// judgeObjects looks, at the end of the last pass over l, for objects of the
// iteration that refer to themselves, and that only variables hold.
func (in *interpreter) judgeObjects(l *loop, end *state) {
	if l.steps.few || in.main == nil {
		return
	}
	var kept map[ObjectID]bool
	for _, id := range in.instances {
		info := in.objects[id]
		if info.born <= l.births || info.at.module != in.main || !in.madeIn(l, info.at) {
			continue
		}
		if kept == nil {
			kept = in.keptObjects(l, end)
		}
		if kept[id] {
			continue
		}
		if r, ok := in.cycleOf(id, l, l.births); ok {
			for _, part := range r.way {
				kept[part.id] = true // it is said of one
			}
			r.Made, r.Name = Location{in.main, info.at.node}, in.className(info.class)
			if earlier, ok := in.referenceCycles[r.Made]; !ok || r.Graph && !earlier.Graph {
				in.referenceCycles[r.Made] = r
			}
		}
	}
}

// keptObjects are those of an iteration that something else than a variable
// refers to which was there before.
func (in *interpreter) keptObjects(l *loop, end *state) map[ObjectID]bool {
	kept := map[ObjectID]bool{}
	var keep func(v *Value, depth int)
	keep = func(v *Value, depth int) {
		if v == nil || depth > 3 {
			return
		}
		for _, e := range v.elements {
			keep(e, depth+1)
		}
		for _, id := range v.objects {
			if kept[id] {
				continue
			}
			kept[id] = true
			if k := in.objects[id].kind; k == objectContainer || k == objectInstance {
				keep(in.contents(id), depth+1)
			}
		}
	}
	for p := range l.written {
		if p.object < firstObject {
			continue
		}
		if info := in.objects[p.object]; info.kind != objectScope && info.born <= l.births {
			keep(end.get(p), 0)
		}
	}
	return kept
}

// className is the name of a class of the program.
func (in *interpreter) className(class ObjectID) string {
	info := in.objects[class]
	if info.kind != objectClass || info.at.module == nil {
		return ""
	}
	t := info.at.module.Tree
	return t.Text(t.Child(info.at.node, syntax.FieldName))
}

// cycleFacts are the cycles that iterations of the checked module leave.
func (in *interpreter) cycleFacts() []ReferenceCycle {
	return slices.SortedFunc(maps.Values(in.referenceCycles), func(a, b ReferenceCycle) int { return compareLocations(a.Made, b.Made) })
}
