package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// load reads a variable.
func (in *interpreter) load(n syntax.NodeID) *Value {
	name := in.tree().Text(n)
	p := in.variable(name)
	if v := in.state.get(p); v != nil {
		return in.resolved(v)
	}
	if v := in.builtin(name); v != nil {
		return v
	}
	if in.frame.scope.Lookup(name).Binds(name) {
		return plain // bound later, or on a path not taken
	}
	return in.unknownField(p.object, p.field)
}

// attribute is obj.name.
func (in *interpreter) attribute(n syntax.NodeID, obj *Value, name string) *Value {
	if in.state == nil || obj == nil {
		return plain
	}
	f := in.symbol(name)
	var out *Value
	for _, id := range obj.objects {
		out = join(out, in.field(n, obj, id, f, name))
	}
	if obj.is(KindTensor) || obj.is(KindUnknown) && out == nil {
		if c, ok := torch.Method(name); ok {
			switch {
			case name == "data":
				return &Value{kinds: KindTensor, size: obj.size}
			case name == "grad":
			case c.Effect == torch.Keeps && c.View && !in.isCallee(n): // x.T
				return join(out, &Value{kinds: KindTensor, size: obj.size, atoms: in.record(n, obj.atoms, false)})
			case c.Effect == torch.Leaves && !in.isCallee(n):
				return plain
			}
		}
		if name == "grad_fn" {
			return &Value{kinds: KindObject, atoms: in.chain(obj.atoms)}
		}
		if name == "grad" {
			return freshData
		}
	}
	if out == nil {
		if obj.is(KindUnknown) {
			return &Value{kinds: KindUnknown, atoms: obj.atoms}
		}
		return plain
	}
	return out
}

func (in *interpreter) isCallee(n syntax.NodeID) bool {
	t := in.tree()
	return t.Kind(t.Parent(n)) == syntax.Call && t.Role(n) == syntax.FieldFunction
}

// field is one object's attribute.
func (in *interpreter) field(n syntax.NodeID, obj *Value, id ObjectID, f Symbol, name string) *Value {
	info := in.objects[id]
	switch info.kind {
	case objectLibrary:
		if v := in.state.get(Place{id, f}); v != nil {
			return in.resolved(v)
		}
		return in.library(info.name + "." + name)
	case objectInstance:
		if v := in.state.get(Place{id, f}); v != nil {
			return v
		}
		if v, owner := in.classAttribute(info.class, f, 0); v != nil {
			return in.bind(n, v, object(id), owner)
		}
		if in.isModuleClass(info.class) {
			switch name {
			case "training":
				return plain
			}
		}
		return in.unknownField(id, f)
	case objectClass:
		if v, owner := in.classAttribute(id, f, 0); v != nil {
			return in.bind(n, v, nil, owner)
		}
		return in.unknownField(id, f)
	case objectSuper:
		for _, base := range in.objects[info.class].bases {
			for _, b := range base.objects {
				if in.objects[b].kind != objectClass {
					continue
				}
				if v, owner := in.classAttribute(b, f, 0); v != nil {
					return in.bind(n, v, object(info.parent), owner)
				}
			}
		}
		return nil
	case objectScope: // a module of the workspace
		if info.module != nil {
			return in.lookIn(info.module, f)
		}
		return in.state.get(Place{id, f})
	case objectUnknown:
		if v := in.state.get(Place{id, f}); v != nil {
			return v
		}
		if obj.is(KindTensor) {
			return nil
		}
		if _, method := torch.Method(name); method && in.isCallee(n) {
			return nil
		}
		v := in.unknownField(id, f)
		if len(obj.atoms) > 0 {
			c := *v
			c.atoms = obj.atoms
			v = &c
		}
		return v
	case objectModule:
		if v := in.state.get(Place{id, f}); v != nil {
			return v
		}
		if name == "forward" || name == "__call__" {
			return object(id)
		}
		if name == "weight" || name == "bias" {
			return in.parameter(in.paramsOf(id))
		}
		return in.unknownField(id, f)
	case objectParams:
		return nil
	}
	return nil
}

// classAttribute looks an attribute up in a class and its bases. owner is the
// class that has it.
func (in *interpreter) classAttribute(class ObjectID, f Symbol, depth int) (v *Value, owner ObjectID) {
	if v := in.state.get(Place{class, f}); v != nil {
		return v, class
	}
	if depth > 8 {
		return nil, 0
	}
	for _, base := range in.objects[class].bases {
		for _, id := range base.objects {
			if in.objects[id].kind != objectClass {
				continue
			}
			if v, owner := in.classAttribute(id, f, depth+1); v != nil {
				return v, owner
			}
		}
	}
	return nil, 0
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

func (in *interpreter) method(function ObjectID, receiver *Value) *Value {
	id, _ := in.newObject(objectKey{kind: objectBound, class: function, parent: receiver.objects[0]})
	return object(id)
}

// setAttribute runs target.name = v.
func (in *interpreter) setAttribute(target syntax.NodeID, v *Value, stmt, expr syntax.NodeID) {
	t := in.tree()
	obj := in.expression(t.Child(target, syntax.FieldObject))
	if in.state == nil || obj == nil {
		return
	}
	name := t.Text(t.Child(target, syntax.FieldAttribute))
	f := in.symbol(name)
	for _, id := range obj.objects {
		info := in.objects[id]
		if name == "requires_grad" {
			if info.kind == objectParams && v.literal == false {
				in.freeze(info.parent, true)
			}
			continue
		}
		if info.kind == objectParams || obj.is(KindTensor) {
			continue
		}
		if len(obj.objects) > 1 {
			in.store(Place{id, f}, join(in.state.get(Place{id, f}), v), stmt, expr, target)
			continue
		}
		in.store(Place{id, f}, v, stmt, expr, target)
	}
	if name == "requires_grad" && obj.is(KindTensor) && len(obj.objects) == 0 {
		if p := in.placeOf(t.Child(target, syntax.FieldObject)); p != nil {
			in.state.set(*p, in.leaf(target, obj, v.literal != false))
		}
	}
}

// leaf is a tensor after requires_grad was set.
func (in *interpreter) leaf(n syntax.NodeID, v *Value, requires bool) *Value {
	c := *v
	if !requires {
		c.atoms = nil
		return &c
	}
	if in.sure(c.atoms) < Certain {
		c.atoms = c.atoms.union(atoms{in.newOrigin(in.site(n), true, true, Certain)})
	}
	return &c
}

// freeze marks a module and its parts as having no parameters that require
// gradients, or marks them as having some.
func (in *interpreter) freeze(module ObjectID, frozen bool) {
	in.freezeParts(module, boolean(frozen), map[ObjectID]bool{})
}

func (in *interpreter) freezeParts(id ObjectID, frozen *Value, seen map[ObjectID]bool) {
	if seen[id] {
		return
	}
	seen[id] = true
	info := in.objects[id]
	switch info.kind {
	case objectModule, objectInstance, objectUnknown:
		defer in.write(Place{id, in.symbol("$frozen")}, frozen)
	case objectContainer:
	default:
		return
	}
	for _, f := range info.fields {
		v := in.state.get(Place{id, f})
		if v == nil {
			continue
		}
		if frozen.literal == true && v.is(KindTensor) && in.areParameters(v.atoms) {
			c := *v
			c.atoms = nil
			in.state.set(Place{id, f}, &c)
		}
		for _, part := range v.objects {
			in.freezeParts(part, frozen, seen)
		}
	}
}

func (in *interpreter) frozen(module ObjectID) bool {
	v := in.state.get(Place{module, in.symbol("$frozen")})
	return v != nil && v.literal == true
}

// paramsOf is the collection of the parameters of a module.
func (in *interpreter) paramsOf(module ObjectID) ObjectID {
	id, _ := in.newObject(objectKey{kind: objectParams, parent: module})
	return id
}

// parameter is one parameter of a module: a leaf that lives as long as the
// module does.
func (in *interpreter) parameter(params ObjectID) *Value {
	v := &Value{kinds: KindTensor, objects: []ObjectID{params}}
	if in.frozen(in.objects[params].parent) {
		return join(v, in.state.get(Place{params, anyElement}))
	}
	x := in.origin(site{slot: -1 - int32(params)}, nil, false, false, Certain)
	in.atoms[x].parameter = true
	v.atoms = atoms{x}
	return v
}

// isModuleClass reports whether a class derives from nn.Module.
func (in *interpreter) isModuleClass(class ObjectID) bool {
	return in.derives(class, torch.ModuleBase, 0)
}

func (in *interpreter) isFunctionClass(class ObjectID) bool {
	return in.derives(class, torch.FunctionBase, 0)
}

func (in *interpreter) derives(class ObjectID, is func(string) bool, depth int) bool {
	if depth > 8 {
		return false
	}
	for _, base := range in.objects[class].bases {
		for _, id := range base.objects {
			info := in.objects[id]
			if info.kind == objectLibrary && is(info.name) || info.kind == objectClass && in.derives(id, is, depth+1) {
				return true
			}
		}
	}
	return false
}

// annotated is v with what a type annotation says of it.
func (in *interpreter) annotated(v *Value, typ syntax.NodeID) *Value {
	if v == nil || !v.only(KindUnknown) {
		return v
	}
	class := in.annotation(typ)
	c := *v
	for _, id := range class.objects {
		switch info := in.objects[id]; info.kind {
		case objectClass:
			return in.instantiate(typ, id, arguments{})
		case objectLibrary:
			if nn, ok := torch.Module(info.name); ok && info.name != "torch.nn.Module" {
				return in.newModule(typ, info.name, nn, arguments{})
			}
		}
	}
	name := strings.Trim(in.tree().Text(typ), `"' `)
	switch name = name[strings.LastIndexByte(name, '.')+1:]; name {
	case "float", "int", "str", "bool", "ndarray", "Path":
		c.kinds, c.atoms, c.objects = KindPlain, nil, nil
		return &c
	case "Tensor", "FloatTensor", "LongTensor":
		c.kinds, c.objects = KindTensor, nil
		return &c
	case "Module":
		for _, id := range c.objects {
			in.objects[id].model = true
		}
	}
	return &c
}

// annotation is the class that a type annotation names, through quotes,
// Optional and unions with None.
func (in *interpreter) annotation(typ syntax.NodeID) *Value {
	t := in.tree()
	n := typ
	for {
		switch t.Kind(n) {
		case syntax.Type, syntax.ParenthesizedExpression:
			n = t.First(n)
			continue
		case syntax.Identifier, syntax.Attribute:
			return in.expression(n)
		case syntax.String:
			name, _ := stringLiteral(t, n).(string)
			p := Place{in.namespace(in.frame.module).objects[0], in.symbol(name)}
			return orPlain(in.resolved(in.state.get(p)))
		case syntax.GenericType, syntax.Subscript:
			if head := t.First(n); strings.HasSuffix(t.Text(head), "Optional") {
				if n = t.Next(head); t.Kind(n) != syntax.Type {
					n = t.First(n)
				}
				continue
			}
		case syntax.BinaryOperator, syntax.UnionType:
			first := t.First(n)
			if t.Kind(first) == syntax.None || t.Text(first) == "None" {
				first = t.Next(first)
			}
			n = first
			continue
		}
		return plain
	}
}

// submodule is a part of a module: one of its layers, a slice of them.
func (in *interpreter) submodule(n syntax.NodeID, id ObjectID) *Value {
	sub, info := in.newObject(objectKey{at: in.site(n), kind: objectModule, parent: id, name: "part"})
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

// iterated is one of the layers of a module that is iterated over.
func (in *interpreter) iterated(n syntax.NodeID, id ObjectID) *Value {
	if in.objects[id].kind == objectInstance {
		if v, owner := in.classAttribute(in.objects[id].class, in.symbol("__iter__"), 0); v != nil {
			it := in.apply(n, in.bind(n, v, object(id), owner), arguments{})
			if !slices.Contains(it.objects, id) {
				return in.elementOf(n, it)
			}
		}
		if v, owner := in.classAttribute(in.objects[id].class, in.symbol("__next__"), 0); v != nil {
			return in.apply(n, in.bind(n, v, object(id), owner), arguments{})
		}
		if v, owner := in.classAttribute(in.objects[id].class, in.symbol("__getitem__"), 0); v != nil {
			return in.apply(n, in.bind(n, v, object(id), owner), arguments{positional: []*Value{plain}})
		}
		if !in.isModuleClass(in.objects[id].class) {
			return in.unknownField(id, in.symbol("[*]"))
		}
	}
	return in.submodule(n, id)
}
