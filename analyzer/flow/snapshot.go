package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// snapshot is a value with the objects that it holds, in terms that have a
// meaning in any analysis: arguments by their leaf, functions and classes by
// name, graphs and new objects by number.
type snapshot struct {
	value   *copiedValue
	objects []copiedObject
	origins []copiedOrigin
}

// copiedValue is a Value of a snapshot. nil stands for nil.
type copiedValue struct {
	plainValue
	atoms    []copiedAtom
	elements []*copiedValue
	objects  []reference
}

// plainValue is what tells most values: they refer to nothing.
type plainValue struct {
	kinds      Kinds
	size       torch.Size
	variadic   bool
	structural bool
	shown      evidence
	literal    any
}

// copiedAtom is an argument leaf or one of the snapshot's origins.
type copiedAtom struct {
	leaf    bool
	number  int
	chained bool // of a leaf: an operation was applied to it
}

// copiedOrigin is an operation that recorded a graph.
type copiedOrigin struct {
	recorded
	module  *names.Module
	node    syntax.NodeID
	through []copiedAtom
	escaped bool
}

type referenceKind uint8

const (
	toNew   referenceKind = iota // one of the snapshot's objects
	toLeaf                       // an object of an argument, or what it holds at path
	toNamed                      // what named describes
	toHeld                       // an object whose contents the signature describes
)

// reference says which object is meant.
type reference struct {
	kind   referenceKind
	number int // of the object, leaf or held object
	part   int // of what a summary made that is held
	path   []string

	object objectKind
	module *names.Module
	node   syntax.NodeID
	name   string
}

// copiedObject is an object that the call made.
type copiedObject struct {
	like   likeness
	class  reference // of an instance; of a bound method: its function
	parent reference // of a bound method: its receiver; of parameters: the module
	// summary says that another summary made it, as the number-th of its objects,
	// from arguments and graphs that are given in these terms.
	summary *summary
	number  int
	leaves  []*copiedValue
	origins []copiedAtom

	call       *copiedValue
	positional []*copiedValue
	keywords   []copiedKeyword
	fields     []copiedField
}

// likeness is what an object is, without what it refers to.
type likeness struct {
	kind                      objectKind
	bounded, model, optimizer bool
	container                 torch.Container
	nn                        torch.ModuleClass
	name                      string
}

type copiedKeyword struct {
	name  string
	value *copiedValue
}

type copiedField struct {
	name  string
	value *copiedValue
}

// maxCopied bounds the objects of a snapshot.
const maxCopied = 300

// exporter makes a snapshot of values of one analysis.
type exporter struct {
	*interpreter
	out     *snapshot
	nodes   map[ObjectID]int
	origins map[Atom]int
	plain   map[plainValue]*copiedValue
	failed  bool
}

func (e *exporter) value(v *Value) *copiedValue {
	if v == nil || e.failed {
		return nil
	}
	c := &copiedValue{plainValue: plainValue{v.kinds, v.size, v.variadic, v.structural, v.shown, v.literal}}
	if len(v.atoms)+len(v.elements)+len(v.objects) == 0 {
		return e.shared(c)
	}
	c.atoms = e.atoms(v.atoms, false, map[Atom]bool{})
	for _, x := range v.elements {
		c.elements = append(c.elements, e.value(x))
	}
	for _, id := range v.objects {
		c.objects = append(c.objects, e.object(id))
	}
	return c
}

// shared is the one value of the snapshot that is like c, which refers to nothing.
func (e *exporter) shared(c *copiedValue) *copiedValue {
	if have := e.plain[c.plainValue]; have != nil {
		return have
	}
	if e.plain == nil {
		e.plain = map[plainValue]*copiedValue{}
	}
	e.plain[c.plainValue] = c
	return c
}

func (e *exporter) values(vs []*Value) []*copiedValue {
	var out []*copiedValue
	for _, v := range vs {
		out = append(out, e.value(v))
	}
	return out
}

// leafOf is the argument that an atom stands for.
func (in *interpreter) leafOf(x Atom) (leaf int, chained, ok bool) {
	info := &in.atoms[x]
	switch info.kind {
	case atomOrigin:
		if info.parameter && info.at.module == nil && info.at.slot <= parameterLeaf {
			return int(parameterLeaf - info.at.slot), false, true
		}
	case atomCarried, atomChained:
		if info.header == in.making.entry {
			return int(info.place.field), info.kind == atomChained, true
		}
	}
	return 0, false, false
}

// atoms are those of a value. What a loop of the call carried is replaced by
// what it was made from.
func (e *exporter) atoms(as atoms, chained bool, seen map[Atom]bool) []copiedAtom {
	var out []copiedAtom
	for _, x := range as {
		if seen[x] {
			continue
		}
		seen[x] = true
		if leaf, through, ok := e.leafOf(x); ok {
			out = append(out, copiedAtom{leaf: true, number: leaf, chained: through || chained})
			continue
		}
		switch info := &e.interpreter.atoms[x]; info.kind {
		case atomOrigin:
			out = append(out, copiedAtom{number: e.origin(x)})
		case atomCarried, atomChained:
			out = append(out, e.atoms(info.header.back[info.place].reach, chained || info.kind == atomChained, seen)...)
		}
	}
	return out
}

func (e *exporter) origin(x Atom) int {
	if i, ok := e.origins[x]; ok {
		return i
	}
	info := &e.interpreter.atoms[x]
	i := len(e.out.origins)
	e.origins[x] = i
	e.out.origins = append(e.out.origins, copiedOrigin{recorded: info.recorded, module: info.at.module, node: info.at.node, escaped: e.escaped[x]})
	e.out.origins[i].through = e.atoms(info.through, false, map[Atom]bool{})
	return i
}

func (e *exporter) object(id ObjectID) reference {
	if kind, m, name, ok := e.named(id); ok {
		return reference{kind: toNamed, object: kind, module: m, node: e.objects[id].at.node, name: name}
	}
	if leaf, path, ok := e.leafPath(id); ok {
		return reference{kind: toLeaf, number: leaf, path: path}
	}
	if i, ok := e.nodes[id]; ok {
		return reference{number: i}
	}
	if i, ok := e.making.held[id]; ok {
		return reference{kind: toHeld, number: i}
	}
	info := e.objects[id]
	if t := info.template; t != nil {
		if i, ok := e.making.copies[t.copy]; ok {
			return reference{kind: toHeld, number: i, part: t.number}
		}
	}
	switch info.kind {
	case objectUnknown, objectContainer, objectInstance, objectModule, objectParams, objectPartial, objectBound:
	default:
		e.failed = true
	}
	if info.global || len(e.out.objects) >= maxCopied {
		e.failed = true
	}
	if e.failed {
		return reference{}
	}
	i := len(e.out.objects)
	e.nodes[id] = i
	e.out.objects = append(e.out.objects, copiedObject{like: likeness{
		kind: info.kind, name: info.name, container: info.container, bounded: info.bounded, nn: info.nn, model: info.model, optimizer: info.optimizer,
	}})
	var c copiedObject
	c.like = e.out.objects[i].like
	if t := info.template; t != nil && !t.copy.changed && len(t.copy.held) == 0 {
		c.summary, c.number, c.leaves = t.copy.summary, t.number, e.values(t.copy.leaves)
		for _, x := range t.copy.origins {
			c.origins = append(c.origins, copiedAtom{number: e.origin(x)})
		}
		if info.kind == objectInstance {
			c.class = e.object(info.class)
		}
		e.out.objects[i] = c
		return reference{number: i}
	}
	switch info.kind {
	case objectInstance:
		c.class = e.object(info.class)
	case objectBound:
		c.class, c.parent = e.object(info.class), e.object(info.parent)
	case objectParams:
		c.parent = e.object(info.parent)
	case objectPartial:
		c.call, c.positional = e.value(info.call), e.values(info.args.positional)
		for _, k := range info.args.keyword {
			c.keywords = append(c.keywords, copiedKeyword{k.name, e.value(k.value)})
		}
		if info.args.star != nil {
			e.failed = true
		}
	case objectContainer:
		c.call = e.value(info.factory)
	}
	fields := info.fields
	if !slices.Contains(fields, frozenMark) && e.frozen(id) {
		fields = append(slices.Clone(fields), frozenMark)
	}
	c.fields = make([]copiedField, 0, len(fields))
	for _, f := range fields {
		if v := e.state.get(Place{id, f}); v != nil {
			c.fields = append(c.fields, copiedField{e.symbolNames[f], e.value(v)})
		}
	}
	e.out.objects[i] = c
	return reference{number: i}
}

// leafPath finds the argument leaf that an object is, or is part of, and the
// fields that lead to it.
func (in *interpreter) leafPath(id ObjectID) (leaf int, path []string, ok bool) {
	for range maxReach {
		info := in.objects[id]
		if info.kind != objectUnknown || info.parent == 0 {
			return 0, nil, false
		}
		if info.parent == argumentLeaves {
			slices.Reverse(path)
			return int(info.field), path, true
		}
		path = append(path, in.symbolNames[info.field])
		id = info.parent
	}
	return 0, nil, false
}
