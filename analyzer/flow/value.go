package flow

import (
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Kinds is the set of kinds that a value may have at run time.
type Kinds uint8

const (
	// KindPlain is a Python or NumPy value that cannot hold a graph: a number,
	// a string, an array.
	KindPlain Kinds = 1 << iota
	// KindNone is None.
	KindNone
	// KindTensor is a torch tensor.
	KindTensor
	// KindObject is a container, instance, class, function or module; Value.objects
	// says which.
	KindObject
	// KindUnknown may be anything.
	KindUnknown
)

// evidence says whether a value surely is a tensor, where its kinds say too much
// or too little.
type evidence uint8

const (
	byKind   evidence = iota // it is one if it can be nothing else
	presumed                 // it is taken for one: a model gives it that was not seen, or a sum that may be one of numbers
	proven                   // it is one: what makes it raises or gives a tensor
)

func joinEvidence(a, b evidence) evidence {
	switch {
	case a == b:
		return a
	case a == presumed || b == presumed:
		return presumed
	}
	return byKind
}

// Value is what is known of a Python value. Values are immutable; nil means
// that nothing was assigned.
type Value struct {
	kinds Kinds
	size  torch.Size
	shown evidence // of being a tensor
	// atoms are what the graph of a tensor was made from.
	atoms atoms
	// objects are what the value may refer to on the abstract heap.
	objects []ObjectID
	// elements are those of a tuple; one element stands for all when variadic.
	elements []*Value
	variadic bool
	// structural says that iterating over the value takes as many steps as the
	// program has parts (layers, parameters, keys), not as there is data.
	structural bool
	// batches says that the value is a range that goes over data, a batch at a
	// time.
	batches bool
	// times is how many steps that takes where a literal says so, else 0.
	times   int
	literal any // string, int, bool or nil: the value of a literal
	memory  *memory
}

var (
	noValue    = &Value{kinds: KindNone}
	plain      = &Value{kinds: KindPlain}
	plainTrue  = &Value{kinds: KindPlain, literal: true}
	plainFalse = &Value{kinds: KindPlain, literal: false}
	freshData  = &Value{kinds: KindTensor}
)

func (v *Value) is(k Kinds) bool { return v != nil && v.kinds&k != 0 }

// only reports whether v can be nothing but the kinds of k.
func (v *Value) only(k Kinds) bool { return v != nil && v.kinds != 0 && v.kinds&^k == 0 }

// join is the least value that covers a and b.
func join(a, b *Value) *Value {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	v := &Value{
		kinds:      a.kinds | b.kinds,
		atoms:      a.atoms.union(b.atoms),
		objects:    unionSorted(a.objects, b.objects),
		structural: a.structural && b.structural,
		shown:      joinEvidence(a.shown, b.shown),
	}
	switch {
	case a.size == b.size || !b.is(KindTensor|KindUnknown|KindObject):
		v.size = a.size
	case !a.is(KindTensor | KindUnknown | KindObject):
		v.size = b.size
	}
	if a.literal != nil && a.literal == b.literal && a.kinds == b.kinds {
		v.literal = a.literal
	}
	v.elements, v.variadic = joinElements(a, b)
	v.memory = joinMemory(a.memory, b.memory)
	return v
}

// joinElements joins tuples element by element where they have the same shape.
func joinElements(a, b *Value) ([]*Value, bool) {
	switch {
	case a.elements == nil:
		return b.elements, b.variadic
	case b.elements == nil:
		return a.elements, a.variadic
	case len(a.elements) == len(b.elements) && a.variadic == b.variadic:
		out := make([]*Value, len(a.elements))
		for i := range out {
			out[i] = join(a.elements[i], b.elements[i])
		}
		return out, a.variadic
	}
	var all *Value
	for _, e := range a.elements {
		all = join(all, e)
	}
	for _, e := range b.elements {
		all = join(all, e)
	}
	return []*Value{all}, true
}

// isTensor reports whether v is a tensor on each path.
func (v *Value) isTensor() bool {
	return v != nil && (v.shown == proven || v.only(KindTensor) && v.shown != presumed)
}

// shownBy is v, the result of an operation that takes nothing but tensors.
func (v *Value) shownBy(c torch.Contract) *Value {
	if c.Effect != torch.Keeps && (c.Effect != torch.Splits || v.elements != nil) || v.shown == proven || !v.is(KindTensor|KindUnknown) {
		return v
	}
	w := *v
	w.shown = proven
	return &w
}

// with returns v with more atoms.
func (v *Value) with(more ...Atom) *Value {
	c := *v
	for _, a := range more {
		c.atoms = c.atoms.union(atoms{a})
	}
	return &c
}

// tuple makes a tuple of known length.
func tuple(elements ...*Value) *Value {
	return &Value{kinds: KindObject, elements: elements}
}

// object makes a reference to one object.
func object(id ObjectID) *Value {
	v := &struct {
		Value
		id [1]ObjectID
	}{id: [1]ObjectID{id}}
	v.kinds, v.objects = KindObject, v.id[:]
	return &v.Value
}

// element is the i-th element of a tuple, nil when it is not known.
func (v *Value) element(i int) *Value {
	switch {
	case v.variadic:
		return v.elements[0]
	case i >= 0 && i < len(v.elements):
		return v.elements[i]
	case i < 0 && len(v.elements)+i >= 0:
		return v.elements[len(v.elements)+i]
	}
	return nil
}

// truth is the truth value of a literal; known is false for anything else.
func (v *Value) truth() (value, known bool) {
	switch l := v.literal.(type) {
	case bool:
		return l, true
	case int:
		return l != 0, true
	}
	return false, false
}

// unionSorted is the union of two sorted sets. It may share memory with either.
func unionSorted[T ~int32](a, b []T) []T {
	switch {
	case len(b) == 0 || len(a) == len(b) && &a[0] == &b[0] || includes(a, b):
		return a
	case len(a) == 0 || includes(b, a):
		return b
	}
	out := make([]T, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	out = append(out, a...)
	return append(out, b...)
}

// includes reports whether all of b, a sorted set, are in a.
func includes[T ~int32](a, b []T) bool {
	if len(b) > len(a) {
		return false
	}
	for i, x := range a {
		if len(b) == 0 || len(b) > len(a)-i || b[0] < x {
			break
		}
		if b[0] == x {
			b = b[1:]
		}
	}
	return len(b) == 0
}

// orPlain is v, or a plain value when nothing is known.
func orPlain(v *Value) *Value {
	if v == nil {
		return plain
	}
	return v
}

// literalOf is the literal of a value that may be nil.
func (v *Value) literalOf() any {
	if v == nil {
		return nil
	}
	return v.literal
}
