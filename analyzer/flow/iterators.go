package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// elementOf is any element of what an expression evaluated to: what iterating
// over it gives in one step.
func (in *interpreter) elementOf(n syntax.NodeID, v *Value) *Value {
	if v == nil || !in.deeper() {
		return plain
	}
	defer func() { in.nesting-- }()
	out := joinAll(v.elements)
	for _, id := range v.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer:
			if info.container == torch.Dict {
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
			const f = eachElement
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
	return in.heldBy(v, orPlain(out))
}

// next is what one step of a for loop over an iterable binds. It differs in
// each iteration.
func (in *interpreter) next(loopNode, n syntax.NodeID, it *Value) *Value {
	v := in.elementOf(n, it)
	if in.loop == nil {
		return v
	}
	in.loop.overData, in.loop.loaders = in.drawsFrom(it, 0), strings.Contains(in.tree().Text(n), "loaders")
	return in.stepped(v, in.header(atomStep, in.loop, Place{}), 0)
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

// extent is how many steps a loop takes.
type extent struct {
	few   bool // as many as the program has parts, not as there is data
	times int  // where a literal says so, else 0
}

// extentOf is how many steps a loop over v takes.
func (in *interpreter) extentOf(v *Value) extent {
	return extent{few: in.few(v), times: v.times}
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
			if info.container != torch.Dict && !in.holdsModules(id) {
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

// fewSteps is how many iterations of a loop with a literal count are too few
// to matter; loops within each other matter from manySteps in all.
const (
	fewSteps  = 10
	manySteps = 30
)

// iterated is one of the layers of a module that is iterated over.
func (in *interpreter) iterated(n syntax.NodeID, id ObjectID) *Value {
	if in.objects[id].kind == objectInstance {
		if f := in.methodOf(n, id, "__iter__"); f != nil {
			it := in.apply(n, f, arguments{})
			if !slices.Contains(it.objects, id) {
				return in.elementOf(n, it)
			}
		}
		if f := in.methodOf(n, id, "__next__"); f != nil {
			return in.apply(n, f, arguments{})
		}
		if f := in.methodOf(n, id, "__getitem__"); f != nil {
			return in.apply(n, f, arguments{positional: []*Value{plain}})
		}
		if elements, ok := in.elementsOf(id); ok {
			return in.elementOf(n, object(elements))
		}
		if !in.isModuleClass(in.objects[id].class) {
			return in.unknownField(id, eachElement)
		}
	}
	return in.submodule(n, id)
}

// generator makes an iterator of a generator expression. Its element is
// evaluated where it is consumed, under the grad mode there.
func (in *interpreter) generator(n syntax.NodeID) *Value {
	t := in.tree()
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectGenerator, name: "generator expression"})
	home := in.frame
	var first *Value
	var clauses []syntax.NodeID
	for c := range t.Children(n) {
		if k := t.Kind(c); k == syntax.ForInClause || k == syntax.IfClause {
			if k == syntax.ForInClause && first == nil {
				first = in.expression(t.Child(c, syntax.FieldRight))
			}
			clauses = append(clauses, c)
		}
	}
	body := t.Child(n, syntax.FieldBody)
	info.body = func(in *interpreter) *Value {
		outer := in.frame
		in.frame = home
		var out *Value
		in.enclosed(n, func() {
			for i, c := range clauses {
				if t.Kind(c) == syntax.IfClause {
					in.expression(t.First(c))
					continue
				}
				right := t.Child(c, syntax.FieldRight)
				it := first
				if i > 0 {
					it = in.expression(right)
				}
				in.assign(t.Child(c, syntax.FieldLeft), in.next(c, right, it), c, right)
			}
			out = in.expression(body)
		})
		in.frame = outer
		return out
	}
	v := object(id)
	v.structural = in.few(first)
	return v
}

// concurrentMap is the map of a pool of threads.
const concurrentMap = "map in threads"

// lazily makes an iterator over iterators: zip, enumerate, map.
func (in *interpreter) lazily(n syntax.NodeID, name string, args arguments) *Value {
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectGenerator, name: name})
	info.args = args
	v := object(id)
	iterables := args.positional
	if (name == "map" || name == concurrentMap || name == "filter" || name == "itertools.starmap") && len(iterables) > 0 {
		iterables = iterables[1:]
	}
	if name == "itertools.islice" || name == "enumerate" {
		iterables = iterables[:min(1, len(iterables))]
	}
	v.structural = false
	for _, it := range iterables {
		v.times = it.times
		if in.few(it) {
			v.structural = true
		} else if name == "itertools.chain" {
			v.structural = false
			break
		}
	}
	return v
}

// resume is one step of a generator or iterator.
func (in *interpreter) resume(n syntax.NodeID, id ObjectID) *Value {
	info := in.objects[id]
	if info.running { // an iterator over itself: x = zip(x, y) in a loop
		return &Value{kinds: KindUnknown}
	}
	recordings := in.recordings
	info.running = true
	v := in.stepOf(n, info)
	info.running = false
	in.resumedUnguarded(info, recordings)
	return v
}

// stepOf is one step of a generator or iterator.
func (in *interpreter) stepOf(n syntax.NodeID, info *objectInfo) *Value {
	args := info.args
	element := func(i int) *Value { return in.elementOf(args.expr(i, n), args.at(i, "")) }
	switch {
	case info.code != nil:
		return in.runGenerator(n, info)
	case info.body != nil:
		return info.body(in)
	}
	switch info.name {
	case "enumerate":
		return tuple(plain, element(0))
	case "zip", "itertools.zip_longest":
		es := make([]*Value, len(args.positional))
		for i := range es {
			es[i] = element(i)
		}
		if args.star != nil {
			return &Value{kinds: KindObject, elements: []*Value{in.elementOf(n, args.star)}, variadic: true}
		}
		return tuple(es...)
	case "map", concurrentMap:
		if len(args.positional) < 2 {
			return plain
		}
		var each arguments
		for i := 1; i < len(args.positional); i++ {
			each.positional, each.exprs = append(each.positional, element(i)), append(each.exprs, args.expr(i, n))
		}
		if info.name == concurrentMap {
			return in.unguarded(n, args.positional[0], each)
		}
		return in.apply(n, args.positional[0], each)
	case "itertools.starmap":
		if len(args.positional) < 2 {
			return plain
		}
		e := element(1)
		var each arguments
		each.star = e
		if e.elements != nil && !e.variadic {
			each = arguments{positional: e.elements}
		}
		return in.apply(n, args.positional[0], each)
	case "filter":
		return element(1)
	case "itertools.chain":
		var out *Value
		for i := range args.positional {
			out = join(out, element(i))
		}
		return orPlain(out)
	}
	return element(0)
}

// runGenerator runs the body of a generator function. Its grad mode is its own.
func (in *interpreter) runGenerator(n syntax.NodeID, info *objectInfo) *Value {
	was := in.off
	_, yields := in.run(n, info.code, info.call, info.args, in.callBudget(info.code))
	info.yieldGrad = in.lastYieldGrad
	in.off = was
	return orPlain(yields)
}

// yield hands a value to the consumer.
func (in *interpreter) yield(n syntax.NodeID) *Value {
	t := in.tree()
	v := noValue
	if first := t.First(n); first >= 0 {
		v = in.expression(first)
		if strings.HasPrefix(t.Text(n), "yield from") {
			v = in.elementOf(first, v)
		}
	}
	in.frame.yields = join(in.frame.yields, v)
	in.lastYieldGrad = torch.GradUnchanged
	if in.off {
		in.lastYieldGrad = torch.GradOff
	}
	return &Value{kinds: KindUnknown}
}

// generated is the element of a generator expression, else n itself.
func (in *interpreter) generated(n syntax.NodeID) syntax.NodeID {
	t := in.tree()
	for t.Kind(n) == syntax.ParenthesizedExpression {
		n = t.First(n)
	}
	if t.Kind(n) == syntax.GeneratorExpression {
		return t.Child(n, syntax.FieldBody)
	}
	return n
}

// isLazy reports whether iterating over v runs code.
func (a *analysis) isLazy(v *Value) bool {
	return a.anyIs(v, objectGenerator)
}

// sum is the builtin: a loop that adds up.
func (in *interpreter) sum(n syntax.NodeID, args arguments) *Value {
	it := args.at(0, "")
	if it == nil {
		return plain
	}
	expr := args.expr(0, n)
	start := args.at(1, "start")
	if start == nil {
		start = plain
	}
	if !in.isLazy(it) {
		return in.operate(n, false, start, in.elementOf(expr, it))
	}
	return in.fold(n, expr, it, start, func(sum, element *Value) (*Value, syntax.NodeID) {
		return in.operate(n, false, sum, element), syntax.NoNode
	})
}

// reduce is functools.reduce(f, it, start).
func (in *interpreter) reduce(n syntax.NodeID, args arguments) *Value {
	f, it := args.at(0, ""), args.at(1, "")
	if f == nil || it == nil {
		return plain
	}
	expr := args.expr(1, n)
	start := args.at(2, "initial")
	if start == nil {
		if start = in.elementOf(expr, it); in.state == nil {
			return plain
		}
	}
	return in.fold(n, expr, it, start, func(acc, element *Value) (*Value, syntax.NodeID) {
		v := in.apply(n, f, arguments{positional: []*Value{acc, element}, exprs: []syntax.NodeID{n, n}})
		return v, in.resultExpr(f)
	})
}

// fold is a loop at n over an iterable that combines what it has so far with
// each element. combine gives the new value and, where the program writes one,
// the expression that says how it is made.
func (in *interpreter) fold(n, expr syntax.NodeID, it, start *Value, combine func(acc, element *Value) (*Value, syntax.NodeID)) *Value {
	id := in.allocate(objectScope, n)
	acc := Place{id, runningSum}
	in.write(acc, start)
	element := in.generated(expr)
	in.iterate(n, in.extentOf(it), forLoop, func() {
		e := in.next(n, expr, it)
		if in.state == nil {
			return
		}
		in.remember(element, e)
		v, made := combine(in.state.get(acc), e)
		if in.state == nil {
			return
		}
		if made < 0 {
			made = element
		}
		in.consuming = made == expr
		in.store(acc, v, n, made, n)
		in.consuming = false
	})
	if in.state == nil {
		return plain
	}
	return orPlain(in.state.get(acc))
}

// resultExpr is the expression that a function of this file returns, if it has
// just one.
func (in *interpreter) resultExpr(f *Value) syntax.NodeID {
	if len(f.objects) != 1 {
		return syntax.NoNode
	}
	c := in.objects[f.objects[0]].code
	if c == nil || c.module != in.frame.module {
		return syntax.NoNode
	}
	t := c.module.Tree
	if t.Kind(c.node) == syntax.Lambda {
		return t.Child(c.node, syntax.FieldBody)
	}
	var found syntax.NodeID = syntax.NoNode
	for n := c.node + 1; n < t.End(c.node); n++ {
		switch t.Kind(n) {
		case syntax.ReturnStatement:
			if found >= 0 {
				return syntax.NoNode
			}
			found = t.First(n)
		case syntax.FunctionDefinition, syntax.Lambda:
			n = t.End(n) - 1
		}
	}
	return found
}
