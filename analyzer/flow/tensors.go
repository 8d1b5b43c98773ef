package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// tensorMethod is a method of a tensor, or of something that may be one.
func (in *interpreter) tensorMethod(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	c, ok := torch.Method(name)
	if !ok {
		if obj.is(KindUnknown) {
			return nil
		}
		return in.callUnknown(n, obj, args)
	}
	if name == "requires_grad_" {
		v := args.at(0, "requires_grad")
		if params := in.paramsIn(obj); params != 0 {
			in.freeze(in.objects[params].parent, v != nil && v.literal == false)
			return obj
		}
		out := in.leaf(n, obj, v == nil || v.literal != false)
		if p := in.placeOf(receiver); p != nil {
			in.state.set(*p, out)
		}
		return out
	}
	if torch.InPlace(name) {
		return in.inPlace(n, receiver, obj, name, c, args)
	}
	v := in.contract(n, c, append([]*Value{obj}, args.values()...), len(args.positional) == 0 && args.named("dim") == nil)
	if obj.is(KindUnknown) && !obj.is(KindPlain) && in.sure(obj.atoms) >= Likely {
		v = v.shownBy(c) // nothing else has a graph and this method
	}
	if torch.ModuleEffects[name] == torch.ReturnsItself && obj.is(KindUnknown) && len(obj.objects) > 0 {
		w := *v // it may be a module, which is the same one after this
		w.objects = obj.objects
		return &w
	}
	return v
}

// inPlace is a method that writes its receiver.
func (in *interpreter) inPlace(n, receiver syntax.NodeID, obj *Value, name string, c torch.Contract, args arguments) *Value {
	p := in.placeOf(receiver)
	if t := in.tree(); name == "detach_" && t.Kind(receiver) == syntax.Attribute && t.Text(t.Child(receiver, syntax.FieldAttribute)) == "grad" {
		in.resetsGradients(n, false)
	}
	if params := in.paramsIn(obj); params != 0 {
		// In place on a parameter is an error of PyTorch's unless the module is
		// frozen.
		if p = nil; !in.frozen(in.objects[params].parent) {
			return obj
		}
		p = &Place{params, anyElement}
	}
	out := &Value{kinds: KindTensor, size: obj.size}
	if !torch.Overwrites[name] {
		if in.off {
			return obj
		}
		var v *Value
		if name == "copy_" {
			v = in.contract(n, torch.Contract{Effect: torch.Keeps}, args.values(), false)
		} else {
			v = in.contract(n, c, append([]*Value{obj}, args.values()...), false)
		}
		out = &Value{kinds: v.kinds, size: obj.size, atoms: v.atoms, objects: obj.objects}
	}
	if p != nil {
		in.remember(n, out)
		in.store(*p, out, n, n, in.written(receiver))
	}
	if t := in.tree(); name == "detach_" && t.Kind(receiver) == syntax.Subscript {
		in.detachPart(receiver)
	}
	return out
}

// detachPart is hidden[0].detach_(). Of a state whose parts are not known one
// by one, all are cut.
func (in *interpreter) detachPart(n syntax.NodeID) {
	t := in.tree()
	whole := in.placeOf(t.Child(n, syntax.FieldValue))
	if whole == nil {
		return
	}
	v := in.state.get(*whole)
	if v == nil {
		return
	}
	i, isIndex := in.valueOf(t.Child(n, syntax.FieldSubscript)).literalOf().(int)
	switch c := *v; {
	case isIndex && 0 <= i && i < len(v.elements) && !v.variadic:
		c.atoms, c.elements = nil, slices.Clone(v.elements)
		c.elements[i] = &Value{kinds: KindTensor, size: orPlain(v.elements[i]).size}
		in.write(*whole, &c)
	case v.is(KindUnknown | KindTensor):
		c.atoms, c.elements = nil, nil
		in.write(*whole, &c)
	}
}

// written is what an in-place call on n writes: x in x.mul_(a).add_(b).
func (in *interpreter) written(n syntax.NodeID) syntax.NodeID {
	t := in.tree()
	for t.Kind(n) == syntax.Call && torch.InPlace(in.calleeName(n)) {
		n = t.Child(t.Child(n, syntax.FieldFunction), syntax.FieldObject)
	}
	return n
}

// leaf is a tensor after requires_grad was set.
func (in *interpreter) leaf(n syntax.NodeID, v *Value, requires bool) *Value {
	c := *v
	if !requires {
		c.atoms = nil
		return &c
	}
	in.differentiate(n)
	if in.sure(c.atoms) < Certain {
		c.atoms = c.atoms.union(atoms{in.newOrigin(in.site(n), recorded{saves: true, leaf: true, sure: Certain})})
	}
	return &c
}
