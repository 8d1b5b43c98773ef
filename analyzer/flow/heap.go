package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// ObjectID names an object of the abstract heap. All objects made by one
// expression in one calling context share one name: it stands for the one made
// last.
type ObjectID int32

type objectKind uint8

const (
	objectUnknown  objectKind = iota // made elsewhere: an argument, an attribute of one
	objectScope                      // the variables of a running function or a module
	objectLibrary                    // something of a library, by its dotted name
	objectGuard                      // a grad-mode context manager, by the dotted name of its class
	objectFunction                   // def or lambda
	objectBound                      // a method with its receiver
	objectClass
	objectInstance
	objectSuper     // super() within a method
	objectContainer // list, dict, set, deque, Counter…
	objectGenerator // a call of a generator function, or a generator expression
	objectModule    // an instance of a library's nn.Module class
	objectParams    // the parameters of a module
	objectPartial   // functools.partial
	objectImport    // a name of another file that was not looked up yet
	objectRetention // a backward that was asked to keep the graph
	objectGradients // a backward that leaves graphs in gradients
	objectException // what a handler caught
)

type objectInfo struct {
	kind      objectKind
	at        site
	parent    ObjectID // of an unknown: whose field it is; of a bound method: its receiver; of parameters: the module
	field     Symbol
	name      string   // of what a library has or made: its dotted name
	code      *code    // of a function or generator
	class     ObjectID // of an instance or super(): its class; of a bound method: its function
	bases     []*Value
	lineage   []ObjectID // of a class: itself and all it derives from
	annotated []Symbol   // of a class: the names its body annotates, in order
	fields    []Symbol   // written so far, in order
	known     map[Symbol]bool
	parts     []ObjectID // of an unknown: what was reached through it
	container torch.Container
	// bounded says that a container drops its oldest element, or that what a
	// metric keeps does not grow.
	bounded bool
	// factory makes the missing elements of a defaultdict.
	factory   *Value
	nn        torch.ModuleClass
	model     bool          // an unknown object is used as a module
	module    *names.Module // of a namespace or an import
	runner    *torch.Runner // of an object that calls functions of the program
	mapping   bool          // an unknown object is asked for its keys
	optimizer bool          // an unknown object has a zero_grad
	// global says that the code of a module made it.
	global bool
	// template says what the fields are that nothing was written to since a
	// summary made the object.
	template  *template
	changed   []Symbol // fields written to since, of such an object
	born      int      // when it was made last, in births; 0 for what was there before
	twin      ObjectID // of a container: the one that is made in its place in turn
	reached   int      // the last round of reach that saw it
	call      *Value   // of a partial: what it calls; of a generator: its receiver
	hasModel  bool     // an unknown object was made out of a module
	args      arguments
	body      func(*interpreter) *Value // one step of a generator expression
	running   bool                      // of a generator: it is being resumed
	yieldGrad torch.GradMode            // of a generator: the grad mode at its last yield
}

// code is a function's text with the scope it closes over.
type code struct {
	module   *names.Module
	node     syntax.NodeID
	scope    *names.Scope
	closure  *frame
	defaults map[Symbol]*Value
	grad     torch.GradMode // by decorators
	kind     methodKind
	setter   *Value   // of a property
	class    ObjectID // in whose body the function stands
	context  bool     // decorated with contextlib.contextmanager
	cache    *cache   // what it remembers, if it does
}

type methodKind uint8

const (
	plainFunction methodKind = iota
	staticMethod
	classMethod
	propertyMethod
)

type objectKey struct {
	at        site
	kind      objectKind
	parent    ObjectID
	field     Symbol
	class     ObjectID
	name      string
	container torch.Container
	made      *copied // by which summary
	part      int32   // which of the objects of the summary
}

// packedKey is an objectKey that takes little time to look up.
type packedKey struct {
	at              site
	made            *copied
	parent, class   ObjectID
	field, name     Symbol
	part            int32
	kind, container uint16
}

func (a *analysis) packed(key objectKey) packedKey {
	p := packedKey{
		at: key.at, made: key.made, parent: key.parent, class: key.class, field: key.field, part: key.part,
		kind: uint16(key.kind), container: uint16(key.container),
	}
	if key.name != "" {
		p.name = a.symbol(key.name)
	}
	return p
}

// newObject returns the object that a site makes, with no field set.
func (a *analysis) newObject(key objectKey) (ObjectID, *objectInfo) {
	packed := a.packed(key)
	id, ok := a.objectIDs[packed]
	if !ok {
		id = ObjectID(len(a.objects))
		if len(a.unused) == 0 {
			a.unused = make([]objectInfo, min(len(a.objects), 64))
		}
		info := &a.unused[0]
		a.unused = a.unused[1:]
		*info = objectInfo{kind: key.kind, at: key.at, parent: key.parent, field: key.field, class: key.class, name: key.name, container: key.container}
		a.objects = append(a.objects, info)
		a.objectIDs[packed] = id
		if key.kind == objectInstance {
			a.instances = append(a.instances, id)
		}
	}
	return id, a.objects[id]
}

// allocate is newObject for an expression that makes a new object each time it
// runs: fields of the object made before are forgotten.
func (in *interpreter) allocate(kind objectKind, n syntax.NodeID) ObjectID {
	id, _ := in.newObject(objectKey{at: in.site(n), kind: kind})
	in.renew(id)
	return id
}

// allocateContainer is allocate for a collection.
func (in *interpreter) allocateContainer(n syntax.NodeID, container torch.Container) ObjectID {
	id, _ := in.newObject(objectKey{at: in.site(n), kind: objectContainer, container: container})
	in.renew(id)
	return id
}

// allocateEmpty is allocateContainer for an empty one. While the one made last
// holds a graph, another takes its place: somebody may still have the old one,
// as in items, self.items = self.items, [].
func (in *interpreter) allocateEmpty(n syntax.NodeID, container torch.Container) ObjectID {
	key := objectKey{at: in.site(n), kind: objectContainer, container: container}
	id, info := in.newObject(key)
	latest := id
	if info.twin != 0 && in.objects[info.twin].born > info.born {
		latest = info.twin
	}
	switch {
	case info.born == 0 || in.sure(in.reach(in.contents(latest))) == NoGraph:
		id = latest
	case latest == id:
		key.at.slot = 1
		info.twin, _ = in.newObject(key)
		id = info.twin
	}
	in.renew(id)
	return id
}

// renew makes an object anew: its fields are forgotten.
func (in *interpreter) renew(id ObjectID) {
	info := in.objects[id]
	if info.template != nil {
		for _, f := range info.changed {
			in.state.set(Place{id, f}, in.original(Place{id, f}))
		}
	} else {
		for _, f := range info.fields {
			in.state.set(Place{id, f}, nil)
		}
	}
	switch info.kind {
	case objectContainer:
		in.state.set(Place{id, elementKeys}, nil)
	case objectUnknown: // what is reached through another one is another one
		for _, part := range info.parts {
			in.renew(part)
		}
	}
	in.forgetMode(id)
	in.births++
	info.born = in.births
}

// library returns the value of a library's dotted name.
func (a *analysis) library(name string) *Value {
	v, ok := a.libraries[name]
	if !ok {
		id, _ := a.newObject(objectKey{kind: objectLibrary, name: name})
		v = object(id)
		a.libraries[name] = v
	}
	return v
}

// unknownField is the value of a field that nothing was seen to set.
func (a *analysis) unknownField(parent ObjectID, f Symbol) *Value {
	p := Place{parent, f}
	v, ok := a.unknownFields[p]
	if !ok {
		id, _ := a.newObject(objectKey{kind: objectUnknown, parent: parent, field: f})
		a.objects[parent].parts = append(a.objects[parent].parts, id)
		v = &Value{kinds: KindUnknown, objects: []ObjectID{id}}
		a.unknownFields[p] = v
	}
	return v
}

// write sets a field of an object.
func (in *interpreter) write(p Place, v *Value) {
	info := in.objects[p.object]
	if !info.known[p.field] {
		if info.known == nil {
			info.known = map[Symbol]bool{}
		}
		info.known[p.field] = true
		info.fields = append(info.fields, p.field)
	}
	info.overwritten(p.field)
	in.oldestWritten = min(in.oldestWritten, info.born)
	if v != nil && len(v.atoms) > maxAtoms {
		v = in.pruned(v)
	}
	in.state.set(p, v)
}

// maxAtoms is how many atoms a stored value may have. Values that were joined
// from more are made of much that is merely possible.
const maxAtoms = 64

// pruned is v without what only possibly went into it.
func (in *interpreter) pruned(v *Value) *Value {
	possible := func(x Atom) bool { return in.atoms[x].kind == atomOrigin && in.atoms[x].sure <= Possible }
	kept := 0
	for _, x := range v.atoms {
		if !possible(x) {
			kept++
		}
	}
	if kept == len(v.atoms) {
		return v
	}
	c := *v
	c.atoms = make(atoms, 0, kept)
	for _, x := range v.atoms {
		if !possible(x) {
			c.atoms = append(c.atoms, x)
		}
	}
	return &c
}

// contents is what the elements of a container may be.
func (in *interpreter) contents(id ObjectID) *Value {
	var all *Value
	for _, f := range in.objects[id].fields {
		all = join(all, in.state.get(Place{id, f}))
	}
	return all
}

// reach is the atoms of a value and of everything it holds.
func (in *interpreter) reach(v *Value) atoms {
	if v == nil || len(v.objects) == 0 && len(v.elements) == 0 {
		if v == nil {
			return nil
		}
		return v.atoms
	}
	in.reachRound++
	in.reachLeft = maxReached
	out := in.reachInto(v, 0)
	in.spend((maxReached - in.reachLeft) / 8)
	return out
}

// Limits of what reach looks at: objects within each other, and in all.
const (
	maxReach   = 6
	maxReached = 200
)

// reachInto is reach for a value that many objects below the first.
func (in *interpreter) reachInto(v *Value, depth int) atoms {
	if v == nil {
		return nil
	}
	out := v.atoms
	if depth > maxReach {
		return out
	}
	for _, e := range v.elements {
		out = out.union(in.reachInto(e, depth+1))
	}
	for _, id := range v.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer, objectInstance, objectUnknown:
			if info.reached == in.reachRound || in.reachLeft == 0 {
				continue
			}
			info.reached = in.reachRound
			if info.template != nil && info.template.copy.barren() {
				continue
			}
			in.reachLeft--
			for _, f := range info.fields {
				out = out.union(in.reachInto(in.state.get(Place{id, f}), depth+1))
			}
		case objectPartial:
			for _, arg := range info.args.values() {
				out = out.union(in.reachInto(arg, depth+1))
			}
		case objectFunction:
			for _, d := range info.code.defaults {
				out = out.union(in.reachInto(d, depth+1))
			}
		}
	}
	return out
}

// anyIs reports whether v may refer to an object of a kind.
func (a *analysis) anyIs(v *Value, kind objectKind) bool {
	return slices.ContainsFunc(v.objects, func(id ObjectID) bool { return a.objects[id].kind == kind })
}
