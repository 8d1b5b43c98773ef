package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// PackedGraph is a graph whose saved tensors went through a hook that keeps them as
// they are: an operation that saves its own result then refers to itself, in a way
// that the garbage collector does not see. A backward opens these cycles; none does.
type PackedGraph struct {
	Context Location // the call that makes the context manager
	Pack    Location // the hook
	// Given are where the hook names, in what it returns, the tensor it is given.
	Given []Location
	Made  []Location
	Loop  Location
	Sure  Certainty
}

// packed is a block that ran under such a hook.
type packed struct {
	context Location
	pack    *code
	made    atoms
	loop    *loop
}

// packsAsIs is the hook of a context manager that packs saved tensors as they are,
// nil where n makes none. It runs the hook for a tensor to see whether that comes
// back.
func (in *interpreter) packsAsIs(n syntax.NodeID) *code {
	t := in.tree()
	if t.Kind(n) != syntax.Call || in.frame.module != in.main {
		return nil
	}
	const name = "torch.autograd.graph.saved_tensors_hooks"
	f := in.valueOf(t.Child(n, syntax.FieldFunction))
	if f == nil || !slices.ContainsFunc(f.objects, func(id ObjectID) bool { return in.objects[id].kind == objectLibrary && in.objects[id].name == name }) {
		return nil
	}
	hook := in.valueOf(t.First(t.Child(n, syntax.FieldArguments)))
	if hook == nil || len(hook.objects) != 1 {
		return nil
	}
	c := in.hookCode(hook.objects[0])
	if c == nil {
		return nil
	}
	saved, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown})
	before := in.state
	in.state = before.push()
	result := in.apply(n, hook, arguments{positional: []*Value{object(saved)}})
	in.state = before
	if !in.contains(result, saved, 0) {
		return nil
	}
	return c
}

// contains reports whether a value is an object, or a collection with it.
func (in *interpreter) contains(v *Value, id ObjectID, depth int) bool {
	if v == nil || depth > 3 {
		return false
	}
	return slices.Contains(v.objects, id) || slices.ContainsFunc(v.elements, func(e *Value) bool { return in.contains(e, id, depth+1) })
}

// givenBack are where the text of a function returns its first parameter, alone or
// within a tuple or list.
func givenBack(c *code) []Location {
	t := c.module.Tree
	names := parameterNames(t, c.node)
	body := t.Child(c.node, syntax.FieldBody)
	if len(names) > 1 && c.class != 0 && c.kind != staticMethod {
		names = names[1:]
	}
	if len(names) == 0 {
		return nil
	}
	var out []Location
	var look func(n syntax.NodeID)
	look = func(n syntax.NodeID) {
		switch k := t.Kind(n); {
		case n < 0:
		case k == syntax.Identifier && t.Text(n) == names[0]:
			out = append(out, Location{c.module, n})
		case k == syntax.ParenthesizedExpression, k == syntax.Tuple, k == syntax.List, k == syntax.ExpressionList:
			for e := range t.Children(n) {
				look(e)
			}
		}
	}
	if t.Kind(c.node) == syntax.Lambda {
		look(body)
		return out
	}
	if bindsWithin(t, body, names[0]) {
		return nil
	}
	for n := body; n < t.End(body); n++ {
		if t.Kind(n) == syntax.ReturnStatement {
			look(t.First(n))
		}
	}
	return out
}

// under runs the block of a with statement; context made its manager.
func (in *interpreter) under(context syntax.NodeID, pack *code, block syntax.NodeID) {
	made := in.computed(func() { in.block(block) })
	l := in.loop
	for l != nil && l.steps.few {
		l = l.parent
	}
	if in.dry || l == nil || len(made) == 0 {
		return
	}
	at := Location{in.main, context}
	in.packs[at] = packed{at, pack, made, l}
}

// packFacts are the graphs of the checked module that such hooks keep.
func (in *interpreter) packFacts() []PackedGraph {
	var packs []PackedGraph
	for _, p := range in.packs {
		wanted := func(x Atom) bool {
			_, freed := in.freedAt[x]
			return freed || in.needed[x] || in.escaped[x]
		}
		if slices.ContainsFunc(p.made, wanted) {
			continue
		}
		g := PackedGraph{Context: p.context, Pack: Location{p.pack.module, p.pack.node}, Given: givenBack(p.pack), Loop: Location{p.loop.at.module, p.loop.at.node}, Sure: in.sure(p.made)}
		for _, x := range p.made {
			if at := in.atoms[x].at; at.module != nil {
				g.Made = append(g.Made, Location{at.module, at.node})
			}
		}
		packs = append(packs, g)
	}
	slices.SortFunc(packs, func(a, b PackedGraph) int { return compareLocations(a.Context, b.Context) })
	return packs
}
