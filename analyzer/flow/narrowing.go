package flow

import (
	"slices"
	"strings"

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
		left, right := t.Child(condition, syntax.FieldLeft), t.Child(condition, syntax.FieldRight)
		if (op == "and") == holds {
			in.narrow(left, holds)
			in.narrow(right, holds)
			return
		}
		base := in.state
		in.state = base.push()
		in.narrow(left, holds)
		first := in.state
		in.state = base.push()
		in.narrow(left, !holds)
		in.narrow(right, holds)
		in.state = merge(base, nil, first, in.state)
	case syntax.Identifier, syntax.Attribute:
		if holds {
			in.restrict(condition, func(v *Value) *Value { return v.without(KindNone) })
		}
	case syntax.ComparisonOperator:
		op := t.Text(t.Child(condition, syntax.FieldOperators))
		left := t.First(condition)
		right := t.Next(t.Next(left))
		if right < 0 || !slices.Contains([]string{"is", "is not", "==", "!="}, op) {
			return
		}
		equal := (op == "is" || op == "==") == holds
		if t.Kind(right) == syntax.None {
			if strings.HasPrefix(op, "is") {
				in.restrictTo(left, KindNone, equal)
			}
		} else if subject := in.typeOf(left); subject >= 0 {
			in.restrictTo(subject, in.kindsOf(in.expression(right)), equal)
		}
	case syntax.Call:
		if subject, kinds := in.typeTest(condition); subject >= 0 {
			in.restrictTo(subject, kinds, holds)
		}
	}
}

// restrictTo notes that n is of the given kinds, or of none of them. What is not a
// container or a number of one class may be one of another.
func (in *interpreter) restrictTo(n syntax.NodeID, kinds Kinds, holds bool) {
	switch {
	case kinds == 0:
	case holds:
		in.restrict(n, func(v *Value) *Value { return v.just(kinds) })
	case kinds&^(KindTensor|KindNone) != kinds:
		in.restrict(n, func(v *Value) *Value { return v.without(kinds & (KindTensor | KindNone)) })
	}
}

// typeOf is the x of type(x), or NoNode.
func (in *interpreter) typeOf(n syntax.NodeID) syntax.NodeID {
	t := in.tree()
	if t.Kind(n) != syntax.Call || t.Text(t.Child(n, syntax.FieldFunction)) != "type" {
		return syntax.NoNode
	}
	return t.First(t.Child(n, syntax.FieldArguments))
}

// typeTest reads isinstance(x, torch.Tensor), torch.is_tensor(x) and
// hasattr(x, "detach"): the expression tested and the kinds it is tested for.
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
			if second >= 0 {
				return subject, in.kindsOf(in.expression(second))
			}
		case "hasattr":
			if key, ok := in.expression(second).literal.(string); ok && torch.TensorAttributes[key] {
				return subject, KindTensor
			}
		}
	}
	return syntax.NoNode, 0
}

// kindsOf are the kinds of the instances of a class or of a tuple of classes, 0
// if they are not known.
func (a *analysis) kindsOf(classes *Value) Kinds {
	var kinds Kinds
	for _, class := range classes.elements {
		k := a.kindsOf(orPlain(class))
		if k == 0 {
			return 0
		}
		kinds |= k
	}
	for _, id := range classes.objects {
		name := a.objects[id].name
		_, container := torch.Containers[name]
		switch {
		case torch.TensorClass(name):
			kinds |= KindTensor
		case torch.NumberTypes[name] || torch.OutsideGraph(name):
			kinds |= KindPlain
		case container || a.holdsNoTensor(id):
			kinds |= KindObject | KindPlain // lists of numbers are plain too
		default:
			return 0
		}
	}
	return kinds
}

// holdsNoTensor reports whether id is a class of the program none of whose
// instances is a tensor.
func (a *analysis) holdsNoTensor(id ObjectID) bool {
	if a.objects[id].kind != objectClass {
		return false
	}
	for _, id := range a.lineage(id) {
		info := a.objects[id]
		if torch.TensorClass(info.name) || strings.HasSuffix(info.name, "Protocol") || info.kind == objectLibrary && torch.OutsideGraph(info.name) {
			return false
		}
		for _, base := range info.bases {
			if !base.only(KindObject) {
				return false
			}
		}
	}
	return true
}

// just is v known to be of one of some kinds, nil when it cannot be.
func (v *Value) just(kinds Kinds) *Value {
	kept := v.kinds & kinds
	switch {
	case v.isTensor():
		kept = kinds & KindTensor
	case v.is(KindUnknown) && kinds&KindObject == 0:
		kept = kinds
	case v.is(KindUnknown) && !v.is(KindTensor):
		return v // it may be something that holds what is known of it
	case v.is(KindUnknown):
		kept |= KindUnknown
	}
	if kept == 0 {
		return nil
	}
	c := *v
	c.kinds, c.shown = kept, byKind
	switch {
	case kept&(KindTensor|KindObject) == 0:
		c.atoms, c.objects, c.elements = nil, nil, nil
	case v.is(KindTensor) && kept&KindTensor == 0:
		c.atoms = nil
	}
	return &c
}

// without is v known not to be of kind k, nil when it can be nothing else.
func (v *Value) without(k Kinds) *Value {
	switch {
	case v.kinds == k, k == KindTensor && v.isTensor():
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
