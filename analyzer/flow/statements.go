package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// block runs the statements below n in order.
func (in *interpreter) block(n syntax.NodeID) {
	if n < 0 {
		return
	}
	for c := range in.tree().Children(n) {
		if in.state == nil || in.stopped {
			return
		}
		in.statement(c)
	}
}

func (in *interpreter) statement(n syntax.NodeID) {
	if in.spent() || !in.deeper() {
		return
	}
	defer func() { in.nesting-- }()
	t := in.tree()
	switch t.Kind(n) {
	case syntax.ExpressionStatement:
		if t.Damaged(n) {
			return // half typed: what it says may not be what is meant
		}
		for c := range t.Children(n) {
			in.expression(c)
		}
	case syntax.Assignment:
		in.assignment(n)
	case syntax.AugmentedAssignment:
		in.augmented(n)
	case syntax.Block, syntax.Module:
		in.block(n)
	case syntax.IfStatement:
		in.conditional(n)
	case syntax.ForStatement:
		in.forLoop(n)
	case syntax.WhileStatement:
		in.whileLoop(n)
	case syntax.TryStatement:
		in.try(n)
	case syntax.WithStatement:
		in.with(n)
	case syntax.MatchStatement:
		in.match(n)
	case syntax.FunctionDefinition, syntax.ClassDefinition:
		in.define(n, nil)
	case syntax.DecoratedDefinition:
		var decorators []syntax.NodeID
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Decorator {
				decorators = append(decorators, t.First(c))
			}
		}
		in.define(t.Child(n, syntax.FieldDefinition), decorators)
	case syntax.ReturnStatement:
		v := noValue
		if first := t.First(n); first >= 0 {
			v = in.expression(first)
		}
		in.frame.result = join(in.frame.result, v)
		in.frame.returns = append(in.frame.returns, in.state)
		in.state = nil
	case syntax.RaiseStatement:
		for c := range t.Children(n) {
			in.expression(c)
		}
		in.state = nil
	case syntax.BreakStatement:
		if k := len(in.frame.loops); k > 0 {
			in.frame.loops[k-1].breaks = append(in.frame.loops[k-1].breaks, in.state)
			in.state = nil
		}
	case syntax.ContinueStatement:
		if k := len(in.frame.loops); k > 0 {
			in.frame.loops[k-1].continues = append(in.frame.loops[k-1].continues, in.state)
			in.state = nil
		}
	case syntax.DeleteStatement:
		in.delete(t.First(n))
	case syntax.ImportStatement:
		in.importModules(n)
	case syntax.ImportFromStatement:
		in.importNames(n)
	case syntax.AssertStatement, syntax.PrintStatement, syntax.ExecStatement:
		for c := range t.Children(n) {
			in.expression(c)
		}
	}
}

func (in *interpreter) assignment(n syntax.NodeID) *Value {
	t := in.tree()
	right := t.Child(n, syntax.FieldRight)
	left := t.Child(n, syntax.FieldLeft)
	if in.frame.scope.Class && t.Child(n, syntax.FieldType) >= 0 && t.Kind(left) == syntax.Identifier {
		in.write(Place{in.frame.object, in.symbol(annotation + t.Text(left))}, plain)
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
			var rest *Value
			if v != nil && v.elements != nil && !v.variadic {
				for j := i; j < len(v.elements)-(len(targets)-i-1); j++ {
					rest = join(rest, v.elements[j])
				}
			} else {
				rest = in.item(n, v, i)
			}
			in.assign(c, rest, stmt, e)
		default:
			in.assign(c, in.item(n, v, i-len(targets)), stmt, e)
		}
	}
}

func (in *interpreter) augmented(n syntax.NodeID) {
	t := in.tree()
	left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
	operator := strings.TrimSuffix(t.Text(t.Child(n, syntax.FieldOperator)), "=")
	old := in.expression(left)
	v := in.expression(right)
	if in.state == nil {
		return
	}
	if operator == "+" && in.extends(left, old, v, n, right) {
		return
	}
	out := in.binary(n, operator, old, v)
	if in.off && old.is(KindTensor) && old.atoms != nil && in.sure(old.atoms) > NoGraph {
		out = old // in place without recording: the graph stays as it was
	}
	in.assign(left, out, n, right)
}

// extends handles list += iterable.
func (in *interpreter) extends(left syntax.NodeID, old, v *Value, stmt, expr syntax.NodeID) bool {
	if old == nil {
		return false
	}
	done := false
	for _, id := range old.objects {
		if in.objects[id].kind != objectContainer {
			continue
		}
		in.collect(id, anyElement, in.elementOf(expr, v), stmt, in.onlyElement(expr), left, in.placeOf(left))
		done = true
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

func (in *interpreter) conditional(n syntax.NodeID) {
	t := in.tree()
	var bodies []syntax.NodeID // elif and else clauses
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldAlternative {
			bodies = append(bodies, c)
		}
	}
	in.branch(t.Child(n, syntax.FieldCondition), t.Child(n, syntax.FieldConsequence), bodies)
}

func (in *interpreter) branch(condition, consequence syntax.NodeID, rest []syntax.NodeID) {
	t := in.tree()
	test := in.expression(condition)
	if in.state == nil {
		return
	}
	otherwise := func() {
		if len(rest) == 0 {
			return
		}
		if t.Kind(rest[0]) == syntax.ElifClause {
			in.branch(t.Child(rest[0], syntax.FieldCondition), t.Child(rest[0], syntax.FieldConsequence), rest[1:])
			return
		}
		in.block(t.Child(rest[0], syntax.FieldBody))
	}
	if test != nil {
		if truth, known := test.truth(); known {
			if truth {
				in.block(consequence)
			} else {
				otherwise()
			}
			return
		}
	}
	if in.isMain(condition) {
		in.block(consequence)
		return
	}
	base := in.state
	in.state = base.push()
	in.narrow(condition, true)
	if in.state != nil {
		in.block(consequence)
	}
	then := in.state
	in.state = base.push()
	in.narrow(condition, false)
	if in.state != nil {
		otherwise()
	}
	in.state = merge(base, in.noteResets(condition), then, in.state)
}

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
			if key, ok := in.expression(second).literal.(string); ok && tensorOnly[key] {
				return subject, KindTensor
			}
		}
	}
	return syntax.NoNode, 0
}

// tensorOnly are attributes that tell tensors from numbers.
var tensorOnly = map[string]bool{"detach": true, "item": true, "grad_fn": true, "requires_grad": true, "backward": true}

func (in *interpreter) isNumberClass(v *Value) bool {
	all := append(slices.Clone(v.elements), v)
	for _, e := range all {
		for _, id := range e.objects {
			switch in.objects[id].name {
			case "float", "int", "str", "bool":
				return true
			}
		}
	}
	return false
}

func (in *interpreter) isTensorClass(v *Value) bool {
	if v == nil {
		return false
	}
	for _, id := range v.objects {
		if name := in.objects[id].name; name == "torch.Tensor" || name == "torch.FloatTensor" {
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
	c.kinds = k
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

func (in *interpreter) isMain(condition syntax.NodeID) bool {
	text := in.tree().Text(condition)
	return strings.Contains(text, "__name__") && strings.Contains(text, "__main__")
}

func (in *interpreter) forLoop(n syntax.NodeID) {
	t := in.tree()
	left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
	it := in.expression(right)
	if in.state == nil {
		return
	}
	in.iterate(n, in.few(it), forLoop, func() {
		in.assign(left, in.next(n, right, it), n, right)
		in.block(t.Child(n, syntax.FieldBody))
	})
	if alternative := t.Child(n, syntax.FieldAlternative); alternative >= 0 && in.state != nil {
		in.block(t.Child(alternative, syntax.FieldBody))
	}
}

func (in *interpreter) whileLoop(n syntax.NodeID) {
	t := in.tree()
	condition := t.Child(n, syntax.FieldCondition)
	test := in.expression(condition)
	truth, known := false, false
	if test != nil {
		truth, known = test.truth()
	}
	if known && !truth {
		return
	}
	kind := whileLoop
	if known && truth {
		kind = endlessLoop
	}
	in.iterate(n, false, kind, func() {
		in.expression(condition)
		in.block(t.Child(n, syntax.FieldBody))
	})
	if alternative := t.Child(n, syntax.FieldAlternative); alternative >= 0 && in.state != nil {
		in.block(t.Child(alternative, syntax.FieldBody))
	}
}

func (in *interpreter) try(n syntax.NodeID) {
	t := in.tree()
	base := in.state
	in.state = base.push()
	in.block(t.Child(n, syntax.FieldBody))
	done := in.state
	var ends []*state
	var finally syntax.NodeID = syntax.NoNode
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.ExceptClause, syntax.ExceptGroupClause:
			in.state = base.push()
			for d := range t.Children(c) {
				if t.Kind(d) == syntax.Block {
					in.block(d)
				} else {
					in.expression(d)
				}
			}
			ends = append(ends, in.state)
		case syntax.ElseClause:
			if done != nil {
				in.state = done
				in.block(t.Child(c, syntax.FieldBody))
				done = in.state
			}
		case syntax.FinallyClause:
			finally = c
		}
	}
	in.state = merge(base, nil, append(ends, done)...)
	if finally >= 0 && in.state != nil {
		for d := range t.Children(finally) {
			if t.Kind(d) == syntax.Block {
				in.block(d)
			}
		}
	}
}

func (in *interpreter) match(n syntax.NodeID) {
	t := in.tree()
	var subject *Value
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldSubject {
			subject = join(subject, in.expression(c))
		}
	}
	base := in.state
	if base == nil {
		return
	}
	ends := []*state{base.push()}
	for c := range t.Children(t.Child(n, syntax.FieldBody)) {
		if t.Kind(c) != syntax.CaseClause {
			continue
		}
		in.state = base.push()
		for d := range t.Children(c) {
			switch t.Kind(d) {
			case syntax.CasePattern:
				in.capture(d, subject, n)
			case syntax.Block:
				in.block(d)
			case syntax.IfClause:
				in.expression(t.First(d))
			}
		}
		ends = append(ends, in.state)
	}
	in.state = merge(base, in.noteResets(syntax.NoNode), ends...)
}

// capture binds the names of a case pattern to what they may be.
func (in *interpreter) capture(n syntax.NodeID, v *Value, stmt syntax.NodeID) {
	t := in.tree()
	i := 0
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.DottedName:
			if first := t.First(c); first >= 0 && t.Next(first) < 0 {
				in.store(in.variable(t.Text(c)), v, stmt, c, c)
			}
		case syntax.TuplePattern, syntax.ListPattern:
			j := 0
			for d := range t.Children(c) {
				in.capture(d, in.item(c, v, j), stmt)
				j++
			}
		case syntax.AsPatternTarget:
			in.assign(c, v, stmt, c)
		default:
			in.capture(c, in.item(n, v, i), stmt)
		}
		i++
	}
}

// with runs the body of a with statement under the grad mode that its managers
// set.
func (in *interpreter) with(n syntax.NodeID) {
	t := in.tree()
	was := in.off
	clause := t.First(n)
	for item := range t.Children(clause) {
		if t.Kind(item) != syntax.WithItem {
			continue
		}
		value := t.Child(item, syntax.FieldValue)
		var target syntax.NodeID = syntax.NoNode
		if t.Kind(value) == syntax.AsPattern {
			target = t.Child(value, syntax.FieldAlias)
			value = t.First(value)
		}
		manager := in.expression(value)
		if in.state == nil {
			return
		}
		in.enter(value, manager)
		if target >= 0 {
			in.assign(target, in.entered(value, manager), n, value)
		}
	}
	in.block(t.Child(n, syntax.FieldBody))
	in.off = was
}

// enter applies what entering a context manager does to grad mode.
func (in *interpreter) enter(n syntax.NodeID, manager *Value) {
	switch mode, flag := in.gradMode(manager); mode {
	case torch.GradOff:
		in.off = true
	case torch.GradOn:
		in.off = false
	case torch.GradByFlag:
		if on, known := flag.truth(); known {
			in.off = !on
		}
	}
}

func (in *interpreter) delete(n syntax.NodeID) {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
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
		for _, id := range obj.objects {
			in.write(Place{id, in.symbol(t.Text(t.Child(n, syntax.FieldAttribute)))}, nil)
		}
	}
}

// clear empties a container.
func (in *interpreter) clear(id ObjectID) {
	info := in.objects[id]
	if info.kind != objectContainer && info.kind != objectUnknown {
		return
	}
	if !info.known[anyElement] {
		in.write(Place{id, anyElement}, nil)
	}
	for _, f := range info.fields {
		in.state.set(Place{id, f}, nil)
	}
}

// trim removes some elements of a container: what is left is bounded.
func (in *interpreter) trim(id ObjectID) {
	p := Place{id, anyElement}
	v := in.state.get(p)
	if v == nil {
		return
	}
	for l := in.loop; l != nil; l = l.parent {
		v = v.with(in.analysis.header(atomReset, l, p))
	}
	in.write(p, v)
}
