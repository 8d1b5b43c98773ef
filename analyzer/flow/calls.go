package flow

import (
	"math"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// arguments are those of one call.
type arguments struct {
	positional []*Value
	keyword    []keywordArgument
	exprs      []syntax.NodeID // of the positional ones
	star       *Value          // *args and **kwargs that could not be spread
}

type keywordArgument struct {
	name  string
	value *Value
	expr  syntax.NodeID
}

// values are all arguments, in no order that matters.
func (a arguments) values() []*Value {
	out := slices.Clone(a.positional)
	for _, k := range a.keyword {
		out = append(out, k.value)
	}
	if a.star != nil {
		out = append(out, a.star)
	}
	return out
}

// at is the i-th positional argument or the one of that name, nil when absent.
func (a arguments) at(i int, name string) *Value {
	if i >= 0 && i < len(a.positional) {
		return a.positional[i]
	}
	return a.named(name)
}

// named is the keyword argument of a name, nil when absent.
func (a arguments) named(name string) *Value {
	for _, k := range a.keyword {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

// isTrue reports whether a keyword argument is the literal True.
func (a arguments) isTrue(name string) bool {
	v := a.named(name)
	if v == nil {
		return false
	}
	truth, known := v.truth()
	return known && truth
}

// rest is all but the first positional argument.
func (a arguments) rest() arguments {
	a.positional = a.positional[1:]
	a.exprs = a.exprs[min(1, len(a.exprs)):]
	return a
}

// expr is the expression of the i-th positional argument, if it has one.
func (a arguments) expr(i int, otherwise syntax.NodeID) syntax.NodeID {
	if i < len(a.exprs) {
		return a.exprs[i]
	}
	return otherwise
}

// source is the expression of the i-th positional argument or of the one of
// that name, if it has one.
func (a arguments) source(i int, name string, otherwise syntax.NodeID) syntax.NodeID {
	if i >= 0 && i < len(a.positional) {
		return a.expr(i, otherwise)
	}
	if n := a.keywordNode(name); n >= 0 {
		return n
	}
	return otherwise
}

// keywordNode is the expression of the keyword argument of a name, or NoNode.
func (a arguments) keywordNode(name string) syntax.NodeID {
	for _, k := range a.keyword {
		if k.name == name {
			return k.expr
		}
	}
	return syntax.NoNode
}

// arguments evaluates the arguments of a call.
func (in *interpreter) arguments(n syntax.NodeID) arguments {
	t := in.tree()
	var args arguments
	if n < 0 {
		return args
	}
	if t.Kind(n) == syntax.GeneratorExpression { // f(x for x in y)
		args.positional = []*Value{in.expression(n)}
		args.exprs = []syntax.NodeID{n}
		return args
	}
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.KeywordArgument:
			value := t.Child(c, syntax.FieldValue)
			v := in.expression(value)
			in.remember(c, v)
			args.keyword = append(args.keyword, keywordArgument{t.Text(t.Child(c, syntax.FieldName)), v, value})
		case syntax.ListSplat:
			v := in.expression(c)
			if v.elements != nil && !v.variadic {
				for _, e := range v.elements {
					args.positional, args.exprs = append(args.positional, e), append(args.exprs, c)
				}
				continue
			}
			args.star = join(args.star, in.elementOf(c, v))
		case syntax.DictionarySplat:
			v := in.expression(c)
			in.spread(c, &args, v)
		default:
			args.positional, args.exprs = append(args.positional, in.expression(c)), append(args.exprs, c)
		}
	}
	return args
}

// spread adds **v, written at n, to arguments.
func (in *interpreter) spread(n syntax.NodeID, args *arguments, v *Value) {
	known := v.only(KindObject) && len(v.objects) > 0
	for _, id := range v.objects {
		info := in.objects[id]
		if info.kind != objectContainer {
			known = false
			continue
		}
		for _, f := range info.fields {
			value := in.state.get(Place{id, f})
			if value == nil {
				continue
			}
			key, named := strings.CutPrefix(in.symbolNames[f], `["`)
			if !named || len(v.objects) > 1 {
				args.star = join(args.star, value)
				continue
			}
			args.keyword = append(args.keyword, keywordArgument{name: strings.TrimSuffix(key, `"]`), value: value, expr: n})
		}
	}
	if !known && args.star == nil {
		args.star = &Value{kinds: KindUnknown}
	}
}

// call evaluates f(…) and x.f(…).
func (in *interpreter) call(n syntax.NodeID) *Value {
	t := in.tree()
	callee := t.Child(n, syntax.FieldFunction)
	argsNode := t.Child(n, syntax.FieldArguments)
	if t.Kind(callee) == syntax.Attribute {
		receiver := t.Child(callee, syntax.FieldObject)
		obj := in.expression(receiver)
		args := in.arguments(argsNode)
		if in.state == nil {
			return plain
		}
		name := t.Text(t.Child(callee, syntax.FieldAttribute))
		if v := in.methodCall(n, receiver, obj, name, args); v != nil {
			return v
		}
		if in.state == nil {
			return plain
		}
		f := in.attribute(callee, obj, name)
		in.remember(callee, f)
		return in.apply(n, f, args)
	}
	if t.Kind(callee) == syntax.Identifier && t.Text(callee) == "super" {
		if v := in.super(n); v != nil {
			return v
		}
	}
	f := in.expression(callee)
	args := in.arguments(argsNode)
	if in.state == nil {
		return plain
	}
	return in.apply(n, f, args)
}

// firstParameter is the name of a method's receiver.
func (in *interpreter) firstParameter(c *code) Symbol {
	t := c.module.Tree
	first := t.First(t.Child(c.node, syntax.FieldParameters))
	if first < 0 {
		return anyElement
	}
	return in.symbol(t.Text(first))
}

// apply calls a value.
func (in *interpreter) apply(n syntax.NodeID, f *Value, args arguments) *Value {
	if in.state == nil || !in.deeper() {
		return plain
	}
	defer func() { in.nesting-- }()
	var out *Value
	unknown := len(f.objects) == 0
	for _, id := range f.objects {
		if in.state == nil {
			break
		}
		info := in.objects[id]
		switch info.kind {
		case objectFunction:
			out = join(out, in.invoke(n, info.code, nil, args))
		case objectBound:
			receiver := object(info.parent)
			receiver.atoms = in.held(f)
			out = join(out, in.invoke(n, in.objects[info.class].code, receiver, args))
		case objectClass:
			out = join(out, in.instantiate(n, id, args))
		case objectInstance:
			v := in.callInstance(n, id, args)
			in.runHooks(n, id, args, v)
			out = join(out, v)
		case objectLibrary:
			out = join(out, in.callLibrary(n, info.name, args))
		case objectGuard: // as a decorator
			if f := args.at(0, ""); f != nil {
				out = join(out, in.guarded(n, f, torch.GradContext(info.name)))
			} else {
				out = join(out, in.callUnknown(n, noValue, args))
			}
		case objectModule:
			out = join(out, in.callModule(n, id, args))
		case objectPartial:
			merged := info.args
			merged.positional = append(slices.Clone(info.args.positional), args.positional...)
			merged.exprs = append(slices.Clone(info.args.exprs), args.exprs...)
			merged.keyword = append(slices.Clone(info.args.keyword), args.keyword...)
			out = join(out, in.apply(n, info.call, merged))
		case objectContainer, objectGenerator, objectParams, objectScope:
			out = join(out, plain)
		default:
			unknown = true
		}
	}
	if v := in.libraryMethod(n, n, f, "__call__", args); unknown && v != nil {
		return v
	}
	if unknown && in.state != nil {
		v := in.callUnknown(n, f, args)
		for _, id := range f.objects {
			if in.objects[id].kind == objectUnknown {
				in.runHooks(n, id, args, v)
			}
		}
		out = join(out, v)
	}
	if out == nil {
		return plain
	}
	return out
}

const maxActive = 2 // activations of one function on the stack

// invoke runs a function of the program.
func (in *interpreter) invoke(n syntax.NodeID, c *code, receiver *Value, args arguments) *Value {
	if role, ok := in.roleOfOwn(c); ok {
		return in.claimed(n, "", in.receiverOf(receiver), role, args)
	}
	active := 0
	for f := in.frame; f != nil; f = f.caller {
		if f.code != nil && f.code.node == c.node && f.code.module == c.module {
			active++
		}
	}
	if r := in.recursionOf(c); r != nil {
		return in.again(n, r, receiver, args)
	}
	if in.frame.depth >= maxDepth {
		in.cutShort = true
		return in.callUnknown(n, noValue, args)
	}
	if active >= maxActive || in.spent() {
		return in.callUnknown(n, noValue, args)
	}
	if c.scope.Generator && c.module.Tree.Kind(c.node) == syntax.FunctionDefinition {
		id, info := in.newObject(objectKey{at: in.site(n), kind: objectGenerator, class: ObjectID(c.node)})
		info.code, info.args = c, args
		info.call = receiver
		return object(id)
	}
	if active == 1 && c.module == in.main && in.recurs(c, args) {
		return in.recur(n, c, receiver, args)
	}
	if v := in.summarised(n, c.module, c.node, c, receiver, args); v != nil {
		return v
	}
	h := in.histories[codeKey{c.module, c.node}]
	if h == nil {
		h = &history{runs: map[ObjectID]int{}}
		in.histories[codeKey{c.module, c.node}] = h
	}
	if in.visited.heavy[codeKey{c.module, c.node}] {
		return in.callUnknown(n, noValue, args)
	}
	class := in.classHandled(receiver, args)
	if h.inert(class) && in.sure(in.reachAll(args.values())) == NoGraph {
		return h.result
	}
	activity, recordings, births, oldest, told := in.activity, in.recordings, in.births, in.oldestWritten, in.told()
	in.oldestWritten = math.MaxInt
	out, _ := in.run(n, c, receiver, args, in.callBudget(c))
	written := in.oldestWritten
	in.oldestWritten = min(in.oldestWritten, oldest)
	if in.visited.heavy[codeKey{c.module, c.node}] {
		return out
	}
	h.runs[class]++
	h.result = out
	h.telling = h.telling || written <= births || in.told() != told
	h.computes = h.computes || in.recordings != recordings
	h.active = h.active || in.activity != activity || written <= births || in.sure(in.reach(out)) > NoGraph
	return out
}

// classHandled is the class of the object that a method is called on, or else of
// the first argument that is an object of the program, 0 where there is none.
func (in *interpreter) classHandled(receiver *Value, args arguments) ObjectID {
	of := func(v *Value) ObjectID {
		if v == nil || len(v.objects) == 0 || in.objects[v.objects[0]].kind != objectInstance {
			return 0
		}
		return in.objects[v.objects[0]].class
	}
	class := of(receiver)
	for _, v := range args.positional {
		if class != 0 {
			break
		}
		class = of(v)
	}
	return class
}

// reachAll is reach of several values.
func (in *interpreter) reachAll(vs []*Value) atoms {
	var out atoms
	for _, v := range vs {
		out = out.union(in.reach(v))
	}
	return out
}

// run activates a function and returns its result and what it yields. A
// function that needs more steps than it is given is not known.
func (in *interpreter) run(n syntax.NodeID, c *code, receiver *Value, args arguments, steps int) (result, yields *Value) {
	in.visited.add(codeKey{c.module, c.node})
	outer, off, base, limit := in.frame, in.off, in.state, in.limit
	in.limit = min(limit, in.spending+steps)
	f := &frame{
		caller: outer, module: c.module, scope: c.scope, closure: c.closure, code: c, depth: outer.depth + 1,
		call: in.called(n), base: base, activity: in.activity,
	}
	in.frame = f
	f.object = in.allocate(objectScope, c.node)
	in.state = base.push()
	in.bindParameters(f, c, receiver, args)
	if c.cache != nil {
		in.noteArguments(c.cache, f)
		defer func() { in.noteResult(c.cache, result) }()
	}
	switch c.grad {
	case torch.GradOff:
		in.off = true
	case torch.GradOn:
		in.off = false
	}
	t := c.module.Tree
	body := t.Child(c.node, syntax.FieldBody)
	if t.Kind(c.node) == syntax.Lambda {
		f.result = in.expression(body)
	} else {
		in.block(body)
		if in.state != nil {
			f.result = join(f.result, noValue)
		}
	}
	if in.spending > in.limit {
		// What it did so far may lack what it does next, such as to detach.
		in.frame, in.off, in.state, in.limit = outer, off, base, limit
		in.visited.weigh(codeKey{c.module, c.node})
		return in.callUnknown(n, noValue, args), nil
	}
	ends := append(f.returns, in.state)
	if !c.scope.Captured {
		in.leave(f, ends)
	}
	end := merge(base, in.noteResets(syntax.NoNode), ends...)
	if c.grad != torch.GradUnchanged {
		in.off = off
	} // else set_grad_enabled(False) outlasts the function that says so
	in.frame, in.limit = outer, limit
	in.raised = end == nil
	if end == nil { // it always raises: an abstract method, or a check that failed
		in.state = base
		in.abstract[codeKey{c.module, c.node}] = true
		return in.callUnknown(n, noValue, args), f.yields
	}
	in.state = end
	if c.scope.Captured {
		in.closuresOf(f)
	}
	return f.result, f.yields
}

// isAbstract reports whether a function has always raised: what it does is up to
// the classes derived from its own.
func (a *analysis) isAbstract(c *code) bool { return a.abstract[codeKey{c.module, c.node}] }

// leave forgets the variables of a frame that is over: what loops and branches
// around the call would otherwise join and look through.
func (in *interpreter) leave(f *frame, ends []*state) {
	for _, end := range ends {
		for at := end; at != nil && at != f.base; at = at.parent {
			at.values.forget(f.object)
		}
	}
}

// bindParameters gives the parameters of c their values.
func (in *interpreter) bindParameters(f *frame, c *code, receiver *Value, args arguments) {
	t := c.module.Tree
	positional := args.positional
	if receiver != nil {
		positional = append([]*Value{receiver}, positional...)
	}
	used := map[string]bool{}
	keywordOnly := false
	for p := range t.Children(t.Child(c.node, syntax.FieldParameters)) {
		name, typ := p, syntax.NoNode
		switch t.Kind(p) {
		case syntax.Identifier:
		case syntax.DefaultParameter, syntax.TypedDefaultParameter:
			name, typ = t.Child(p, syntax.FieldName), t.Child(p, syntax.FieldType)
		case syntax.TypedParameter:
			name, typ = t.First(p), t.Child(p, syntax.FieldType)
		case syntax.KeywordSeparator:
			keywordOnly = true
			continue
		case syntax.ListSplatPattern, syntax.DictionarySplatPattern:
		default:
			continue
		}
		switch t.Kind(name) {
		case syntax.ListSplatPattern:
			in.write(Place{f.object, in.symbol(t.Text(t.First(name)))}, in.restOf(positional, args.star))
			positional, keywordOnly = nil, true
			continue
		case syntax.DictionarySplatPattern:
			id := in.allocateContainer(p, torch.Dict)
			for _, k := range args.keyword {
				if !used[k.name] {
					in.write(Place{id, in.index(k.name)}, k.value)
				}
			}
			in.write(Place{f.object, in.symbol(t.Text(t.First(name)))}, object(id))
			continue
		}
		s := in.symbol(t.Text(name))
		var v *Value
		switch {
		case len(positional) > 0 && !keywordOnly:
			v, positional = positional[0], positional[1:]
		default:
			v = args.named(t.Text(name))
			used[t.Text(name)] = true
			if v == nil {
				v = c.defaults[s]
				if args.star != nil {
					v = join(v, args.star)
				}
			}
		}
		if v == nil {
			v = in.unknownField(f.object, s)
		}
		if typ >= 0 {
			v = in.annotated(v, typ)
		}
		in.write(Place{f.object, s}, v)
	}
}

// restOf is what *args binds.
func (in *interpreter) restOf(positional []*Value, star *Value) *Value {
	if star != nil {
		return &Value{kinds: KindObject, elements: []*Value{join(joinAll(positional), star)}, variadic: true}
	}
	return tuple(append([]*Value{}, positional...)...)
}
