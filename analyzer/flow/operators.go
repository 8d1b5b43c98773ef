package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// operate is the result of a tensor operation on its operands. An operand that
// is not known may be a tensor.
func (in *interpreter) operate(n syntax.NodeID, saves bool, operands ...*Value) *Value {
	out := &Value{kinds: KindPlain, shown: presumed}
	scalar := true
	var all, steps atoms
	for _, v := range operands {
		if v == nil {
			continue
		}
		if v.isTensor() {
			out.shown = proven
		}
		if v.is(KindTensor | KindUnknown) {
			if v.is(KindTensor) {
				out.kinds |= KindTensor
			} else {
				out.kinds |= KindUnknown
			}
			scalar = scalar && v.size == torch.Scalar
		} else if v.is(KindObject) {
			// A container of tensors, or an object with operators of its own.
			out.kinds |= KindUnknown
			scalar = false
			all = all.union(in.reach(v))
		}
		all = all.union(in.shallow(v))
		steps = steps.union(in.steps(v.atoms))
	}
	if out.kinds&(KindTensor|KindUnknown) == 0 {
		out.atoms = in.chain(steps.union(all))
		return out
	}
	if out.kinds&KindTensor != 0 {
		out.kinds = KindTensor
	}
	if scalar {
		out.size = torch.Scalar
		saves = false
	}
	out.atoms = in.record(n, all, saves).union(steps)
	return out
}

// binary evaluates left operator right.
func (in *interpreter) binary(n syntax.NodeID, operator string, left, right *Value) *Value {
	if left.only(KindPlain) && right.only(KindPlain) {
		return &Value{kinds: KindPlain, atoms: in.chain(left.atoms.union(right.atoms))}
	}
	if v := in.overloaded(n, operator, left, right); v != nil {
		return v
	}
	switch operator {
	case "+":
		if v := in.concatenate(n, left, right); v != nil {
			return v
		}
		return in.operate(n, false, left, right)
	case "-":
		return in.operate(n, false, left, right)
	case "|":
		if in.isContainer(left) && len(left.objects) > 0 {
			return in.united(n, left, right)
		}
	case "%":
		if left.only(KindPlain) {
			return plain // string formatting
		}
	case "*", "/":
		// A factor that is no tensor is not saved.
		if operator == "*" && in.isContainer(left) {
			return left.repeated()
		}
		if operator == "*" && in.isContainer(right) {
			return right.repeated()
		}
		if !in.mayBeSaved(right) || operator == "*" && !in.mayBeSaved(left) {
			return in.operate(n, false, left, right)
		}
	}
	return in.operate(n, true, left, right)
}

// isContainer reports whether v can be nothing but a collection.
func (a *analysis) isContainer(v *Value) bool {
	if v == nil || !v.only(KindObject) {
		return false
	}
	for _, id := range v.objects {
		if a.objects[id].kind != objectContainer {
			return false
		}
	}
	return len(v.objects) > 0 || v.elements != nil
}

// repeated is a sequence times a number.
func (v *Value) repeated() *Value {
	if v.elements == nil || v.variadic {
		return v
	}
	c := *v
	c.elements, c.variadic = []*Value{joinAll(v.elements)}, true
	return &c
}

// concatenate is a + b of two sequences, nil when they are not.
func (in *interpreter) concatenate(n syntax.NodeID, left, right *Value) *Value {
	if left.elements != nil && right.elements != nil && !left.variadic && !right.variadic {
		return tuple(append(append([]*Value{}, left.elements...), right.elements...)...)
	}
	if !in.isContainer(left) && !in.isContainer(right) {
		return nil
	}
	return in.joinedList(n, []syntax.NodeID{in.tree().Child(n, syntax.FieldLeft), in.tree().Child(n, syntax.FieldRight)}, []*Value{left, right})
}

// united is a | b of dicts or sets: a new collection of the elements of both.
func (in *interpreter) united(n syntax.NodeID, left, right *Value) *Value {
	container := in.objects[left.objects[0]].container
	var old []entry // read before the collection that n made last is forgotten
	for _, id := range left.objects {
		old = append(old, in.entries(id)...)
	}
	id := in.allocateContainer(n, container)
	in.writeAll(id, old)
	expr := in.tree().Child(n, syntax.FieldRight)
	in.extend(n, n, id, right, expr, nil)
	return object(id)
}

// joinedList makes a new list of the elements of several sequences. The new
// list is where the elements are kept from now on.
func (in *interpreter) joinedList(n syntax.NodeID, exprs []syntax.NodeID, parts []*Value) *Value {
	contents := make([]*Value, len(parts))
	for i, part := range parts {
		contents[i] = in.elementOf(exprs[i], part)
	}
	id := in.allocateContainer(n, torch.List)
	p := Place{id, anyElement}
	old := contents[0]
	in.write(p, old)
	// The part that carries the list's earlier elements comes first.
	base := 0
	for i, c := range contents {
		if c != nil && in.loop != nil && in.shallow(c).has(in.header(atomCarried, in.loop, p)) {
			base, old = i, c
		}
	}
	in.write(p, old)
	for i, c := range contents {
		if i != base && c != nil {
			in.collect(id, anyElement, c, n, in.onlyElement(exprs[i]), n, nil)
		}
	}
	return object(id)
}

// boolean evaluates a and b, a or b.
func (in *interpreter) boolean(n syntax.NodeID) *Value {
	t := in.tree()
	left := in.expression(t.Child(n, syntax.FieldLeft))
	if in.state == nil {
		return left
	}
	base := in.state
	in.state = base.push()
	right := in.expression(t.Child(n, syntax.FieldRight))
	in.state = merge(base, nil, in.state, base.push())
	if truth, known := left.truth(); known {
		if truth == (t.Text(t.Child(n, syntax.FieldOperator)) == "and") {
			return right
		}
		return left
	}
	return join(left, right)
}

// comparison evaluates a < b and the like: a tensor without a graph, or a plain
// value.
func (in *interpreter) comparison(n syntax.NodeID) *Value {
	t := in.tree()
	var operands []*Value
	op := ""
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldOperators {
			op = t.Text(c)
			continue
		}
		operands = append(operands, in.expression(c))
	}
	if len(operands) == 2 {
		a, b := operands[0], operands[1]
		equal := op == "is" || op == "=="
		if same, known := in.same(a, b); known && (equal || op == "is not" || op == "!=") {
			return boolean(equal == same)
		}
		if op == "is" || op == "is not" {
			if b.kinds == KindNone && !a.is(KindNone|KindUnknown) || a.kinds == KindNone && !b.is(KindNone|KindUnknown) {
				return boolean(op == "is not")
			}
			return plain
		}
		if a.is(KindTensor) || b.is(KindTensor) {
			if op != "in" && op != "not in" {
				return freshData
			}
		}
	}
	return plain
}

// same reports whether two literals, members of an enumeration or types of Python
// are one; known is false if either is something else.
func (a *analysis) same(x, y *Value) (same, known bool) {
	if x.kinds == KindPlain && y.kinds == KindPlain && x.literal != nil && y.literal != nil {
		return x.literal == y.literal, true
	}
	if x.kinds == KindNone && y.kinds == KindNone {
		return true, true
	}
	generic := false // of some arguments
	for _, v := range []*Value{x, y} {
		if !v.only(KindObject) || len(v.objects) != 1 {
			return false, false
		}
		name := a.objects[v.objects[0]].name
		_, container := torch.Containers[name]
		typing := strings.HasPrefix(name, torch.Typing)
		if !typing && !container && !torch.NumberTypes[name] {
			return false, false
		}
		generic = generic || typing
	}
	same = x.objects[0] == y.objects[0]
	return same, !same || !generic
}

// choose evaluates a if test else b.
func (in *interpreter) choose(n syntax.NodeID) *Value {
	t := in.tree()
	var parts []syntax.NodeID
	for c := range t.Children(n) {
		parts = append(parts, c)
	}
	if len(parts) != 3 {
		return plain
	}
	test := in.expression(parts[1])
	if in.state == nil {
		return plain
	}
	if truth, known := test.truth(); known {
		if truth {
			return in.expression(parts[0])
		}
		return in.expression(parts[2])
	}
	base := in.state
	arm := func(n syntax.NodeID, holds bool) (*Value, *state) {
		in.state = base.push()
		if in.narrow(parts[1], holds); in.state == nil {
			return nil, nil
		}
		v := in.expression(n)
		return v, in.state
	}
	a, then := arm(parts[0], true)
	b, otherwise := arm(parts[2], false)
	if in.state = merge(base, nil, then, otherwise); in.state == nil {
		in.state = base
	}
	return join(a, b)
}

// contract is the result of an operation with a known contract.
func (in *interpreter) contract(n syntax.NodeID, c torch.Contract, operands []*Value, whole bool) *Value {
	switch c.Effect {
	case torch.Leaves:
		return in.derived(operands)
	case torch.NoGraph:
		return freshData
	case torch.Detaches:
		out := &Value{kinds: KindTensor}
		if len(operands) > 0 && operands[0] != nil {
			out.size = operands[0].size
		}
		return out
	case torch.Keeps:
		if c.Alone && len(operands) > 1 {
			operands = operands[:1]
		}
		v := in.operate(n, c.Saves || c.SavesByDim && !whole || c.SavesPairs && in.severalTensors(operands), operands...)
		if c.Reduces && whole && v.is(KindTensor|KindUnknown) {
			w := *v
			w.size = torch.Scalar
			return &w
		}
		return v
	case torch.Splits:
		if whole && len(operands) == 1 { // max() of everything
			v := *in.operate(n, c.Saves, operands...)
			v.size = torch.Scalar
			return &v
		}
		if len(operands) > 1 && in.mayBeSaved(operands[1]) { // elementwise
			return in.operate(n, c.Saves, operands...)
		}
		return tuple(in.operate(n, c.Saves, operands...), freshData)
	case torch.Pieces:
		v := in.operate(n, c.Saves, operands...)
		return &Value{kinds: KindObject, elements: []*Value{v}, variadic: true, structural: true}
	}
	return plain
}

// derived is a plain value that is computed from others: it differs in each
// iteration if they do.
func (in *interpreter) derived(operands []*Value) *Value {
	var steps atoms
	for _, v := range operands {
		if v != nil {
			steps = steps.union(in.steps(v.atoms))
		}
	}
	if steps == nil {
		return plain
	}
	return &Value{kinds: KindPlain, atoms: in.chain(steps)}
}

// mayBeSaved reports whether a factor is a tensor rather than a number. One of
// which nothing is known but that it stays as it is while the loop runs is taken
// for a number: most scale something.
func (in *interpreter) mayBeSaved(v *Value) bool {
	return v.is(KindTensor|KindObject) || v.is(KindUnknown) && (in.sure(v.atoms) > Possible || in.isOfThisIteration(v))
}

// isOfThisIteration reports whether a value comes from the running iteration of
// the innermost loop over data.
func (in *interpreter) isOfThisIteration(v *Value) bool {
	l := in.loop
	for l != nil && l.steps.few {
		l = l.parent
	}
	return slices.ContainsFunc(v.atoms, func(x Atom) bool {
		info := &in.atoms[x]
		if info.kind == atomOrigin {
			return l == nil || l.encloses(info.loop)
		}
		return l == nil || l.encloses(info.header)
	})
}

// severalTensors reports whether more than one operand may be a tensor.
func (in *interpreter) severalTensors(operands []*Value) bool {
	k := 0
	for _, v := range operands {
		if in.mayBeSaved(v) {
			k++
		}
	}
	return k > 1
}
