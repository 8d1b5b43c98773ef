package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// A Cache is a function that remembers its results, and with them what it was
// called with, although no later call can ask for them again, or only while
// something is kept for that alone.
type Cache struct {
	// Function is the definition, Decorator what makes it remember.
	Function, Decorator Location
	// Size is how many results it remembers, 0 for all of them.
	Size int
	// Tensors are the parameters that are tensors. One equals another only if
	// it is the same.
	Tensors []Location
	// Instance says that the function is a method of objects that hold tensors:
	// each result is remembered together with its object. Property says that it
	// is read like an attribute.
	Instance, Property bool
	// Holder says that the function is a method of objects that hold what they
	// are given, and has no other argument: each result is remembered together
	// with its object, and asked for by nothing else.
	Holder bool
	// Sure is how certain it is that what is remembered carries a graph, and
	// Unrecorded says that every call that was seen records none.
	Sure       Certainty
	Unrecorded bool
	// Device and Extent are those of the results.
	Device torch.Device
	Extent Extent
}

// cache is what is known of a function that remembers its results.
type cache struct {
	code    *code
	at      syntax.NodeID // the decorator
	size    int
	tensors map[Symbol]bool // parameters that were given tensors
	sure    Certainty
	memory  *memory
	runs    int
	off     int // runs that recorded no graph
}

// remembers notes that the decorator n makes the function v remember its
// results.
func (in *interpreter) remembers(n syntax.NodeID, v *Value) {
	t := in.tree()
	f := n
	if t.Kind(n) == syntax.Call {
		f = t.Child(n, syntax.FieldFunction)
	}
	callee := in.valueOf(f)
	if callee == nil || len(callee.objects) != 1 || in.frame.module != in.main {
		return
	}
	size, ok := torch.Caches[in.objects[callee.objects[0]].name]
	if !ok || in.objects[callee.objects[0]].kind != objectLibrary {
		return
	}
	if t.Kind(n) == syntax.Call {
		limit := in.keyword(n, "maxsize")
		if limit < 0 {
			limit = t.First(t.Child(n, syntax.FieldArguments))
		}
		if given := in.valueOf(limit); given != nil {
			size, _ = given.literal.(int) // None is no limit
		}
	}
	for _, id := range v.objects {
		c := in.objects[id].code
		if c == nil {
			continue
		}
		key := codeKey{c.module, c.node}
		if in.caches[key] == nil {
			in.caches[key] = &cache{tensors: map[Symbol]bool{}}
		}
		c.cache = in.caches[key]
		c.cache.code, c.cache.at, c.cache.size = c, n, size
	}
}

// noteArguments notes what a remembering function is called with in frame f.
func (in *interpreter) noteArguments(c *cache, f *frame) {
	c.runs++
	if in.off {
		c.off++
	}
	for p := range c.code.parameters() {
		s := in.symbol(p.name)
		v := in.state.get(Place{f.object, s})
		if v != nil && (v.only(KindTensor) || v.memory != nil && v.is(KindTensor|KindUnknown)) {
			c.tensors[s] = true
			c.sure = max(c.sure, in.sure(v.atoms))
		}
	}
}

// noteResult notes what a remembering function gave.
func (in *interpreter) noteResult(c *cache, result *Value) {
	if in.dry || result == nil {
		return
	}
	c.sure = max(c.sure, in.sure(in.reach(result)))
	c.memory = joinMemory(c.memory, in.heldMemory(result, 0))
}

// parameter is one of a function's own.
type parameter struct {
	name string
	node syntax.NodeID // the name
	typ  syntax.NodeID // its annotation, if any
}

// parameters are those of a function that have a name of their own.
func (c *code) parameters() func(yield func(parameter) bool) {
	return func(yield func(parameter) bool) {
		t := c.module.Tree
		for p := range t.Children(t.Child(c.node, syntax.FieldParameters)) {
			name, typ := p, syntax.NoNode
			switch t.Kind(p) {
			case syntax.Identifier:
			case syntax.DefaultParameter, syntax.TypedDefaultParameter:
				name, typ = t.Child(p, syntax.FieldName), t.Child(p, syntax.FieldType)
			case syntax.TypedParameter:
				name, typ = t.First(p), t.Child(p, syntax.FieldType)
			default:
				continue
			}
			if t.Kind(name) == syntax.Identifier && !yield(parameter{t.Text(name), name, typ}) {
				return
			}
		}
	}
}

// cacheFacts are the caches that keep what they should not.
func (in *interpreter) cacheFacts() []Cache {
	var out []Cache
	for _, c := range in.caches {
		if f, ok := in.cacheFact(c); ok {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Cache) int { return cmp.Compare(a.Function.Node, b.Function.Node) })
	return out
}

func (in *interpreter) cacheFact(c *cache) (Cache, bool) {
	m := c.code.module
	f := Cache{
		Function: Location{m, c.code.node}, Decorator: Location{m, c.at}, Size: c.size,
		Sure: c.sure, Unrecorded: c.runs > 0 && c.off == c.runs,
		Property: c.code.kind == propertyMethod,
	}
	if c.memory != nil {
		f.Device, f.Extent = c.memory.device, c.memory.extent
	}
	own := c.code.class != 0 && c.code.kind != staticMethod
	method := own && c.code.kind != classMethod
	f.Instance = method && in.holdsGiven(c.code.class)
	arguments := 0
	for p := range c.code.parameters() {
		if own {
			own = false // the receiver
			continue
		}
		arguments++
		if c.tensors[in.symbol(p.name)] || in.usedAsTensor(c.code, p, 0) {
			f.Tensors = append(f.Tensors, Location{m, p.node})
		}
	}
	f.Holder = method && arguments == 0 && in.holdsObjects(c.code.class)
	return f, f.Instance || f.Holder || len(f.Tensors) > 0
}
