package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// methodCall runs the methods that are known by what they are called on:
// backward, container, module and tensor methods. It returns nil for others.
func (in *interpreter) methodCall(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	if in.definesMethod(obj, name) || in.isLibrary(obj) {
		return nil
	}
	if torch.BackwardMethods[name] {
		return in.backwardCall(n, obj, name, args)
	}
	var out *Value
	for _, id := range obj.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer:
			out = join(out, in.containerMethod(n, receiver, id, name, args))
		case objectModule:
			out = join(out, in.moduleMethod(n, obj, id, name, args))
		case objectInstance:
			if in.isModuleClass(info.class) {
				if v := in.moduleMethod(n, obj, id, name, args); v != nil {
					out = join(out, v)
				}
			}
		case objectClass:
			if name == "apply" && in.isFunctionClass(id) {
				out = join(out, in.applyFunction(n, id, args))
			}
		case objectUnknown:
			if v := in.unknownMethod(n, receiver, obj, id, name, args); v != nil {
				out = join(out, v)
			}
		case objectParams:
			if !obj.is(KindTensor) {
				out = join(out, obj)
			}
		}
	}
	if out != nil {
		return out
	}
	if obj.is(KindTensor) || obj.is(KindUnknown) {
		return in.tensorMethod(n, receiver, obj, name, args)
	}
	if obj.only(KindPlain | KindNone) {
		return plain
	}
	if obj.only(KindObject) && obj.elements != nil {
		return plain
	}
	return nil
}

// definesMethod reports whether the program's own code says what a method does.
func (in *interpreter) definesMethod(obj *Value, name string) bool {
	f := in.symbol(name)
	for _, id := range obj.objects {
		switch info := in.objects[id]; info.kind {
		case objectInstance:
			if in.state.get(Place{id, f}) != nil {
				return true
			}
			if v, _ := in.classAttribute(info.class, f, 0); v != nil {
				return true
			}
		case objectClass, objectSuper, objectScope:
			if name != "apply" || !in.isFunctionClass(id) {
				return info.kind != objectClass || !in.isFunctionClass(id)
			}
		case objectUnknown:
			if v := in.state.get(Place{id, f}); v != nil && in.callable(v) {
				return true
			}
		}
	}
	return false
}

func (in *interpreter) callable(v *Value) bool {
	for _, id := range v.objects {
		switch in.objects[id].kind {
		case objectFunction, objectBound, objectClass, objectPartial:
			return true
		}
	}
	return false
}

func (in *interpreter) isLibrary(obj *Value) bool {
	for _, id := range obj.objects {
		if in.objects[id].kind == objectLibrary {
			return true
		}
	}
	return false
}

// backwardCall is loss.backward() or accelerator.backward(loss).
func (in *interpreter) backwardCall(n syntax.NodeID, obj *Value, name string, args arguments) *Value {
	retain := args.isTrue("retain_graph") || args.isTrue("create_graph")
	target := obj
	if len(args.positional) > 0 && (name != "backward" || !obj.is(KindTensor) && in.sure(args.positional[0].atoms) >= in.sure(obj.atoms)) {
		target = args.positional[0]
	}
	in.backward(n, target, retain)
	return noValue
}

// containerMethod is a method of a list, dict, set or deque.
func (in *interpreter) containerMethod(n, receiver syntax.NodeID, id ObjectID, name string, args arguments) *Value {
	info := in.objects[id]
	first := args.at(0, "")
	expr := args.expr(0, n)
	switch name {
	case "append", "add", "appendleft", "put", "put_nowait", "push":
		in.collect(id, anyElement, first, n, expr, receiver, in.placeOf(receiver))
		return noValue
	case "insert":
		in.collect(id, anyElement, args.at(1, ""), n, args.expr(1, n), receiver, in.placeOf(receiver))
		return noValue
	case "extend", "extendleft":
		in.collect(id, anyElement, in.elementOf(expr, first), n, in.onlyElement(expr), receiver, in.placeOf(receiver))
		return noValue
	case "update", "subtract":
		in.update(n, id, first, args)
		return noValue
	case "setdefault":
		f := in.index(first.literalOf())
		p := Place{id, f}
		v := join(in.state.get(p), in.ownDefault(id, f, args.at(1, "")))
		in.write(p, v)
		return orPlain(v)
	case "get":
		v := in.lookup(n, object(id), first)
		if len(args.positional) > 1 {
			v = join(v, args.positional[1])
		}
		return v
	case "pop", "popleft", "popitem", "get_nowait":
		v := in.contents(id)
		if first != nil && info.name == "dict" {
			v = in.lookup(n, object(id), first)
		}
		in.trim(id)
		return orPlain(v)
	case "clear":
		in.clear(id)
		return noValue
	case "remove", "discard":
		in.trim(id)
		return noValue
	case "items":
		return &Value{kinds: KindObject, elements: []*Value{tuple(plain, orPlain(in.contents(id)))}, variadic: true, structural: true}
	case "values":
		return &Value{kinds: KindObject, elements: []*Value{orPlain(in.contents(id))}, variadic: true, structural: info.name == "dict"}
	case "keys":
		return &Value{kinds: KindObject, elements: []*Value{plain}, variadic: true, structural: true}
	case "copy":
		list := in.allocate(objectContainer, n, info.name)
		for _, f := range info.fields {
			in.write(Place{list, f}, in.state.get(Place{id, f}))
		}
		return object(list)
	}
	return plain
}

// ownDefault is the default value of setdefault. An empty container that is
// made for each call becomes the entry's own.
func (in *interpreter) ownDefault(id ObjectID, f Symbol, v *Value) *Value {
	if v == nil || len(v.objects) != 1 {
		return v
	}
	info := in.objects[v.objects[0]]
	if info.kind != objectContainer || in.contents(v.objects[0]) != nil {
		return v
	}
	child, _ := in.newObject(objectKey{kind: objectContainer, parent: id, field: f, name: info.name})
	return object(child)
}

func orPlain(v *Value) *Value {
	if v == nil {
		return plain
	}
	return v
}

func (v *Value) literalOf() any {
	if v == nil {
		return nil
	}
	return v.literal
}

// update merges a mapping into a dict. A Counter adds instead of replacing.
func (in *interpreter) update(n syntax.NodeID, id ObjectID, with *Value, args arguments) {
	adds := in.objects[id].name == "collections.Counter"
	put := func(f Symbol, v *Value, expr syntax.NodeID) {
		p := Place{id, f}
		old := in.state.get(p)
		switch {
		case adds && old != nil:
			in.store(p, in.operate(n, false, old, v), n, expr, n)
		case f == anyElement:
			in.write(p, join(old, v))
		default:
			in.write(p, v)
		}
	}
	if with != nil {
		for _, src := range with.objects {
			for _, f := range in.objects[src].fields {
				if v := in.state.get(Place{src, f}); v != nil {
					put(f, v, in.entryExpr(args.expr(0, n), in.symbolNames[f]))
				}
			}
		}
	}
	for _, k := range args.keyword {
		put(in.index(k.name), k.value, k.expr)
	}
}

// entryExpr is the value of a dict display's entry, else the whole expression.
func (in *interpreter) entryExpr(n syntax.NodeID, field string) syntax.NodeID {
	t := in.tree()
	if t.Kind(n) != syntax.Dictionary {
		return n
	}
	for c := range t.Children(n) {
		if t.Kind(c) != syntax.Pair {
			continue
		}
		if key := in.valueOf(t.Child(c, syntax.FieldKey)); key != nil && in.symbolNames[in.index(key.literal)] == field {
			return t.Child(c, syntax.FieldValue)
		}
	}
	return n
}

// moduleMethod is a method that nn.Module gives to its subclasses.
func (in *interpreter) moduleMethod(n syntax.NodeID, obj *Value, id ObjectID, name string, args arguments) *Value {
	switch name {
	case "eval", "train":
		training := name == "train"
		if v := args.at(0, "mode"); v != nil && training {
			if truth, known := v.truth(); known {
				training = truth
			}
		}
		in.state.set(Place{modes, evaluating}, boolean(!training))
		return obj
	case "to", "cuda", "cpu", "half", "float", "double", "apply", "share_memory", "bfloat16":
		return obj
	case "requires_grad_":
		v := args.at(0, "requires_grad")
		in.freeze(id, v != nil && v.literal == false)
		return obj
	case "parameters", "buffers":
		return &Value{kinds: KindObject, objects: []ObjectID{in.paramsOf(id)}, structural: true}
	case "named_parameters", "named_buffers":
		return &Value{kinds: KindObject, elements: []*Value{tuple(plain, in.parameter(in.paramsOf(id)))}, variadic: true, structural: true}
	case "modules", "children":
		return &Value{kinds: KindObject, elements: []*Value{in.submodule(n, id)}, variadic: true, structural: true}
	case "named_modules", "named_children":
		return &Value{kinds: KindObject, elements: []*Value{tuple(plain, in.submodule(n, id))}, variadic: true, structural: true}
	case "state_dict":
		d := in.allocate(objectContainer, n, "dict")
		in.write(Place{d, anyElement}, freshData)
		return object(d)
	case "zero_grad", "load_state_dict", "register_buffer", "register_parameter", "add_module", "append":
		if name == "register_buffer" && len(args.positional) > 1 {
			if key, ok := args.positional[0].literal.(string); ok {
				in.write(Place{id, in.symbol(key)}, args.positional[1])
			}
		}
		return noValue
	case "forward", "__call__":
		return in.callModule(n, id, args)
	}
	return nil
}

// unknownMethod is a method of something that was made elsewhere. Its name
// may show what it is.
func (in *interpreter) unknownMethod(n, receiver syntax.NodeID, obj *Value, id ObjectID, name string, args arguments) *Value {
	info := in.objects[id]
	if torch.ModuleMethods[name] && !(name == "train" && len(args.positional) > 1) && name != "eval" || name == "eval" && len(args.values()) == 0 {
		if in.state.get(Place{id, anyElement}) == nil {
			if name != "zero_grad" && name != "state_dict" && name != "load_state_dict" {
				info.model = true // optimizers have these three as well
			}
			if name == "zero_grad" {
				info.optimizer = true
			}
			return in.moduleMethod(n, obj, id, name, args)
		}
	}
	if torch.ScalingMethods[name] && len(args.positional) == 1 {
		return in.operate(n, false, args.positional[0])
	}
	switch name {
	case "append", "appendleft", "extend", "put", "insert":
		return in.containerMethod(n, receiver, id, name, args)
	case "add", "clear", "popleft":
		if in.tree().Kind(in.tree().Parent(n)) == syntax.ExpressionStatement || name == "popleft" {
			return in.containerMethod(n, receiver, id, name, args)
		}
	case "items", "keys", "values":
		if len(args.positional) == 0 {
			e := in.elementOf(n, obj)
			if name == "items" {
				e = tuple(plain, e)
			}
			return &Value{kinds: KindObject, elements: []*Value{e}, variadic: true, structural: true, atoms: nil}
		}
	case "step":
		if strings.HasPrefix(info.name, "torch.optim.") && !strings.Contains(info.name, "lr_scheduler") || info.optimizer {
			in.state.set(Place{modes, stepped}, plainTrue)
			in.trains()
		}
		if len(args.positional) == 1 && in.callable(args.positional[0]) { // optimizer.step(closure)
			return in.apply(n, args.positional[0], arguments{})
		}
	case "enter_context":
		if len(args.positional) == 1 {
			in.enter(n, args.positional[0])
			return args.positional[0]
		}
	}
	return nil
}

// tensorMethod is a method of a tensor, or of something that may be one.
func (in *interpreter) tensorMethod(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	c, ok := torch.Method(name)
	if !ok {
		if obj.is(KindUnknown) {
			return nil
		}
		return in.callUnknown(n, obj, args)
	}
	if name == "register_hook" {
		return plain
	}
	if name == "requires_grad_" {
		v := args.at(0, "requires_grad")
		out := in.leaf(n, obj, v == nil || v.literal != false)
		if p := in.placeOf(receiver); p != nil {
			in.state.set(*p, out)
		}
		return out
	}
	if torch.InPlace(name) {
		return in.inPlace(n, receiver, obj, name, c, args)
	}
	return in.contract(n, c, append([]*Value{obj}, args.values()...), len(args.positional) == 0 && args.named("dim") == nil)
}

// inPlace is a method that writes its receiver.
func (in *interpreter) inPlace(n, receiver syntax.NodeID, obj *Value, name string, c torch.Contract, args arguments) *Value {
	p := in.placeOf(receiver)
	if params := in.paramsIn(obj); params != 0 {
		// In place on a parameter is an error of PyTorch's unless the module is
		// frozen.
		if p = nil; !in.frozen(in.objects[params].parent) {
			return obj
		}
		p = &Place{params, anyElement}
	}
	var out *Value
	switch name {
	case "detach_", "zero_", "fill_", "normal_", "uniform_", "random_", "set_", "resize_":
		out = &Value{kinds: KindTensor, size: obj.size}
	case "copy_":
		if in.off {
			return obj
		}
		out = in.contract(n, torch.Contract{Effect: torch.Keeps}, args.values(), false)
		out = &Value{kinds: out.kinds, size: obj.size, atoms: out.atoms, objects: obj.objects}
	default:
		if in.off {
			return obj
		}
		out = in.contract(n, c, append([]*Value{obj}, args.values()...), false)
		out = &Value{kinds: out.kinds, size: obj.size, atoms: out.atoms, objects: obj.objects}
	}
	if p != nil {
		in.remember(n, out)
		in.store(*p, out, n, n, receiver)
	}
	if t := in.tree(); name == "detach_" && t.Kind(receiver) == syntax.Subscript {
		// hidden[0].detach_(), hidden[1].detach_(): of a state whose parts are
		// not known one by one, all are cut.
		if whole := in.placeOf(t.Child(receiver, syntax.FieldValue)); whole != nil {
			if v := in.state.get(*whole); v != nil && v.is(KindUnknown|KindTensor) {
				c := *v
				c.atoms, c.elements = nil, nil
				in.write(*whole, &c)
			}
		}
	}
	return out
}

// paramsIn is the parameters of which v is one, else 0.
func (in *interpreter) paramsIn(v *Value) ObjectID {
	for _, id := range v.objects {
		if in.objects[id].kind == objectParams {
			return id
		}
	}
	return 0
}

// mayBeSaved reports whether a factor is a tensor rather than a number. One of
// which nothing is known is taken for a number: most scale something.
func (v *Value) mayBeSaved() bool {
	return v.is(KindTensor|KindObject) || v.is(KindUnknown) && len(v.atoms) > 0
}

func severalTensors(operands []*Value) bool {
	k := 0
	for _, v := range operands {
		if v.mayBeSaved() {
			k++
		}
	}
	return k > 1
}

// contract is the result of an operation with a known contract.
func (in *interpreter) contract(n syntax.NodeID, c torch.Contract, operands []*Value, whole bool) *Value {
	switch c.Effect {
	case torch.Leaves:
		return plain
	case torch.NoGraph:
		return freshData
	case torch.Detaches:
		out := &Value{kinds: KindTensor}
		if len(operands) > 0 && operands[0] != nil {
			out.size = operands[0].size
		}
		return out
	case torch.Keeps:
		if c.Alone && len(operands) > 1 {
			operands = operands[:1]
		}
		v := in.operate(n, c.Saves || c.SavesByDim && !whole || c.SavesPairs && severalTensors(operands), operands...)
		if c.Reduces && whole && v.is(KindTensor|KindUnknown) {
			w := *v
			w.size = torch.Scalar
			return &w
		}
		return v
	case torch.Splits:
		if whole && len(operands) == 1 { // max() of everything
			v := *in.operate(n, c.Saves, operands...)
			v.size = torch.Scalar
			return &v
		}
		if len(operands) > 1 && operands[1].is(KindTensor) { // elementwise
			return in.operate(n, c.Saves, operands...)
		}
		return tuple(in.operate(n, c.Saves, operands...), freshData)
	case torch.Pieces:
		v := in.operate(n, c.Saves, operands...)
		return &Value{kinds: KindObject, elements: []*Value{v}, variadic: true, structural: true}
	}
	return plain
}

// applyFunction is Function.apply of a custom autograd function.
func (in *interpreter) applyFunction(n syntax.NodeID, class ObjectID, args arguments) *Value {
	off := in.off
	leaf := false
	if v, owner := in.classAttribute(class, in.symbol("forward"), 0); v != nil {
		ctx, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: "ctx"})
		withCtx := args
		withCtx.positional = append([]*Value{object(ctx)}, args.positional...)
		withCtx.exprs = append([]syntax.NodeID{n}, args.exprs...)
		in.off = true // a custom forward runs unrecorded
		in.apply(n, in.bind(n, v, nil, owner), withCtx)
		in.off = off
		if in.state == nil {
			return plain
		}
		for _, f := range info.fields {
			if v := in.state.get(Place{ctx, f}); v.is(KindTensor | KindUnknown) {
				leaf = true // no backward frees what is kept as an attribute
			}
		}
	}
	var operands atoms
	for _, v := range args.values() {
		operands = operands.union(in.reach(v))
	}
	out := &Value{kinds: KindTensor}
	if in.off {
		return out
	}
	operands = in.chain(operands)
	if level := in.sure(operands); level > NoGraph {
		x := in.newOrigin(in.site(n), true, leaf, level)
		in.atoms[x].custom = leaf
		out.atoms = operands.union(atoms{x})
	}
	return out
}
