package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// assignment runs a = b, also a = b = c and a: T = b. It is the value assigned.
func (in *interpreter) assignment(n syntax.NodeID) *Value {
	t := in.tree()
	right := t.Child(n, syntax.FieldRight)
	left := t.Child(n, syntax.FieldLeft)
	if in.frame.scope.Class && t.Child(n, syntax.FieldType) >= 0 && t.Kind(left) == syntax.Identifier {
		in.annotate(in.frame.object, in.symbol(t.Text(left)))
	}
	if right < 0 {
		return nil
	}
	var v *Value
	if t.Kind(right) == syntax.Assignment {
		v = in.assignment(right)
		for t.Kind(right) == syntax.Assignment {
			right = t.Child(right, syntax.FieldRight)
		}
	} else {
		v = in.expression(right)
	}
	if typ := t.Child(n, syntax.FieldType); typ >= 0 {
		v = in.annotated(v, typ)
	}
	in.assign(left, v, n, right)
	return v
}

// assign gives v to a target. stmt is the statement that does so and expr the
// expression that v came from.
func (in *interpreter) assign(target syntax.NodeID, v *Value, stmt, expr syntax.NodeID) {
	if in.state == nil {
		return
	}
	t := in.tree()
	switch t.Kind(target) {
	case syntax.Identifier:
		in.store(in.variable(t.Text(target)), v, stmt, expr, target)
	case syntax.Attribute:
		in.setAttribute(target, v, stmt, expr)
	case syntax.Subscript:
		in.setItem(target, v, stmt, expr)
	case syntax.PatternList, syntax.TuplePattern, syntax.ListPattern, syntax.Tuple, syntax.List, syntax.ExpressionList:
		in.unpack(target, v, stmt, expr)
	case syntax.ParenthesizedExpression, syntax.AsPatternTarget:
		for c := range t.Children(target) {
			in.assign(c, v, stmt, expr)
		}
	case syntax.ListSplatPattern, syntax.ListSplat:
		in.assign(t.First(target), in.sequenceOf(target, v), stmt, expr)
	}
}

// unpack assigns the elements of v to the targets below n.
func (in *interpreter) unpack(n syntax.NodeID, v *Value, stmt, expr syntax.NodeID) {
	t := in.tree()
	var targets []syntax.NodeID
	star := -1
	for c := range t.Children(n) {
		if k := t.Kind(c); k == syntax.ListSplatPattern || k == syntax.ListSplat {
			star = len(targets)
		}
		targets = append(targets, c)
	}
	var exprs []syntax.NodeID
	if k := t.Kind(expr); k == syntax.ExpressionList || k == syntax.Tuple {
		for c := range t.Children(expr) {
			exprs = append(exprs, c)
		}
	}
	for i, c := range targets {
		e := expr
		if star < 0 && len(exprs) == len(targets) {
			e = exprs[i]
		}
		switch {
		case star < 0 || i < star:
			in.assign(c, in.item(n, v, i), stmt, e)
		case i == star:
			in.assign(c, in.between(n, v, i, len(targets)-i-1), stmt, e)
		default:
			in.assign(c, in.item(n, v, i-len(targets)), stmt, e)
		}
	}
}

// between is any element of v from position i on, less the last ones.
func (in *interpreter) between(n syntax.NodeID, v *Value, i, last int) *Value {
	if v == nil || v.elements == nil || v.variadic {
		return in.item(n, v, i)
	}
	from := min(i, len(v.elements))
	return joinAll(v.elements[from:max(from, len(v.elements)-last)])
}

// augmented runs a += b and the like.
func (in *interpreter) augmented(n syntax.NodeID) {
	t := in.tree()
	left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
	operator := strings.TrimSuffix(t.Text(t.Child(n, syntax.FieldOperator)), "=")
	old := in.expression(left)
	v := in.expression(right)
	if in.state == nil {
		return
	}
	if out := in.overloadedInPlace(n, operator, old, v); out != nil {
		in.assign(left, out, n, right)
		return
	}
	if (operator == "+" || operator == "|") && in.extends(left, old, v, n, right) {
		return
	}
	out := in.binary(n, operator, old, v)
	if in.off && old.is(KindTensor) && old.atoms != nil && in.sure(old.atoms) > NoGraph {
		out = old // in place without recording: the graph stays as it was
	}
	in.assign(left, out, n, right)
}

// extends handles list += iterable and dict |= mapping.
func (in *interpreter) extends(left syntax.NodeID, old, v *Value, stmt, expr syntax.NodeID) bool {
	if old == nil || v == nil || !old.only(KindObject) && !v.is(KindObject) {
		return false // what may be a sum is given a tensor or a number
	}
	done := false
	for _, id := range old.objects {
		if in.objects[id].kind != objectContainer {
			continue
		}
		done = true
		in.extend(stmt, left, id, v, expr, in.placeOf(left))
	}
	return done
}

// onlyElement is x in [x], else n itself.
func (in *interpreter) onlyElement(n syntax.NodeID) syntax.NodeID {
	t := in.tree()
	if k := t.Kind(n); k == syntax.List || k == syntax.Tuple {
		if first := t.First(n); first >= 0 && t.Next(first) < 0 {
			return first
		}
	}
	return n
}

// delete runs del n.
func (in *interpreter) delete(n syntax.NodeID) {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
		in.deletes(n)
		in.write(in.variable(t.Text(n)), nil)
	case syntax.ExpressionList, syntax.Tuple:
		for c := range t.Children(n) {
			in.delete(c)
		}
	case syntax.Subscript:
		v := in.expression(t.Child(n, syntax.FieldValue))
		if v == nil {
			return
		}
		whole := t.Kind(t.Child(n, syntax.FieldSubscript)) == syntax.Slice
		for _, id := range v.objects {
			if whole {
				in.clear(id)
			} else if info := in.objects[id]; info.kind == objectContainer {
				// Deleting single elements keeps a container from growing
				// without end.
				in.trim(id)
			}
		}
	case syntax.Attribute:
		obj := in.expression(t.Child(n, syntax.FieldObject))
		if obj == nil {
			return
		}
		name := t.Text(t.Child(n, syntax.FieldAttribute))
		if name == "grad" {
			in.resetsGradients(n, true)
		}
		for _, id := range obj.objects {
			in.write(Place{id, in.symbol(name)}, nil)
		}
	}
}

// placeOf is the place that an expression reads, nil when it is none.
func (in *interpreter) placeOf(n syntax.NodeID) *Place {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
		p := in.variable(t.Text(n))
		return &p
	case syntax.Attribute:
		obj := in.valueOf(t.Child(n, syntax.FieldObject))
		if obj == nil || len(obj.objects) != 1 {
			return nil
		}
		return &Place{obj.objects[0], in.symbol(t.Text(t.Child(n, syntax.FieldAttribute)))}
	case syntax.Subscript:
		obj := in.valueOf(t.Child(n, syntax.FieldValue))
		key := in.valueOf(t.Child(n, syntax.FieldSubscript))
		if obj == nil || key == nil || len(obj.objects) != 1 {
			return nil
		}
		return &Place{obj.objects[0], in.index(key.literalOf())}
	case syntax.ParenthesizedExpression:
		return in.placeOf(t.First(n))
	case syntax.Call: // x.mul_(a) is x
		if f := t.Child(n, syntax.FieldFunction); t.Kind(f) == syntax.Attribute && torch.InPlace(in.calleeName(n)) {
			return in.placeOf(t.Child(f, syntax.FieldObject))
		}
	}
	return nil
}

// setItem runs target[key] = v.
func (in *interpreter) setItem(target syntax.NodeID, v *Value, stmt, expr syntax.NodeID) {
	t := in.tree()
	base := t.Child(target, syntax.FieldValue)
	obj := in.expression(base)
	subscript := t.Child(target, syntax.FieldSubscript)
	key := in.expression(subscript)
	if in.state == nil || obj == nil {
		return
	}
	for _, id := range obj.objects {
		info := in.objects[id]
		if info.kind == objectInstance && in.state != nil {
			in.setInstanceItem(id, key, v, stmt, expr, target)
		}
		if info.kind != objectContainer && info.kind != objectUnknown || in.state == nil {
			continue
		}
		if info.kind == objectUnknown && obj.is(KindTensor) {
			continue
		}
		in.put(id, key, v, stmt, expr, target)
	}
	if obj.is(KindTensor) && in.state != nil {
		// Writing into a tensor chains its graph to what is written.
		p := in.placeOf(base)
		if p == nil || in.off {
			return
		}
		out := *obj
		out.atoms = in.record(target, in.shallow(obj).union(in.shallow(v)), false)
		in.store(*p, &out, stmt, expr, target)
	}
}

// setAttribute runs target.name = v.
func (in *interpreter) setAttribute(target syntax.NodeID, v *Value, stmt, expr syntax.NodeID) {
	t := in.tree()
	obj := in.expression(t.Child(target, syntax.FieldObject))
	if in.state == nil || obj == nil {
		return
	}
	name := t.Text(t.Child(target, syntax.FieldAttribute))
	if name == "grad" {
		in.resetsGradients(target, v.only(KindNone))
	}
	f := in.symbol(name)
	for _, id := range obj.objects {
		info := in.objects[id]
		if name == "requires_grad" {
			if info.kind == objectParams && v.literal == false {
				in.freeze(info.parent, true)
			}
			continue
		}
		if info.kind == objectParams || obj.is(KindTensor) || in.state == nil {
			continue
		}
		if info.kind == objectInstance {
			if set := in.setter(info.class, f); set != nil {
				in.setProperty(id, set, v, stmt, expr, target)
				continue
			}
		}
		if name == "data" && info.kind == objectUnknown && v.is(KindTensor|KindUnknown) {
			c := *v
			c.atoms = nil // a tensor takes the values alone
			v = &c
		}
		if len(obj.objects) > 1 {
			in.store(Place{id, f}, join(in.state.get(Place{id, f}), v), stmt, expr, target)
			continue
		}
		in.store(Place{id, f}, v, stmt, expr, target)
		in.keepLast(Place{id, f}, v, expr, target)
	}
	if name == "requires_grad" && obj.is(KindTensor) && len(obj.objects) == 0 {
		if p := in.placeOf(t.Child(target, syntax.FieldObject)); p != nil {
			in.state.set(*p, in.leaf(target, obj, v.literal != false))
		}
	}
}
