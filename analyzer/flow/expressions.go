package flow

import (
	"strconv"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// expression evaluates n. It never returns nil: what is not known is Unknown.
func (in *interpreter) expression(n syntax.NodeID) *Value {
	if n < 0 || in.state == nil || in.spent() || !in.deeper() {
		return plain
	}
	v := in.evaluate(n)
	in.nesting--
	if v == nil {
		v = plain
	}
	in.remember(n, v)
	return v
}

func (in *interpreter) remember(n syntax.NodeID, v *Value) {
	vs := in.values[in.frame.module]
	if vs == nil {
		vs = make([]*Value, in.tree().Len())
		in.values[in.frame.module] = vs
	}
	vs[n] = v
}

// valueOf is what the expression n was last evaluated to.
func (in *interpreter) valueOf(n syntax.NodeID) *Value {
	if vs := in.values[in.frame.module]; vs != nil && n >= 0 {
		return vs[n]
	}
	return nil
}

func (in *interpreter) evaluate(n syntax.NodeID) *Value {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
		return in.load(n)
	case syntax.Attribute:
		obj := in.expression(t.Child(n, syntax.FieldObject))
		return in.attribute(n, obj, t.Text(t.Child(n, syntax.FieldAttribute)))
	case syntax.Subscript:
		return in.getItem(n)
	case syntax.Call:
		return in.call(n)
	case syntax.BinaryOperator:
		left := in.expression(t.Child(n, syntax.FieldLeft))
		right := in.expression(t.Child(n, syntax.FieldRight))
		return in.binary(n, t.Text(t.Child(n, syntax.FieldOperator)), left, right)
	case syntax.UnaryOperator:
		v := in.expression(t.Child(n, syntax.FieldArgument))
		if l, ok := v.literal.(int); ok && t.Text(t.Child(n, syntax.FieldOperator)) == "-" {
			return &Value{kinds: KindPlain, literal: -l}
		}
		return in.operate(n, false, v)
	case syntax.NotOperator:
		v := in.expression(t.Child(n, syntax.FieldArgument))
		if truth, known := v.truth(); known {
			return boolean(!truth)
		}
		return plain
	case syntax.BooleanOperator:
		return in.boolean(n)
	case syntax.ComparisonOperator:
		return in.comparison(n)
	case syntax.ConditionalExpression:
		return in.choose(n)
	case syntax.ParenthesizedExpression, syntax.Await, syntax.Interpolation, syntax.FormatExpression:
		var v *Value
		for c := range t.Children(n) {
			v = in.expression(c)
		}
		if k := t.Kind(n); k == syntax.Interpolation || k == syntax.FormatExpression {
			return plain
		}
		return v
	case syntax.NamedExpression:
		value := t.Child(n, syntax.FieldValue)
		v := in.expression(value)
		in.assign(t.Child(n, syntax.FieldName), v, n, value)
		return v
	case syntax.Tuple, syntax.ExpressionList:
		return in.tupleDisplay(n)
	case syntax.List, syntax.Set:
		return in.listDisplay(n)
	case syntax.Dictionary:
		return in.dictDisplay(n)
	case syntax.ListComprehension, syntax.SetComprehension, syntax.DictionaryComprehension:
		return in.comprehension(n)
	case syntax.GeneratorExpression:
		return in.generator(n)
	case syntax.Lambda:
		return in.function(n, nil)
	case syntax.Integer:
		if i, err := strconv.Atoi(t.Text(n)); err == nil {
			return &Value{kinds: KindPlain, literal: i}
		}
		return plain
	case syntax.String:
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Interpolation {
				in.expression(c)
			}
		}
		return &Value{kinds: KindPlain, literal: stringLiteral(t, n)}
	case syntax.ConcatenatedString:
		for c := range t.Children(n) {
			in.expression(c)
		}
		return plain
	case syntax.True:
		return plainTrue
	case syntax.False:
		return plainFalse
	case syntax.None:
		return noValue
	case syntax.Float, syntax.Ellipsis:
		return plain
	case syntax.Yield:
		return in.yield(n)
	case syntax.ListSplat, syntax.DictionarySplat:
		return in.expression(t.First(n))
	case syntax.AsPattern: // except E as e
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.AsPatternTarget {
				in.assign(c, plain, n, n)
			} else {
				in.expression(c)
			}
		}
		return plain
	case syntax.Slice, syntax.KeywordArgument:
		for c := range t.Children(n) {
			if t.Role(c) != syntax.FieldName {
				in.expression(c)
			}
		}
		return plain
	case syntax.Assignment:
		return in.assignment(n)
	case syntax.AugmentedAssignment:
		in.augmented(n)
	}
	return plain
}

// stringLiteral is the text of a string without prefixes, escapes or
// interpolations, or nil when it has any.
func stringLiteral(t *syntax.Tree, n syntax.NodeID) any {
	s := t.Text(n)
	if len(s) < 2 || strings.ContainsAny(s, "\\{") {
		return nil
	}
	q := s[0]
	if q != '"' && q != '\'' || s[len(s)-1] != q {
		return nil
	}
	return s[1 : len(s)-1]
}

func boolean(b bool) *Value {
	if b {
		return plainTrue
	}
	return plainFalse
}

// operate is the result of a tensor operation on its operands. An operand that
// is not known may be a tensor.
func (in *interpreter) operate(n syntax.NodeID, saves bool, operands ...*Value) *Value {
	out := &Value{kinds: KindPlain}
	scalar := true
	var all, steps atoms
	for _, v := range operands {
		if v == nil {
			continue
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

func (in *interpreter) binary(n syntax.NodeID, operator string, left, right *Value) *Value {
	if left.only(KindPlain) && right.only(KindPlain) {
		return &Value{kinds: KindPlain, atoms: in.chain(left.atoms.union(right.atoms))}
	}
	switch operator {
	case "+":
		if v := in.concatenate(n, left, right); v != nil {
			return v
		}
		return in.operate(n, false, left, right)
	case "-":
		return in.operate(n, false, left, right)
	case "%":
		if left.only(KindPlain) {
			return plain // string formatting
		}
	case "*", "/":
		// A factor that is no tensor is not saved.
		if operator == "*" && (isContainer(in, left) || isContainer(in, right)) {
			return join(left, right)
		}
		if !right.mayBeSaved() || operator == "*" && !left.mayBeSaved() {
			return in.operate(n, false, left, right)
		}
	}
	return in.operate(n, true, left, right)
}

func isContainer(in *interpreter, v *Value) bool {
	if v == nil || !v.only(KindObject) {
		return false
	}
	for _, id := range v.objects {
		if in.objects[id].kind != objectContainer {
			return false
		}
	}
	return len(v.objects) > 0 || v.elements != nil
}

// concatenate is a + b of two sequences, nil when they are not.
func (in *interpreter) concatenate(n syntax.NodeID, left, right *Value) *Value {
	if left.elements != nil && right.elements != nil && !left.variadic && !right.variadic {
		return tuple(append(append([]*Value{}, left.elements...), right.elements...)...)
	}
	if !isContainer(in, left) && !isContainer(in, right) {
		return nil
	}
	return in.joinedList(n, []syntax.NodeID{in.tree().Child(n, syntax.FieldLeft), in.tree().Child(n, syntax.FieldRight)}, []*Value{left, right})
}

// joinedList makes a new list of the elements of several sequences. The new
// list is where the elements are kept from now on.
func (in *interpreter) joinedList(n syntax.NodeID, exprs []syntax.NodeID, parts []*Value) *Value {
	contents := make([]*Value, len(parts))
	for i, part := range parts {
		contents[i] = in.elementOf(exprs[i], part)
	}
	id := in.allocate(objectContainer, n, "list")
	p := Place{id, anyElement}
	old := contents[0]
	in.write(p, old)
	// The part that carries the list's earlier elements comes first.
	base := 0
	for i, c := range contents {
		if c != nil && in.loop != nil && in.shallow(c).has(in.analysis.header(atomCarried, in.loop, p)) {
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
		if op == "is" || op == "is not" {
			if a.kinds == KindNone && b.kinds == KindNone {
				return boolean(op == "is")
			}
			if b.kinds == KindNone && !a.is(KindNone|KindUnknown) || a.kinds == KindNone && !b.is(KindNone|KindUnknown) {
				return boolean(op == "is not")
			}
			return plain
		}
		if a.literal != nil && b.literal != nil && a.kinds == KindPlain && b.kinds == KindPlain {
			switch op {
			case "==":
				return boolean(a.literal == b.literal)
			case "!=":
				return boolean(a.literal != b.literal)
			}
		}
		if a.is(KindTensor) || b.is(KindTensor) {
			if op != "in" && op != "not in" {
				return freshData
			}
		}
	}
	return plain
}

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

func (in *interpreter) tupleDisplay(n syntax.NodeID) *Value {
	t := in.tree()
	elements := []*Value{}
	for c := range t.Children(n) {
		v := in.expression(c)
		if t.Kind(c) == syntax.ListSplat {
			if v.elements != nil && !v.variadic {
				elements = append(elements, v.elements...)
				continue
			}
			return &Value{kinds: KindObject, elements: []*Value{join(joinAll(elements), in.elementOf(c, v))}, variadic: true}
		}
		elements = append(elements, v)
	}
	return &Value{kinds: KindObject, elements: elements, structural: true}
}

func joinAll(vs []*Value) *Value {
	var out *Value
	for _, v := range vs {
		out = join(out, v)
	}
	return out
}

func (in *interpreter) listDisplay(n syntax.NodeID) *Value {
	t := in.tree()
	var parts []*Value
	var exprs []syntax.NodeID
	splat := false
	for c := range t.Children(n) {
		v := in.expression(c)
		if t.Kind(c) == syntax.ListSplat {
			splat = true
		} else {
			v = &Value{kinds: KindObject, elements: []*Value{v}}
		}
		parts, exprs = append(parts, v), append(exprs, c)
	}
	if splat {
		return in.joinedList(n, exprs, parts)
	}
	id := in.allocate(objectContainer, n, "list")
	for i, part := range parts {
		in.write(Place{id, in.index(i)}, part.elements[0])
	}
	v := object(id)
	v.structural = len(parts) > 0
	return v
}

// index is the field of a container's element at a literal position or key.
func (in *interpreter) index(key any) Symbol {
	switch k := key.(type) {
	case int:
		return in.symbol("[" + strconv.Itoa(k) + "]")
	case string:
		return in.symbol("[\"" + k + "\"]")
	}
	return anyElement
}

func (in *interpreter) dictDisplay(n syntax.NodeID) *Value {
	t := in.tree()
	type entry struct {
		field Symbol
		value *Value
	}
	var entries []entry
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.Pair:
			key := in.expression(t.Child(c, syntax.FieldKey))
			entries = append(entries, entry{in.index(key.literal), in.expression(t.Child(c, syntax.FieldValue))})
		case syntax.DictionarySplat:
			v := in.expression(c)
			for _, id := range v.objects {
				info := in.objects[id]
				for _, f := range info.fields {
					entries = append(entries, entry{f, in.state.get(Place{id, f})})
				}
			}
		}
	}
	id := in.allocate(objectContainer, n, "dict")
	for _, e := range entries {
		p := Place{id, e.field}
		if e.field == anyElement {
			in.write(p, join(in.state.get(p), e.value))
		} else {
			in.write(p, e.value)
		}
	}
	return object(id)
}

// comprehension runs [element for target in iterable if condition]: a loop
// that appends to a new container.
func (in *interpreter) comprehension(n syntax.NodeID) *Value {
	t := in.tree()
	body := t.Child(n, syntax.FieldBody)
	name := "list"
	if t.Kind(n) == syntax.DictionaryComprehension {
		name = "dict"
	}
	id := in.allocate(objectContainer, n, name)
	few := true
	in.enclosed(n, func() {
		in.write(Place{id, anyElement}, &Value{})
		few = in.clauses(n, func() {
			if t.Kind(body) == syntax.Pair {
				in.expression(t.Child(body, syntax.FieldKey))
				value := t.Child(body, syntax.FieldValue)
				in.collect(id, anyElement, in.expression(value), n, value, n, nil)
				return
			}
			in.collect(id, anyElement, in.expression(body), n, body, n, nil)
		})
	})
	v := object(id)
	v.structural = few
	return v
}

// clauses runs body in the loops and under the conditions of a comprehension.
// It reports whether all loops take few steps.
func (in *interpreter) clauses(n syntax.NodeID, body func()) (few bool) {
	t := in.tree()
	var clauses []syntax.NodeID
	for c := range t.Children(n) {
		if k := t.Kind(c); k == syntax.ForInClause || k == syntax.IfClause {
			clauses = append(clauses, c)
		}
	}
	few = true
	var run func(i int)
	run = func(i int) {
		if in.state == nil {
			return
		}
		if i == len(clauses) {
			body()
			return
		}
		c := clauses[i]
		if t.Kind(c) == syntax.IfClause {
			in.expression(t.First(c))
			base := in.state
			if base == nil {
				return
			}
			in.state = base.push()
			run(i + 1)
			in.state = merge(base, nil, in.state, base.push())
			return
		}
		right := t.Child(c, syntax.FieldRight)
		it := in.expression(right)
		short := in.few(it)
		few = few && short
		in.iterate(c, short, forLoop, func() {
			in.assign(t.Child(c, syntax.FieldLeft), in.next(c, right, it), c, right)
			run(i + 1)
		})
	}
	run(0)
	return few
}

// enclosed runs f in the scope of a comprehension or lambda-like block.
func (in *interpreter) enclosed(n syntax.NodeID, f func()) {
	scope := in.frame.module.Scope(n)
	outer := in.frame
	if scope == nil {
		f()
		return
	}
	id := in.allocate(objectScope, n, "")
	inner := *outer
	inner.scope, inner.object, inner.closure = scope, id, outer
	in.frame = &inner
	f()
	outer.yields, outer.result = inner.yields, inner.result
	outer.returns, outer.loops = inner.returns, inner.loops
	in.frame = outer
}
