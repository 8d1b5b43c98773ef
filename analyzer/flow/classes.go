package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// class runs the body of a class.
func (in *interpreter) class(n syntax.NodeID) *Value {
	t := in.tree()
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectClass})
	info.bases = nil
	for c := range t.Children(t.Child(n, syntax.FieldSuperclasses)) {
		if t.Kind(c) == syntax.KeywordArgument {
			continue
		}
		info.bases = append(info.bases, in.expression(c))
	}
	info.lineage = in.linearised(id, 0)
	outer := in.frame
	in.frame = &frame{caller: outer, module: outer.module, object: id, scope: outer.module.Scope(n), closure: outer, call: outer.call, depth: outer.depth, base: in.state}
	in.block(t.Child(n, syntax.FieldBody))
	in.frame = outer
	if in.state == nil {
		in.state = in.frame.base
	}
	in.leaveUnrecorded(id)
	if outer.code != nil && outer.module == in.main && !slices.Contains(in.inner, id) {
		in.inner = append(in.inner, id)
	}
	return object(id)
}

// leaveUnrecorded marks the methods of a class that its library runs without
// recording a graph.
func (in *interpreter) leaveUnrecorded(class ObjectID) {
	host := in.hostOf(class)
	if host == nil {
		return
	}
	for _, name := range strings.Fields(host.Unrecorded) {
		v := in.state.get(Place{class, in.symbol(name)})
		if v == nil {
			continue
		}
		for _, id := range v.objects {
			if c := in.objects[id].code; c != nil && c.grad == torch.GradUnchanged {
				c.grad = torch.GradOff
			}
		}
	}
}

// methodOf is the method of a name that the class of an instance or a
// class above it defines, bound to the instance; nil when none does.
func (in *interpreter) methodOf(n syntax.NodeID, instance ObjectID, name string) *Value {
	v, owner := in.classAttribute(in.objects[instance].class, in.symbol(name))
	if v == nil {
		return nil
	}
	return in.bind(n, v, object(instance), owner)
}

// bind makes a method of a function found in a class. receiver is nil for
// access through the class.
func (in *interpreter) bind(n syntax.NodeID, v, receiver *Value, owner ObjectID) *Value {
	var out *Value
	for _, id := range v.objects {
		info := in.objects[id]
		if info.kind != objectFunction {
			out = join(out, object(id))
			continue
		}
		switch info.code.kind {
		case staticMethod:
			out = join(out, object(id))
		case classMethod:
			out = join(out, in.method(id, object(owner)))
		case propertyMethod:
			if receiver != nil {
				out = join(out, in.apply(n, in.method(id, receiver), arguments{}))
			}
		default:
			if receiver == nil {
				out = join(out, object(id))
			} else {
				out = join(out, in.method(id, receiver))
			}
		}
	}
	if out == nil || v.kinds&^KindObject != 0 || v.elements != nil {
		out = join(out, v)
	}
	return out
}

// method is a function bound to its receiver.
func (a *analysis) method(function ObjectID, receiver *Value) *Value {
	id, _ := a.newObject(objectKey{kind: objectBound, class: function, parent: receiver.objects[0]})
	return object(id)
}

// annotate notes that the body of a class annotates a name: a field, if the
// class turns out to be a dataclass or a named tuple.
func (in *interpreter) annotate(class ObjectID, name Symbol) {
	if info := in.objects[class]; !slices.Contains(info.annotated, name) {
		info.annotated = append(info.annotated, name)
	}
}

// instantiate makes an instance of a class of the program.
func (in *interpreter) instantiate(n syntax.NodeID, class ObjectID, args arguments) *Value {
	if in.spent() {
		return plain
	}
	if info := in.objects[class]; info.at.frame == nil && (info.at.module != in.main || in.isModuleClass(class)) {
		if v := in.summarised(n, info.at.module, info.at.node, nil, nil, args); v != nil {
			return v
		}
	}
	return in.construct(n, class, args)
}

// construct is instantiate by running the constructor.
func (in *interpreter) construct(n syntax.NodeID, class ObjectID, args arguments) *Value {
	return in.initialise(n, in.newInstance(n, class), class, args)
}

// newInstance is an instance of a class before its constructor has run.
func (in *interpreter) newInstance(n syntax.NodeID, class ObjectID) ObjectID {
	id, _ := in.newObject(objectKey{at: in.site(n), kind: objectInstance, class: class})
	in.renew(id)
	return id
}

// initialise runs the constructor of an instance.
func (in *interpreter) initialise(n syntax.NodeID, id, class ObjectID, args arguments) *Value {
	self := object(id)
	if in.derives(class, torch.KeepsPredictions) && !in.evaluatesByItself(class) {
		in.newTrainer(n, args)
	}
	in.giveElements(id, class)
	if constructor := in.methodOf(n, id, "__init__"); constructor != nil {
		in.apply(n, constructor, args)
		return self
	}
	if fields := in.fieldsOf(class, 0); len(fields) > 0 {
		in.fill(n, id, fields, args)
	} else if args.star == nil {
		for _, k := range args.keyword {
			in.write(Place{id, in.symbol(k.name)}, k.value)
		}
	}
	return self
}

// callInstance calls an object: forward of a module, else __call__.
func (in *interpreter) callInstance(n syntax.NodeID, id ObjectID, args arguments) *Value {
	class := in.objects[id].class
	names := []string{"__call__"}
	if in.isModuleClass(class) {
		names = []string{"forward", "__call__"}
	}
	for _, name := range names {
		if f := in.methodOf(n, id, name); f != nil {
			return in.apply(n, f, args)
		}
	}
	if host := in.hostOf(class); host != nil && host.Calls != "" {
		if f := in.methodOf(n, id, host.Calls); f != nil {
			in.apply(n, f, args)
			return in.operate(n, false, args.values()...)
		}
	}
	if !in.isModuleClass(class) {
		return in.callUnknown(n, object(id), args)
	}
	return in.callTrainable(n, id, args)
}

// super is super() in a method.
func (in *interpreter) super(n syntax.NodeID) *Value {
	for f := in.frame; f != nil; f = f.closure {
		if f.code == nil || f.code.class == 0 {
			continue
		}
		self := in.state.get(Place{f.object, in.firstParameter(f.code)})
		if self == nil || len(self.objects) == 0 {
			return nil
		}
		id, _ := in.newObject(objectKey{kind: objectSuper, parent: self.objects[0], class: f.code.class})
		return object(id)
	}
	return nil
}
