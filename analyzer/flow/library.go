package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// builtins are the names that Python binds everywhere and whose effect matters
// here.
var builtins = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`float int bool str repr len hash id format isinstance issubclass hasattr type callable ord chr
		bin hex print input bytes bytearray open vars dir sum max min abs round zip enumerate map filter reversed sorted range iter next
		list tuple dict set frozenset getattr setattr any all divmod pow property staticmethod classmethod object super
		Exception RuntimeError ValueError TypeError KeyError StopIteration NotImplementedError AssertionError`) {
		m[name] = true
	}
	return m
}()

func (in *interpreter) builtin(name string) *Value {
	if builtins[name] {
		return in.library(name)
	}
	return nil
}

// callLibrary calls something of a library by its dotted name.
func (in *interpreter) callLibrary(n syntax.NodeID, name string, args arguments) *Value {
	first := args.at(0, "")
	switch name {
	case "sum":
		return in.sum(n, args)
	case "max", "min":
		if len(args.positional) == 1 {
			return in.elementOf(args.expr(0, n), first)
		}
		return orPlain(joinAll(args.positional))
	case "abs", "round":
		return in.operate(n, true, args.positional...)
	case "pow", "divmod", "operator.mul", "operator.truediv":
		return in.operate(n, true, args.positional...)
	case "operator.add", "operator.sub", "operator.iadd":
		return in.operate(n, false, args.positional...)
	case "zip", "enumerate", "map", "filter", "reversed", "iter", "itertools.islice", "itertools.chain", "itertools.cycle",
		"itertools.zip_longest", "itertools.starmap":
		return in.lazily(n, name, args)
	case "sorted", "list", "tuple", "set", "frozenset", "collections.deque", "queue.Queue", "dict", "collections.OrderedDict",
		"collections.defaultdict", "collections.Counter":
		return in.newContainer(n, name, args)
	case "len":
		v := *plain
		v.structural = in.few(first)
		return &v
	case "range":
		v := &Value{kinds: KindObject, elements: []*Value{plain}, variadic: true}
		for _, a := range args.positional {
			v.structural = v.structural || a.only(KindPlain) && a.structural
		}
		if k, ok := first.literalOf().(int); ok && k <= fewSteps {
			if len(args.positional) == 1 {
				v.structural = true
			} else if stop, ok := args.positional[1].literal.(int); ok && stop-k <= fewSteps {
				v.structural = true
			}
		}
		return v
	case "next":
		if first == nil {
			return plain
		}
		return in.elementOf(args.expr(0, n), first)
	case "getattr":
		if len(args.positional) >= 2 {
			if key, ok := args.positional[1].literal.(string); ok {
				v := in.attribute(n, first, key)
				if len(args.positional) == 3 {
					v = join(v, args.positional[2])
				}
				return v
			}
		}
		return &Value{kinds: KindUnknown}
	case "setattr":
		if len(args.positional) == 3 {
			if key, ok := args.positional[1].literal.(string); ok {
				for _, id := range first.objects {
					in.store(Place{id, in.symbol(key)}, args.positional[2], n, args.expr(2, n), n)
				}
			}
		}
		return noValue
	case "functools.partial":
		if first == nil {
			return plain
		}
		id, info := in.newObject(objectKey{at: in.site(n), kind: objectPartial})
		info.call = first
		info.args = args
		info.args.positional = args.positional[1:]
		info.args.exprs = args.exprs[1:]
		return object(id)
	case "functools.reduce":
		return in.reduce(n, args)
	case "functools.wraps", "functools.update_wrapper":
		return in.library("identity")
	case "identity", "tqdm", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm", "rich.progress.track", "tqdm.trange":
		if name == "tqdm.trange" || first == nil {
			return &Value{kinds: KindUnknown}
		}
		return first
	case "copy.copy":
		if first != nil && first.is(KindTensor|KindUnknown) {
			c := *first
			c.atoms = nil // a copy of a tensor is a leaf
			return &c
		}
		return orPlain(first)
	case "copy.deepcopy":
		return in.deepcopy(n, first)
	case "threading.Thread":
		if target := args.named("target"); target != nil {
			// Grad mode is a thread's own: the guard of the caller does not
			// reach it.
			off := in.off
			in.off = false
			in.apply(n, target, in.threadArguments(args))
			in.off = off
		}
		return plain
	case "torch.autograd.grad":
		first = args.at(0, "outputs")
		create := args.isTrue("create_graph")
		in.backward(n, first, create || args.isTrue("retain_graph"))
		if create && !in.off && first != nil {
			v := &Value{kinds: KindTensor, atoms: in.chain(first.atoms).union(atoms{in.newOrigin(in.site(n), true, false, Certain)})}
			return &Value{kinds: KindObject, elements: []*Value{v}, variadic: true, structural: true}
		}
		return &Value{kinds: KindObject, elements: []*Value{freshData}, variadic: true, structural: true}
	case "torch.autograd.backward", "torch.distributed.autograd.backward":
		for _, v := range args.positional {
			in.backward(n, v, args.isTrue("retain_graph") || args.isTrue("create_graph"))
		}
		in.backward(n, args.named("tensors"), args.isTrue("retain_graph") || args.isTrue("create_graph"))
		return noValue
	case "torch.nn.Parameter", "torch.nn.parameter.Parameter":
		x := in.newOrigin(in.site(n), false, false, Certain)
		in.atoms[x].parameter = true
		return &Value{kinds: KindTensor, atoms: atoms{x}}
	case "torch.nn.ParameterList", "torch.nn.ParameterDict":
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectModule, name: name})
		return object(in.paramsOf(id))
	case "torch.utils.checkpoint.checkpoint":
		if first != nil && len(args.positional) > 1 {
			rest := arguments{positional: args.positional[1:], exprs: args.exprs[1:]}
			return in.apply(n, first, rest)
		}
	case "torch.utils.data.DataLoader":
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
		return object(id)
	}
	switch torch.GradContext(name) {
	case torch.GradOff, torch.GradOn:
		if first != nil && in.callable(first) { // @torch.no_grad without parentheses
			return in.guarded(n, first, torch.GradContext(name))
		}
		return in.library(name + "()")
	case torch.GradByFlag:
		v := *in.library(name + "()")
		v.literal = first.literalOf()
		if truth, known := v.truth(); known && in.tree().Kind(in.tree().Parent(n)) == syntax.ExpressionStatement {
			in.off = !truth
		}
		return &v
	}
	if dec, ok := strings.CutSuffix(name, "()"); ok { // a context manager object used as a decorator
		if mode := torch.GradContext(dec); mode != torch.GradUnchanged && first != nil {
			return in.guarded(n, first, mode)
		}
	}
	if torch.Wrappers[name] && first != nil {
		return first
	}
	if strings.HasPrefix(name, "torch.distributions.") {
		// A distribution carries the graph of its parameters.
		return in.operate(n, true, args.values()...)
	}
	if class, ok := torch.Module(name); ok {
		return in.newModule(n, name, class, args)
	}
	if c, ok := torch.Function(name); ok {
		v := in.contract(n, c, args.values(), args.named("dim") == nil && (len(args.positional) == 1 || strings.HasPrefix(name, "torch.nn.functional.")))
		if args.isTrue("requires_grad") && v.is(KindTensor) {
			v = &Value{kinds: KindTensor, size: v.size, atoms: atoms{in.newOrigin(in.site(n), true, true, Certain)}}
		}
		if r := args.named("reduction"); r != nil && r.literal == "none" && v.size == torch.Scalar {
			w := *v
			w.size = torch.AnySize
			return &w
		}
		return v
	}
	if torch.OutsideGraph(name) {
		return plain
	}
	if strings.HasPrefix(name, "torch.optim") || strings.HasPrefix(name, "torch.cuda.amp") || strings.HasPrefix(name, "torch.utils.") ||
		strings.HasPrefix(name, "torch.distributed") || strings.HasPrefix(name, "torchvision.transforms") || strings.HasPrefix(name, "torchvision.datasets") {
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
		return object(id)
	}
	return in.callUnknown(n, noValue, args)
}

// fewSteps is how many iterations of a loop with a literal count are too few
// to matter.
const fewSteps = 10

func (in *interpreter) threadArguments(args arguments) arguments {
	passed := args.named("args")
	if passed == nil || passed.elements == nil || passed.variadic {
		return arguments{}
	}
	return arguments{positional: passed.elements}
}

// guarded is a function decorated with a grad-mode context.
func (in *interpreter) guarded(n syntax.NodeID, f *Value, mode torch.GradMode) *Value {
	var out *Value
	for _, id := range f.objects {
		info := in.objects[id]
		if info.kind != objectFunction {
			out = join(out, object(id))
			continue
		}
		g, ginfo := in.newObject(objectKey{at: in.site(n), kind: objectFunction, class: id})
		c := *info.code
		c.grad = mode
		ginfo.code = &c
		out = join(out, object(g))
	}
	return orPlain(out)
}

// gradMode is what entering a context manager does to grad mode, with its flag.
func (in *interpreter) gradMode(manager *Value) (torch.GradMode, *Value) {
	mode := torch.GradUnchanged
	for _, id := range manager.objects {
		info := in.objects[id]
		switch info.kind {
		case objectLibrary:
			if name, ok := strings.CutSuffix(info.name, "()"); ok {
				if m := torch.GradContext(name); m != torch.GradUnchanged {
					if m == torch.GradOff {
						return m, manager
					}
					mode = m
				}
			}
		case objectGenerator:
			if info.code != nil && info.code.context {
				in.resume(in.frame.module.Tree.Root(), id)
				if m := info.yieldGrad; m != torch.GradUnchanged {
					mode = m
				}
			}
		}
	}
	return mode, manager
}

// entered is what the as clause of a with statement binds.
func (in *interpreter) entered(n syntax.NodeID, manager *Value) *Value {
	var out *Value
	for _, id := range manager.objects {
		info := in.objects[id]
		switch info.kind {
		case objectInstance:
			if v, owner := in.classAttribute(info.class, in.symbol("__enter__"), 0); v != nil {
				out = join(out, in.apply(n, in.bind(n, v, object(id), owner), arguments{}))
				continue
			}
			out = join(out, object(id))
		case objectGenerator:
			out = join(out, in.resume(n, id))
		default:
			id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: "entered"})
			out = join(out, object(id))
		}
	}
	return orPlain(out)
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
	id := in.allocate(objectScope, n, "sum")
	acc := Place{id, in.symbol("sum()")}
	in.write(acc, start)
	element := in.generated(expr)
	in.iterate(n, in.few(it), forLoop, func() {
		v := in.next(n, expr, it)
		in.remember(element, v)
		in.consuming = element == expr
		in.store(acc, in.operate(n, false, in.state.get(acc), v), n, element, n)
		in.consuming = false
	})
	if in.state == nil {
		return plain
	}
	return orPlain(in.state.get(acc))
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
func (in *interpreter) isLazy(v *Value) bool {
	for _, id := range v.objects {
		if in.objects[id].kind == objectGenerator {
			return true
		}
	}
	return false
}

func (in *interpreter) reduce(n syntax.NodeID, args arguments) *Value {
	f, it := args.at(0, ""), args.at(1, "")
	if f == nil || it == nil {
		return plain
	}
	v := in.elementOf(args.expr(1, n), it)
	start := args.at(2, "")
	if start == nil {
		start = v
	}
	return in.apply(n, f, arguments{positional: []*Value{start, v}, exprs: []syntax.NodeID{n, n}})
}

// lazily makes an iterator over iterators: zip, enumerate, map.
func (in *interpreter) lazily(n syntax.NodeID, name string, args arguments) *Value {
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectGenerator, name: name})
	info.args = args
	v := object(id)
	iterables := args.positional
	if (name == "map" || name == "filter" || name == "itertools.starmap") && len(iterables) > 0 {
		iterables = iterables[1:]
	}
	if name == "itertools.islice" || name == "enumerate" {
		iterables = iterables[:min(1, len(iterables))]
	}
	v.structural = false
	for _, it := range iterables {
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
	case "map":
		if len(args.positional) < 2 {
			return plain
		}
		var each arguments
		for i := 1; i < len(args.positional); i++ {
			each.positional, each.exprs = append(each.positional, element(i)), append(each.exprs, args.expr(i, n))
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

// newContainer is list(x), dict(x), deque(x), defaultdict(f)…
func (in *interpreter) newContainer(n syntax.NodeID, name string, args arguments) *Value {
	short := name[strings.LastIndexByte(name, '.')+1:]
	switch short {
	case "OrderedDict", "defaultdict":
		short = "dict"
	case "Counter":
		short = name
	case "sorted", "frozenset":
		short = "list"
	}
	id := in.allocate(objectContainer, n, short)
	info := in.objects[id]
	first := args.at(0, "")
	if name == "collections.defaultdict" {
		info.factory = first
		first = args.at(1, "")
	}
	if name == "collections.deque" || name == "queue.Queue" {
		limit := args.at(1, "maxlen")
		if name == "queue.Queue" {
			limit, first = args.at(0, "maxsize"), nil
		}
		if k, ok := limit.literalOf().(int); ok && k > 0 && k <= smallQueue {
			info.bounded = true
		}
	}
	for _, k := range args.keyword {
		if short == "dict" || short == "collections.Counter" {
			in.write(Place{id, in.index(k.name)}, k.value)
		}
	}
	v := object(id)
	if first == nil {
		return v
	}
	expr := args.expr(0, n)
	switch {
	case in.isLazy(first):
		few := in.few(first)
		in.iterate(n, few, forLoop, func() {
			in.write(Place{id, anyElement}, join(in.state.get(Place{id, anyElement}), &Value{}))
			e := in.next(n, expr, first)
			element := in.generated(expr)
			in.remember(element, e)
			in.consuming = element == expr
			in.collect(id, anyElement, e, n, element, n, nil)
			in.consuming = false
		})
		v.structural = few
	case short == "dict":
		for _, src := range first.objects {
			for _, f := range in.objects[src].fields {
				in.write(Place{id, f}, in.state.get(Place{src, f}))
			}
		}
	default:
		in.write(Place{id, anyElement}, in.elementOf(expr, first))
		v.structural = in.few(first)
	}
	return v
}

// smallQueue is the largest maxlen of a deque that bounds it to little: a
// replay buffer of ten thousand is bounded too, but not before memory is full.
const smallQueue = 1000

// newModule is an instance of a class of torch.nn.
func (in *interpreter) newModule(n syntax.NodeID, name string, class torch.ModuleClass, args arguments) *Value {
	in.activity++
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectModule, name: name})
	info.nn = class
	if r := args.named("reduction"); r != nil && r.literal == "none" {
		info.nn.Scalar = false
	}
	if class.Container {
		info.nn.Trainable = len(args.values()) == 0 // filled later
		for _, v := range args.values() {
			info.nn.Trainable = info.nn.Trainable || in.trainable(v, 0)
		}
	}
	in.state.set(Place{id, in.symbol("$frozen")}, nil)
	return object(id)
}

// trainable reports whether v holds a module that may have parameters.
func (in *interpreter) trainable(v *Value, depth int) bool {
	if v == nil || depth > 4 {
		return false
	}
	if v.is(KindUnknown) {
		return true
	}
	for _, e := range v.elements {
		if in.trainable(e, depth+1) {
			return true
		}
	}
	for _, id := range v.objects {
		switch info := in.objects[id]; info.kind {
		case objectModule:
			if info.nn.Trainable {
				return true
			}
		case objectContainer:
			if in.trainable(in.contents(id), depth+1) {
				return true
			}
		case objectInstance, objectUnknown, objectGenerator:
			return true
		}
	}
	return false
}

// deepcopy copies modules and containers; a copied tensor is a leaf.
func (in *interpreter) deepcopy(n syntax.NodeID, v *Value) *Value {
	if v == nil {
		return plain
	}
	var out *Value
	for _, id := range v.objects {
		info := in.objects[id]
		switch info.kind {
		case objectModule:
			c, cinfo := in.newObject(objectKey{at: in.site(n), kind: objectModule, parent: id, name: info.name})
			cinfo.nn = info.nn
			in.state.set(Place{c, in.symbol("$frozen")}, in.state.get(Place{id, in.symbol("$frozen")}))
			out = join(out, object(c))
		case objectInstance:
			c, cinfo := in.newObject(objectKey{at: in.site(n), kind: objectInstance, parent: id, class: info.class})
			for _, f := range info.fields {
				in.state.set(Place{c, f}, in.state.get(Place{id, f}))
				cinfo.fields, cinfo.known = info.fields, info.known
			}
			out = join(out, object(c))
		case objectContainer:
			c := in.allocate(objectContainer, n, info.name)
			if content := in.contents(id); content != nil {
				w := *content
				w.atoms = nil
				in.write(Place{c, anyElement}, &w)
			}
			out = join(out, object(c))
		}
	}
	if v.is(KindTensor | KindUnknown) {
		c := *v
		c.atoms, c.objects = nil, nil
		out = join(out, &c)
	}
	return orPlain(out)
}
