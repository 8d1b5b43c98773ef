package flow

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// builtin is a name that Python binds everywhere, nil when it does not matter.
func (in *interpreter) builtin(name string) *Value {
	if torch.Builtins[name] {
		return in.library(name)
	}
	return nil
}

// callLibrary calls something of a library by its dotted name.
func (in *interpreter) callLibrary(n syntax.NodeID, name string, args arguments) *Value {
	if role, ok := in.workspace.claims.Claimed(name); ok {
		return in.claimed(n, name, 0, role, args)
	}
	if torch.Cleans(name) != torch.CleansNothing {
		in.cleans(n, name)
	}
	v := in.callPython(n, name, args)
	if v == nil {
		v = in.callTorch(n, name, args)
	}
	switch torch.Spaced[name] {
	case torch.AsRange:
		v = v.spaced(args.positional)
	case torch.AsCount:
		if count := args.at(2, "steps"); count != nil {
			v = v.spaced([]*Value{count})
		} else if count := args.named("num"); count != nil {
			v = v.spaced([]*Value{count})
		}
	}
	return v
}

// identity is a function of no library: what functools.wraps(f) makes, which
// returns what it is given.
const identity = "identity"

// callPython calls something of Python's own library, or of a library that is
// not about tensors. It returns nil for what it does not know.
func (in *interpreter) callPython(n syntax.NodeID, name string, args arguments) *Value {
	first := args.at(0, "")
	if torch.Iterators[name] {
		return in.lazily(n, name, args)
	}
	if container, ok := torch.Containers[name]; ok {
		return in.newContainer(n, name, container, args)
	}
	if i, ok := torch.Pushes[name]; ok {
		return in.push(n, first, args.at(i, ""), args.expr(i, n), args.expr(0, n))
	}
	if torch.Pops[name] && first != nil {
		v := in.elementOf(args.expr(0, n), first)
		for _, id := range first.objects {
			in.trim(id)
		}
		return v
	}
	if torch.Executors[name] {
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
		return object(id)
	}
	if torch.Progress[name] || name == identity {
		if first == nil {
			return &Value{kinds: KindUnknown}
		}
		return first
	}
	switch name {
	case "sum":
		return in.sum(n, args)
	case "max", "min":
		if len(args.positional) == 1 {
			return in.elementOf(args.expr(0, n), first)
		}
		return orPlain(joinAll(args.positional))
	case "len":
		v := *plain
		v.structural = in.few(first)
		return &v
	case "range":
		return &Value{kinds: KindObject, elements: []*Value{plain}, variadic: true}
	case "enum.auto": // another one for each member
		return &Value{kinds: KindPlain, literal: fmt.Sprint("auto ", in.frame.module.Path, " ", n)}
	case "next":
		in.iterates(n, args)
		in.draws()
		if first == nil {
			return plain
		}
		return in.elementOf(args.expr(0, n), first)
	case "getattr":
		return in.getattr(n, args)
	case "setattr":
		return in.setattr(n, args)
	case "functools.partial":
		if first == nil {
			return plain
		}
		id, info := in.newObject(objectKey{at: in.site(n), kind: objectPartial})
		info.call, info.args = first, args.rest()
		return object(id)
	case "functools.reduce":
		return in.reduce(n, args)
	case "typing.cast", "torch.jit.annotate":
		return orPlain(args.at(1, "val"))
	case "collections.namedtuple":
		return in.namedTuple(n, args)
	case fieldOf:
		id, info := in.newObject(objectKey{at: in.site(n), kind: objectPartial, name: fieldOf})
		info.call, info.args = plain, args
		return object(id)
	case "dataclasses.replace", "copy.replace":
		return in.replaced(n, orPlain(first), args.keyword)
	case "functools.wraps", "functools.update_wrapper":
		return in.library(identity)
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
		return in.thread(n, args.at(1, "target"), args.at(3, "args"))
	case "threading.Timer":
		return in.thread(n, args.at(1, "function"), args.at(2, "args"))
	case "_thread.start_new_thread":
		if first != nil {
			in.unguarded(n, first, spread(args.at(1, "")))
		}
		return plain
	case "asyncio.to_thread":
		if first != nil {
			return in.unguarded(n, first, args.rest())
		}
	case "tqdm.trange":
		return &Value{kinds: KindUnknown}
	}
	return nil
}

// callTorch calls something of PyTorch or of a library of which nothing is
// known.
func (in *interpreter) callTorch(n syntax.NodeID, name string, args arguments) *Value {
	first := args.at(0, "")
	in.makes(n, name, args)
	switch name {
	case "torch.autograd.grad":
		return in.gradients(n, args)
	case "torch.autograd.backward", "torch.distributed.autograd.backward":
		for i, v := range args.positional {
			in.backward(n, args.expr(i, n), v, args)
			in.createsGraph(n, v, args)
		}
		in.backward(n, args.source(-1, "tensors", n), args.named("tensors"), args)
		return noValue
	case "torch.nn.Parameter", "torch.nn.parameter.Parameter":
		x := in.newOrigin(in.site(n), recorded{parameter: true, sure: Certain})
		return &Value{kinds: KindTensor, atoms: atoms{x}}
	case "torch.nn.ParameterList", "torch.nn.ParameterDict":
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectModule, name: name})
		return object(in.paramsOf(id))
	case "torch.utils.checkpoint.checkpoint":
		if first != nil && len(args.positional) > 1 {
			rest := args.rest()
			return in.apply(n, first, arguments{positional: rest.positional, exprs: rest.exprs})
		}
	case loadedObject:
		return in.loadCheckpoint(n, args)
	case "torch.utils.data.Subset", "torch.utils.data.random_split", "torch.utils.data.ConcatDataset":
		return in.partsOfData(n, name, args)
	case "torch.utils.data.DataLoader":
		in.newLoader(n, args)
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
		return object(id)
	}
	if mode := torch.GradContext(name); mode != torch.GradUnchanged {
		return in.newGuard(n, name, mode, args.at(0, "mode"))
	}
	if torch.Wrappers[name] && first != nil {
		return first
	}
	if strings.HasPrefix(name, "torch.distributions.") {
		// A distribution carries the graph of its parameters.
		return in.operate(n, true, args.values()...)
	}
	if role, ok := torch.RoleOf(name); ok {
		if v := in.libraryCall(n, name, role, args); v != nil {
			return v
		}
	}
	if class, ok := torch.Module(name); ok {
		return in.newModule(n, name, class, args)
	}
	if c, ok := torch.Function(name); ok {
		return in.callFunction(n, name, c, args)
	}
	if torch.OutsideGraph(name) {
		return plain
	}
	if torch.EvaluationSettings(name) {
		return in.newSettings(n, name, args)
	}
	if torch.KeepsPredictions(name) {
		in.newTrainer(n, args)
	}
	if torch.MakesObject(name) {
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
		return object(id)
	}
	return in.callUnknown(n, noValue, args)
}

// callFunction calls a library function with a known contract.
func (in *interpreter) callFunction(n syntax.NodeID, name string, c torch.Contract, args arguments) *Value {
	whole := args.named("dim") == nil && (len(args.positional) == 1 || strings.HasPrefix(name, "torch.nn.functional."))
	v := in.contract(n, c, args.values(), whole).shownBy(c)
	if args.isTrue("requires_grad") && v.is(KindTensor) {
		in.differentiate(n)
		v = &Value{kinds: KindTensor, size: v.size, atoms: atoms{in.newOrigin(in.site(n), recorded{saves: true, leaf: true, sure: Certain})}}
	}
	if r := args.named("reduction"); r != nil && r.literal == "none" && v.size == torch.Scalar {
		w := *v
		w.size = torch.AnySize
		return &w
	}
	return v
}

// spaced is v, numbers between limits as those of range: as many as a small literal
// or a count of parts of the program says are few.
func (v *Value) spaced(limits []*Value) *Value {
	c := *v
	v = &c
	for _, limit := range limits {
		v.structural = v.structural || limit.only(KindPlain) && limit.structural
	}
	if len(limits) == 0 {
		return v
	}
	first, ok := limits[0].literalOf().(int)
	if !ok {
		return v
	}
	if v.times = first; len(limits) > 1 {
		last, ok := limits[1].literalOf().(int)
		if v.times = last - first; !ok {
			v.batches = len(limits) > 2 && !v.structural && limits[2].literalOf() != 1
			return v
		}
	}
	v.structural = v.structural || v.times <= fewSteps
	return v
}

// getattr is getattr(obj, name, default).
func (in *interpreter) getattr(n syntax.NodeID, args arguments) *Value {
	if len(args.positional) < 2 {
		return &Value{kinds: KindUnknown}
	}
	key, ok := args.positional[1].literalOf().(string)
	if !ok {
		return &Value{kinds: KindUnknown}
	}
	v := in.attribute(n, args.positional[0], key)
	if len(args.positional) == 3 {
		v = join(v, args.positional[2])
	}
	return v
}

// setattr is setattr(obj, name, value).
func (in *interpreter) setattr(n syntax.NodeID, args arguments) *Value {
	if len(args.positional) != 3 || args.positional[0] == nil {
		return noValue
	}
	if key, ok := args.positional[1].literalOf().(string); ok {
		for _, id := range args.positional[0].objects {
			in.store(Place{id, in.symbol(key)}, args.positional[2], n, args.expr(2, n), n)
		}
	}
	return noValue
}
