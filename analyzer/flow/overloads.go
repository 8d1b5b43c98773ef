package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// This file is about what the program's own classes make of operators,
// subscripts and attributes, and about classes derived from collections.

// overloaded is left operator right at n where the class of an operand says
// what that does, nil where none does.
func (in *interpreter) overloaded(n syntax.NodeID, operator string, left, right *Value) *Value {
	name, ok := torch.OperatorMethods[operator]
	if !ok {
		return nil
	}
	if v := in.operatorMethod(n, "__"+name+"__", left, right, syntax.FieldRight); v != nil {
		return v
	}
	return in.operatorMethod(n, "__r"+name+"__", right, left, syntax.FieldLeft)
}

// overloadedInPlace is overloaded for an augmented assignment.
func (in *interpreter) overloadedInPlace(n syntax.NodeID, operator string, left, right *Value) *Value {
	if name, ok := torch.OperatorMethods[operator]; ok {
		if v := in.operatorMethod(n, "__i"+name+"__", left, right, syntax.FieldRight); v != nil {
			return v
		}
	}
	return in.overloaded(n, operator, left, right)
}

// operatorMethod calls a method of the instances that obj may be with the other
// operand, which has a role in the expression n. It returns nil when their
// classes have no such method.
func (in *interpreter) operatorMethod(n syntax.NodeID, name string, obj, other *Value, role syntax.Field) *Value {
	var out *Value
	for _, id := range obj.objects {
		if in.state == nil || in.objects[id].kind != objectInstance {
			continue
		}
		if f := in.methodOf(n, id, name); f != nil {
			out = join(out, in.apply(n, f, arguments{positional: []*Value{other}, exprs: []syntax.NodeID{in.tree().Child(n, role)}}))
		}
	}
	return out
}

// asWritten tells a store in a method that an operator or an assignment runs as
// the text has it: what stands there is what a reader takes for the store.
func (in *interpreter) asWritten(f *Growth, c *callSite) {
	t := c.module.Tree
	switch t.Kind(c.node) {
	case syntax.AugmentedAssignment, syntax.Assignment, syntax.BinaryOperator:
		f.ThroughCall = false
		f.Store, f.Target = Location{c.module, c.node}, Location{c.module, t.Child(c.node, syntax.FieldLeft)}
	}
}

// setInstanceItem runs obj[key] = v of an instance, target being the subscript.
func (in *interpreter) setInstanceItem(id ObjectID, key, v *Value, stmt, expr, target syntax.NodeID) {
	if f := in.methodOf(stmt, id, "__setitem__"); f != nil {
		subscript := in.tree().Child(target, syntax.FieldSubscript)
		in.apply(stmt, f, arguments{positional: []*Value{orPlain(key), v}, exprs: []syntax.NodeID{subscript, expr}})
		return
	}
	if elements, ok := in.elementsOf(id); ok {
		in.put(elements, key, v, stmt, expr, target)
	}
}

// setter is the function that sets a property of a class, nil for attributes
// that are none.
func (in *interpreter) setter(class ObjectID, f Symbol) *Value {
	v, _ := in.classAttribute(class, f)
	if v == nil || len(v.objects) != 1 || in.objects[v.objects[0]].code == nil {
		return nil
	}
	return in.objects[v.objects[0]].code.setter
}

// setProperty runs the setter of a property. What it gives to the fields of the
// instance came from the expression that the property is given.
func (in *interpreter) setProperty(id ObjectID, set, v *Value, stmt, expr, target syntax.NodeID) {
	before := map[Symbol]*Value{}
	for _, f := range in.objects[id].fields {
		before[f] = in.state.get(Place{id, f})
	}
	noted := in.stores
	for _, f := range set.objects {
		if in.state != nil && in.objects[f].kind == objectFunction {
			in.apply(stmt, in.method(f, object(id)), arguments{positional: []*Value{v}, exprs: []syntax.NodeID{expr}})
		}
	}
	if in.state == nil || in.stores != noted { // it adds to something itself
		return
	}
	for _, f := range in.objects[id].fields {
		if now := in.state.get(Place{id, f}); now != before[f] {
			in.store(Place{id, f}, now, stmt, expr, target)
		}
	}
}

// collectionOf is how instances of a class that many levels below the first keep
// elements, if the class is derived from a collection.
func (in *interpreter) collectionOf(class ObjectID, depth int) (torch.Container, bool) {
	for _, base := range in.objects[class].bases {
		for _, id := range base.objects {
			info := in.objects[id]
			if container, ok := torch.Containers[info.name]; ok && info.kind == objectLibrary {
				return container, true
			}
			if info.kind == objectClass && depth < maxBases {
				if container, ok := in.collectionOf(id, depth+1); ok {
					return container, true
				}
			}
		}
	}
	return 0, false
}

// giveElements gives a new instance of a class derived from a collection its
// own elements.
func (in *interpreter) giveElements(id, class ObjectID) {
	container, ok := in.collectionOf(class, 0)
	if !ok {
		return
	}
	elements, _ := in.newObject(objectKey{kind: objectContainer, parent: id, field: ownElements, container: container})
	in.renew(elements)
	in.write(Place{id, ownElements}, object(elements))
}

// elementsOf is the collection that an instance of a class derived from one is.
func (in *interpreter) elementsOf(id ObjectID) (ObjectID, bool) {
	v := in.state.get(Place{id, ownElements})
	if v == nil || len(v.objects) != 1 {
		return 0, false
	}
	return v.objects[0], true
}

// collectionMethod is a method that an instance has from the collection that
// its class is derived from, also through super(). It returns nil for others.
func (in *interpreter) collectionMethod(n, receiver syntax.NodeID, id ObjectID, name string, args arguments) *Value {
	info := in.objects[id]
	if info.kind == objectSuper {
		for _, base := range in.objects[info.class].bases {
			for _, b := range base.objects {
				if in.objects[b].kind != objectClass {
					continue
				}
				if v, _ := in.classAttribute(b, in.symbol(name)); v != nil {
					return nil
				}
			}
		}
		id = info.parent
	}
	elements, ok := in.elementsOf(id)
	if !ok || torch.ContainerMethods[name] == 0 {
		return nil
	}
	return in.containerMethod(n, receiver, elements, name, args)
}
