package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// load reads a variable.
func (in *interpreter) load(n syntax.NodeID) *Value {
	name := in.tree().Text(n)
	p := in.variable(name)
	if in.objects[p.object].module != nil { // a global, or a name of a library
		if v := in.global(in.frame.module, p.field); v != nil {
			return v
		}
	} else if v := in.state.get(p); v != nil {
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
	return in.heldBy(obj, out)
}

// heldBy is a part of a value, such as an attribute of it. What a loop carried as
// a whole it carried in parts: who uses all parts uses what was carried.
func (in *interpreter) heldBy(whole, part *Value) *Value {
	if len(whole.atoms) == 0 || !part.is(KindTensor|KindUnknown|KindObject) {
		return part
	}
	held := in.held(whole)
	if held == nil || len(part.objects) == 0 && len(part.elements) == 0 && in.sure(part.atoms) == NoGraph {
		return part
	}
	c := *part
	c.atoms = c.atoms.union(held)
	return &c
}

// held are the atoms of a value that say which places at headers of loops it
// comes from.
func (a *analysis) held(v *Value) atoms {
	var out atoms
	for _, x := range v.atoms {
		if k := a.atoms[x].kind; k == atomCarried || k == atomChained {
			out = append(out, x)
		}
	}
	return out
}

// isCallee reports whether n is what a call calls.
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
		if v, owner := in.classAttribute(info.class, f); v != nil {
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
		if v, owner := in.classAttribute(id, f); v != nil {
			return in.bind(n, v, nil, owner)
		}
		return in.unknownField(id, f)
	case objectSuper:
		line := in.superLineage(info.parent, info.class)
		if v, owner := in.attributeIn(line, f); v != nil {
			return in.bind(n, v, object(info.parent), owner)
		}
		for _, id := range line {
			if base := in.objects[id]; base.kind == objectLibrary {
				return in.library(base.name + "." + name)
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
		if len(obj.atoms) > 0 && name != "data" { // which a tensor has without its graph
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
	case objectFunction:
		return in.state.get(Place{id, f})
	}
	return nil
}
