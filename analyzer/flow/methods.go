package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// methodCall runs the methods that are known by what they are called on:
// backward, container, module and tensor methods. It returns nil for others.
func (in *interpreter) methodCall(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	if name == "__enter__" && in.isGuard(obj) {
		return in.enter(n, obj)
	}
	if name == "__exit__" && in.isGuard(obj) {
		in.off = false
		return noValue
	}
	if name == "zero_grad" {
		in.resetsGradients(n, args.isTrue("set_to_none"))
	}
	if name == "load_state_dict" {
		in.takeState(n, obj, args)
	}
	for _, id := range obj.objects {
		if in.objects[id].kind == objectSuper {
			if v := in.collectionMethod(n, receiver, id, name, args); v != nil {
				return v
			}
		}
	}
	if in.definesMethod(obj, name) || in.isLibrary(obj) {
		return nil
	}
	if name == "register_hook" && len(args.values()) == 1 && (obj.is(KindTensor) || in.sure(obj.atoms) >= Likely || isNode(in.tree(), receiver)) {
		return in.hookTensor(n, receiver, obj, args)
	}
	if torch.BackwardMethods[name] {
		return in.backwardCall(n, receiver, obj, name, args)
	}
	if v := in.libraryMethod(n, receiver, obj, name, args); v != nil {
		return v
	}
	var out *Value
	for _, id := range obj.objects {
		info := in.objects[id]
		switch info.kind {
		case objectContainer:
			out = join(out, in.heldBy(obj, in.containerMethod(n, receiver, id, name, args)))
		case objectModule:
			out = join(out, in.moduleMethod(n, obj, id, name, args))
		case objectInstance:
			if name == "_replace" {
				return in.replaced(n, obj, args.keyword)
			}
			if v := in.startThread(n, id, name); v != nil {
				return v
			}
			if v := in.collectionMethod(n, receiver, id, name, args); v != nil {
				out = join(out, v)
			}
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
			if v, _ := in.classAttribute(info.class, f); v != nil {
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

// isOptimizer reports whether an object is an optimizer.
func (a *analysis) isOptimizer(id ObjectID) bool {
	info := a.objects[id]
	return info.optimizer || info.kind == objectUnknown && torch.OptimizerClass(info.name)
}

// callable reports whether v may be a function of the program.
func (in *interpreter) callable(v *Value) bool {
	for _, id := range v.objects {
		switch info := in.objects[id]; info.kind {
		case objectFunction, objectBound, objectClass, objectPartial:
			return true
		case objectInstance:
			if v, _ := in.classAttribute(info.class, in.symbol("__call__")); v != nil {
				return true
			}
		}
	}
	return false
}

// isLibrary reports whether obj may be a module or class of a library.
func (a *analysis) isLibrary(obj *Value) bool {
	return a.anyIs(obj, objectLibrary)
}

// unknownMethod is a method of something that was made elsewhere. Its name
// may show what it is.
func (in *interpreter) unknownMethod(n, receiver syntax.NodeID, obj *Value, id ObjectID, name string, args arguments) *Value {
	info := in.objects[id]
	if v := in.executorMethod(n, id, name, args); v != nil {
		return v
	}
	if torch.ModuleMethods[name] && !(name == "train" && len(args.positional) > 1) && name != "eval" || name == "eval" && len(args.values()) == 0 {
		if in.state.get(Place{id, anyElement}) == nil {
			info.model = info.model || !torch.OptimizerMethods[name]
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
		if takes, ok := torch.CollectionArguments[name]; !ok || args.star != nil || len(args.positional) == takes && len(args.keyword) == 0 {
			return in.containerMethod(n, receiver, id, name, args)
		}
	case "add", "clear", "popleft":
		if in.tree().Kind(in.tree().Parent(n)) == syntax.ExpressionStatement || name == "popleft" {
			return in.containerMethod(n, receiver, id, name, args)
		}
	case "items", "keys", "values":
		if len(args.positional) == 0 {
			info.mapping = true
			e := in.elementOf(n, obj)
			if name == "items" {
				e = tuple(plain, e)
			}
			return &Value{kinds: KindObject, elements: []*Value{e}, variadic: true, structural: true}
		}
	case "step": // optimizer.step(), scaler.step(optimizer)
		if in.isOptimizer(id) || len(args.positional) == 1 && slices.ContainsFunc(args.positional[0].objects, in.isOptimizer) {
			in.optimizerSteps()
			if len(args.values()) == 0 {
				in.stepsAt(n)
				in.stepsOnce(n, id)
			}
		}
		if len(args.positional) == 1 && in.callable(args.positional[0]) { // optimizer.step(closure)
			return in.apply(n, args.positional[0], arguments{})
		}
	case "run_in_executor":
		if len(args.positional) > 1 {
			rest := args.rest()
			return in.unguarded(n, rest.positional[0], rest.rest())
		}
	case "remove":
		if info.name == hookHandle {
			return in.removeHook(id)
		}
	case "enter_context":
		if len(args.positional) == 1 {
			return in.enter(n, args.positional[0])
		}
	}
	return nil
}
