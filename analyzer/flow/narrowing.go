package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// narrow learns from a condition that holds (or does not) what a value is:
// isinstance, is_tensor, is None. Where that cannot be, in.state becomes nil.
func (in *interpreter) narrow(condition syntax.NodeID, holds bool) {
	if in.state == nil {
		return
	}
	t := in.tree()
	switch t.Kind(condition) {
	case syntax.ParenthesizedExpression:
		in.narrow(t.First(condition), holds)
	case syntax.NotOperator:
		in.narrow(t.Child(condition, syntax.FieldArgument), !holds)
	case syntax.BooleanOperator:
		op := t.Text(t.Child(condition, syntax.FieldOperator))
		if (op == "and") == holds {
			in.narrow(t.Child(condition, syntax.FieldLeft), holds)
			in.narrow(t.Child(condition, syntax.FieldRight), holds)
		}
	case syntax.Identifier, syntax.Attribute:
		if holds {
			in.restrict(condition, func(v *Value) *Value { return v.without(KindNone) })
		}
	case syntax.ComparisonOperator:
		op := t.Text(t.Child(condition, syntax.FieldOperators))
		left := t.First(condition)
		right := t.Next(t.Next(left))
		if right < 0 || t.Kind(right) != syntax.None || op != "is" && op != "is not" {
			return
		}
		if (op == "is") == holds {
			in.restrict(left, func(v *Value) *Value { return v.just(KindNone) })
		} else {
			in.restrict(left, func(v *Value) *Value { return v.without(KindNone) })
		}
	case syntax.Call:
		subject, kind := in.typeTest(condition)
		if subject < 0 {
			return
		}
		if holds {
			in.restrict(subject, func(v *Value) *Value { return v.just(kind) })
		} else {
			in.restrict(subject, func(v *Value) *Value { return v.without(kind) })
		}
	}
}

// typeTest reads isinstance(x, torch.Tensor), torch.is_tensor(x) and
// hasattr(x, "detach"): the expression tested and the kind it is tested for.
func (in *interpreter) typeTest(call syntax.NodeID) (syntax.NodeID, Kinds) {
	t := in.tree()
	args := t.Child(call, syntax.FieldArguments)
	subject := t.First(args)
	if subject < 0 {
		return syntax.NoNode, 0
	}
	second := t.Next(subject)
	for _, id := range in.expression(t.Child(call, syntax.FieldFunction)).objects {
		switch in.objects[id].name {
		case "torch.is_tensor":
			return subject, KindTensor
		case "isinstance":
			if second < 0 {
				continue
			}
			switch class := in.expression(second); {
			case in.isTensorClass(class):
				return subject, KindTensor
			case in.isNumberClass(class):
				return subject, KindPlain
			}
		case "hasattr":
			if key, ok := in.expression(second).literal.(string); ok && torch.TensorAttributes[key] {
				return subject, KindTensor
			}
		}
	}
	return syntax.NoNode, 0
}

func (a *analysis) isNumberClass(v *Value) bool {
	all := append(slices.Clone(v.elements), v)
	for _, e := range all {
		for _, id := range e.objects {
			if torch.NumberTypes[a.objects[id].name] {
				return true
			}
		}
	}
	return false
}

func (a *analysis) isTensorClass(v *Value) bool {
	if v == nil {
		return false
	}
	for _, id := range v.objects {
		if torch.TensorClass(a.objects[id].name) {
			return true
		}
	}
	return false
}

// just is v known to be of kind k, nil when it cannot be.
func (v *Value) just(k Kinds) *Value {
	if v.kinds&(k|KindUnknown) == 0 {
		return nil
	}
	c := *v
	c.kinds, c.shown = k, byKind
	if k != KindTensor {
		c.atoms, c.objects, c.elements = nil, nil, nil
	}
	return &c
}

// without is v known not to be of kind k, nil when it can be nothing else.
func (v *Value) without(k Kinds) *Value {
	switch {
	case v.kinds == k:
		return nil
	case k == KindTensor && v.is(KindTensor|KindUnknown):
		c := *v
		c.kinds &^= k
		c.atoms = nil // only tensors have a graph
		return &c
	case v.kinds&k == 0:
		return v
	}
	c := *v
	c.kinds &^= k
	return &c
}

// restrict applies f to the variable or attribute n; where f gives nil, the
// code that follows is never reached.
func (in *interpreter) restrict(n syntax.NodeID, f func(*Value) *Value) {
	if k := in.tree().Kind(n); k != syntax.Identifier && k != syntax.Attribute {
		return
	}
	p := in.placeOf(n)
	if p == nil {
		return
	}
	v := in.state.get(*p)
	if v == nil || v.kinds == 0 {
		return
	}
	switch w := f(v); w {
	case nil:
		in.state = nil
	case v:
	default:
		in.state.set(*p, w)
	}
}
