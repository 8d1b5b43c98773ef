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

func (in *interpreter) threadArguments(args arguments) arguments {
	passed := args.named("args")
	if passed == nil || passed.elements == nil || passed.variadic {
		return arguments{}
	}
	return arguments{positional: passed.elements}
}
