package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// newModule is an instance of a class of torch.nn.
func (in *interpreter) newModule(n syntax.NodeID, name string, class torch.ModuleClass, args arguments) *Value {
	if class.Container && len(args.positional) == 1 && in.holdsGrowing(args.positional[0]) {
		return args.positional[0] // metrics, which are asked for one by one
	}
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
	if role, _ := torch.RoleOf(name); role == torch.MakesReporter {
		info.parent = in.adapted(args)
	}
	in.state.set(Place{id, frozenMark}, nil)
	in.forgetMode(id)
	return object(id)
}

// adapted is the module that a library makes another one of: adapters are put on
// it. It is 0 when there is none.
func (in *interpreter) adapted(args arguments) ObjectID {
	for _, v := range args.values() {
		for _, id := range v.objects {
			if in.objects[id].kind == objectModule {
				return id
			}
		}
	}
	return 0
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

// modulePart is the name of what is reached through a module whose layers are
// not told apart.
const modulePart = "part"

// submodule is a part of a module: one of its layers, a slice of them.
func (in *interpreter) submodule(n syntax.NodeID, id ObjectID) *Value {
	sub, info := in.newObject(objectKey{at: in.site(n), kind: objectModule, parent: id, name: modulePart})
	info.nn = torch.ModuleClass{Trainable: true, Saves: true}
	if in.objects[id].kind == objectModule {
		info.nn = in.objects[id].nn
		info.nn.Container = false
	}
	if in.frozen(id) {
		in.freeze(sub, true)
	}
	return object(sub)
}

func (in *interpreter) callModule(n syntax.NodeID, id ObjectID, args arguments) *Value {
	out := in.moduleResult(n, id, in.objects[id].nn, args)
	in.runHooks(n, id, args, out)
	return out
}

// callTrainable is a call of a module whose code is not known.
func (in *interpreter) callTrainable(n syntax.NodeID, id ObjectID, args arguments) *Value {
	return in.moduleResult(n, id, torch.ModuleClass{Trainable: true, Saves: true}, args)
}

// moduleResult is what a module of a known class gives. It carries a graph when
// the module has parameters to train or when its arguments carry one.
func (in *interpreter) moduleResult(n syntax.NodeID, id ObjectID, class torch.ModuleClass, args arguments) *Value {
	out := &Value{kinds: KindTensor}
	if !class.OneKind {
		out.shown = presumed
	}
	if class.Scalar {
		out.size = torch.Scalar
	}
	if class.Record {
		out.kinds = KindUnknown
	}
	if !in.off {
		var operands atoms
		for _, v := range args.values() {
			operands = operands.union(in.reach(v))
		}
		operands = in.chain(operands)
		level := in.sure(operands)
		if class.Trainable && !in.frozen(id) {
			level = Certain
		}
		if level > NoGraph {
			out.atoms = operands
			if class.Saves {
				x := in.newOrigin(in.site(n), recorded{saves: true, sure: level})
				in.atoms[x].by = id
				out.atoms = operands.union(atoms{x})
				if class.Trainable && !in.frozen(id) {
					in.modelCall(id, x, operands)
				}
			}
		} else if in.carriesHeader(operands) {
			out.atoms = operands
		}
	}
	switch {
	case class.StateOfTwo:
		return tuple(out, tuple(out, out))
	case class.Outputs == 2:
		return tuple(out, out)
	}
	return out
}

// moduleMethod is a method that nn.Module gives to its subclasses.
func (in *interpreter) moduleMethod(n syntax.NodeID, obj *Value, id ObjectID, name string, args arguments) *Value {
	switch torch.ModuleEffects[name] {
	case torch.ChangesMode:
		training := name == "train"
		if v := args.at(0, "mode"); v != nil && training {
			if truth, known := v.truth(); known {
				training = truth
			}
		}
		in.setMode(n, id, training)
		return obj
	case torch.ReturnsItself:
		return obj
	case torch.ChangesGradients:
		v := args.at(0, "requires_grad")
		in.freeze(id, v != nil && v.literal == false)
		return obj
	case torch.GivesParameters:
		return &Value{kinds: KindObject, objects: []ObjectID{in.paramsOf(id)}, structural: true}
	case torch.GivesNamedParameters:
		return &Value{kinds: KindObject, elements: []*Value{tuple(plain, in.parameter(in.paramsOf(id)))}, variadic: true, structural: true}
	case torch.GivesParts:
		return &Value{kinds: KindObject, elements: []*Value{in.submodule(n, id)}, variadic: true, structural: true}
	case torch.GivesNamedParts:
		return &Value{kinds: KindObject, elements: []*Value{tuple(plain, in.submodule(n, id))}, variadic: true, structural: true}
	case torch.GivesState:
		d := in.allocateContainer(n, torch.Dict)
		in.write(Place{d, anyElement}, freshData.in(in.weightsOf(obj)))
		return object(d)
	case torch.RegistersBuffer:
		if len(args.positional) > 1 {
			if key, ok := args.positional[0].literalOf().(string); ok {
				in.write(Place{id, in.symbol(key)}, args.positional[1])
			}
		}
		return noValue
	case torch.ReturnsNothing:
		return noValue
	case torch.Forwards:
		return in.callModule(n, id, args)
	case torch.HooksOutput:
		return in.addHook(n, id, args.at(0, "hook"), hookedOutput)
	case torch.HooksInput:
		return in.addHook(n, id, args.at(0, "hook"), hookedInput)
	}
	return nil
}

// freeze marks a module and its parts as having no parameters that require
// gradients, or marks them as having some.
func (in *interpreter) freeze(module ObjectID, frozen bool) {
	in.eachPart(module, map[ObjectID]bool{}, func(id ObjectID) {
		info := in.objects[id]
		for _, f := range info.fields {
			v := in.state.get(Place{id, f})
			if frozen && v.is(KindTensor) && in.areParameters(v.atoms) {
				c := *v
				c.atoms = nil
				in.state.set(Place{id, f}, &c)
			}
		}
		if info.kind != objectContainer {
			in.write(Place{id, frozenMark}, boolean(frozen))
		}
	})
}

// eachPart visits a module and all that it is made of.
func (in *interpreter) eachPart(id ObjectID, seen map[ObjectID]bool, visit func(ObjectID)) {
	if seen[id] {
		return
	}
	seen[id] = true
	info := in.objects[id]
	switch info.kind {
	case objectModule, objectInstance, objectUnknown, objectContainer:
	default:
		return
	}
	for _, f := range info.fields {
		if v := in.state.get(Place{id, f}); v != nil {
			for _, part := range v.objects {
				in.eachPart(part, seen, visit)
			}
		}
	}
	visit(id)
}

// frozen reports whether no parameter of a module requires a gradient.
func (in *interpreter) frozen(module ObjectID) bool {
	v := in.state.get(Place{module, frozenMark})
	return v != nil && v.literal == true
}

// paramsOf is the collection of the parameters of a module.
func (a *analysis) paramsOf(module ObjectID) ObjectID {
	id, _ := a.newObject(objectKey{kind: objectParams, parent: module})
	return id
}

// parameter is one parameter of a module: a leaf that lives as long as the
// module does.
func (in *interpreter) parameter(params ObjectID) *Value {
	v := &Value{kinds: KindTensor, objects: []ObjectID{params}}
	if in.frozen(in.objects[params].parent) {
		return join(v, in.state.get(Place{params, anyElement}))
	}
	x := in.origin(site{slot: -1 - int32(params)}, nil, recorded{parameter: true, sure: Certain})
	v.atoms = atoms{x}
	return v
}

// paramsIn is the parameters of which v is one, else 0.
func (a *analysis) paramsIn(v *Value) ObjectID {
	for _, id := range v.objects {
		if a.objects[id].kind == objectParams {
			return id
		}
	}
	return 0
}

// applyFunction is Function.apply of a custom autograd function.
func (in *interpreter) applyFunction(n syntax.NodeID, class ObjectID, args arguments) *Value {
	off := in.off
	leaf := false
	if v, owner := in.classAttribute(class, in.symbol("forward")); v != nil {
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
		x := in.newOrigin(in.site(n), recorded{saves: true, leaf: leaf, custom: leaf, sure: level})
		out.atoms = operands.union(atoms{x})
	}
	return out
}

// isModule reports whether a value can be nothing but a neural network module.
func (a *analysis) isModule(v *Value) bool {
	return v != nil && len(v.objects) > 0 && !slices.ContainsFunc(v.objects, func(id ObjectID) bool {
		info := a.objects[id]
		return info.kind != objectModule && !info.model && (info.kind != objectInstance || !a.isModuleClass(info.class))
	})
}

// isModuleClass reports whether a class derives from nn.Module.
func (a *analysis) isModuleClass(class ObjectID) bool {
	return a.derives(class, torch.ModuleBase)
}

func (a *analysis) isFunctionClass(class ObjectID) bool {
	return a.derives(class, torch.FunctionBase)
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
			in.state.set(Place{c, frozenMark}, in.state.get(Place{id, frozenMark}))
			out = join(out, object(c).in(in.copiedMemory(in.weightsOf(v))))
		case objectInstance:
			c, cinfo := in.newObject(objectKey{at: in.site(n), kind: objectInstance, parent: id, class: info.class})
			cinfo.fields, cinfo.known = slices.Clone(info.fields), maps.Clone(info.known)
			for _, f := range info.fields {
				in.state.set(Place{c, f}, in.state.get(Place{id, f}))
			}
			copied := object(c)
			if in.isModuleClass(info.class) {
				copied = copied.in(in.copiedMemory(in.weightsOf(v)))
			}
			out = join(out, copied)
		case objectContainer:
			c := in.allocateContainer(n, info.container)
			if content := in.contents(id); content != nil {
				w := *content
				w.atoms, w.memory = nil, in.copiedMemory(content.memory)
				in.write(Place{c, anyElement}, &w)
			}
			out = join(out, object(c))
		}
	}
	if v.is(KindTensor | KindUnknown) {
		c := *v
		c.atoms, c.objects, c.memory = nil, nil, in.copiedMemory(v.memory)
		if in.isModule(v) {
			c.memory = in.copiedMemory(in.weightsOf(v))
		}
		out = join(out, &c)
	}
	return orPlain(out)
}
