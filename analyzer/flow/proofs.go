package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// This file shows from the text around an expression that it is a tensor, where
// its value does not. A fix that calls a method of tensors has to know: a loss
// that is the number 0 in some iterations has none. What counts is code that runs
// whenever the expression does and raises on anything else.

// usedAs reports whether the code around an expression shows that it is a tensor.
// Arithmetic does if it is no number.
func (in *interpreter) usedAs(l Location, number bool) bool {
	switch l.Kind() {
	case syntax.Identifier, syntax.Attribute, syntax.Subscript:
	default:
		return false
	}
	w := proofs{in: in, Location: l, statement: statementAround(l.Module.Tree, l.Node)}
	if w.holds(l.Text(), func(n syntax.NodeID) bool { return w.isProof(n, number) }) {
		return true
	}
	t := l.Module.Tree
	for n := w.scope(); n < t.End(w.scope()); n++ { // loss = out.loss; loss.backward()
		left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
		if t.Kind(n) == syntax.Assignment && t.Kind(left) == syntax.Identifier && right >= 0 && t.Text(right) == l.Text() {
			alias := proofs{in: in, Location: Location{l.Module, left}, statement: statementAround(t, left)}
			if w.isSure(n, l.Text()) && alias.holds(t.Text(left), func(n syntax.NodeID) bool { return alias.isProof(n, number) }) {
				return true
			}
		}
	}
	return false
}

// isIndexed reports whether n is an element or a part by several indices at once,
// x[:, 0], or made of one by methods of tensors. What a model gives and takes that
// is a tensor.
func (in *interpreter) isIndexed(n syntax.NodeID) bool {
	t := in.tree()
	for t.Kind(n) == syntax.Call {
		f := t.Child(n, syntax.FieldFunction)
		if _, ok := torch.Method(in.calleeName(n)); !ok || t.Kind(f) != syntax.Attribute {
			return false
		}
		n = t.Child(f, syntax.FieldObject)
	}
	indices := 0
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldSubscript {
			indices++
		}
	}
	return t.Kind(n) == syntax.Subscript && indices > 1
}

// joinedLater reports whether the elements of a list are joined to one tensor:
// each of them is one.
func (in *interpreter) joinedLater(list, stored Location) bool {
	switch list.Kind() {
	case syntax.Identifier, syntax.Attribute:
	default:
		return false
	}
	t := list.Module.Tree
	w := proofs{in: in, Location: stored, statement: statementAround(t, stored.Node)}
	return w.holds(list.Text(), func(n syntax.NodeID) bool {
		p := t.Parent(n)
		return t.Kind(p) == syntax.ArgumentList && t.First(p) == n && torch.Joins[in.libraryOperation(Location{list.Module, t.Parent(p)})]
	})
}

// proofs looks for code that runs whenever a statement does.
type proofs struct {
	in *interpreter
	Location
	statement syntax.NodeID
}

// scope is the function or module around the statement.
func (w *proofs) scope() syntax.NodeID {
	t := w.Module.Tree
	n := w.statement
	for n > t.Root() && t.Kind(n) != syntax.FunctionDefinition && t.Kind(n) != syntax.Lambda {
		n = t.Parent(n)
	}
	return n
}

// holds reports whether a test holds of some occurrence of an expression that is
// evaluated whenever the statement runs, with the value that it has there.
func (w *proofs) holds(expr string, test func(syntax.NodeID) bool) bool {
	t := w.Module.Tree
	scope := w.scope()
	for n := scope; n < t.End(scope); n++ {
		switch t.Kind(n) {
		case syntax.Identifier, syntax.Attribute, syntax.Subscript:
			if n != w.Node && t.Text(n) == expr && test(n) && (w.isSure(n, expr) || w.comesFromOneCall(expr) && w.runsBackward(n)) {
				return true
			}
		}
	}
	return false
}

// comesFromOneCall reports whether a name is given its value by one call only:
// what that gives is a tensor each time if it is once.
func (w *proofs) comesFromOneCall(name string) bool {
	t := w.Module.Tree
	scope, calls := w.scope(), 0
	for n := scope; n < t.End(scope); n++ {
		if t.Kind(n) != syntax.Identifier || t.Text(n) != name {
			continue
		}
		switch p := t.Parent(n); {
		case t.Kind(p) == syntax.Assignment && t.Role(n) == syntax.FieldLeft && t.Kind(t.Child(p, syntax.FieldRight)) == syntax.Call:
			calls++
		case t.Role(n) == syntax.FieldLeft && t.Kind(p) != syntax.BinaryOperator, t.Kind(p) == syntax.PatternList, t.Kind(p) == syntax.TuplePattern,
			t.Kind(p) == syntax.Parameters, t.Kind(p) == syntax.NamedExpression, t.Kind(p) == syntax.AsPatternTarget:
			return false
		case t.Kind(p) == syntax.ComparisonOperator, t.Kind(p) == syntax.IfStatement, t.Kind(p) == syntax.NotOperator, t.Kind(p) == syntax.BooleanOperator,
			t.Kind(p) == syntax.ArgumentList && t.Text(t.Child(t.Parent(p), syntax.FieldFunction)) == "isinstance":
			return false // if loss is not None: loss.backward()
		}
	}
	return calls == 1
}

// runsBackward reports whether n is what a backward runs on.
func (w *proofs) runsBackward(n syntax.NodeID) bool {
	t := w.Module.Tree
	p := t.Parent(n)
	return t.Kind(p) == syntax.Attribute && t.Text(t.Child(p, syntax.FieldAttribute)) == "backward"
}

// isProof reports whether the code around n raises unless n is a tensor.
func (w *proofs) isProof(n syntax.NodeID, number bool) bool {
	t := w.Module.Tree
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.Attribute:
		name := t.Text(t.Child(p, syntax.FieldAttribute))
		_, ofModules := torch.ModuleEffects[name]
		return t.Role(n) == syntax.FieldObject && (torch.TensorAttributes[name] || torch.TensorMethods[name] && !ofModules)
	case syntax.ArgumentList:
		if t.First(p) != n {
			return false
		}
		call := t.Parent(p)
		f := t.Child(call, syntax.FieldFunction)
		if t.Kind(f) == syntax.Attribute {
			if name := t.Text(t.Child(f, syntax.FieldAttribute)); name == "backward" || name == "manual_backward" {
				return true
			}
		}
		return w.in.givenTensor(Location{w.Module, call})
	case syntax.UnaryOperator:
		return number
	case syntax.BinaryOperator:
		switch t.Text(t.Child(p, syntax.FieldOperator)) {
		case "-", "/", "**", "@":
			return number
		}
	}
	return false
}

// libraryOperation is the last name of the function of torch that a call calls,
// or empty.
func (in *interpreter) libraryOperation(call Location) string {
	f := in.values[call.Module].at(call.Module.Tree.Child(call.Node, syntax.FieldFunction))
	if f == nil || len(f.objects) != 1 || in.objects[f.objects[0]].kind != objectLibrary {
		return ""
	}
	name := in.objects[f.objects[0]].name
	if !strings.HasPrefix(name, "torch.") {
		return ""
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// givenTensor reports whether a call raises unless its first argument is a tensor.
func (in *interpreter) givenTensor(call Location) bool {
	if name := in.libraryOperation(call); name != "" {
		c, ok := torch.Function(in.objects[in.values[call.Module].at(call.Module.Tree.Child(call.Node, syntax.FieldFunction)).objects[0]].name)
		return ok && !torch.Joins[name] && name != "as_tensor" && (c.Effect == torch.Keeps || c.Effect == torch.Splits || c.Effect == torch.Pieces)
	}
	f := in.values[call.Module].at(call.Module.Tree.Child(call.Node, syntax.FieldFunction))
	return f != nil && f.only(KindObject) && len(f.objects) == 1 && in.objects[f.objects[0]].kind == objectModule && in.objects[f.objects[0]].nn.Scalar
}

// isSure reports whether n is evaluated whenever the statement runs, and what is
// written there has the same value.
func (w *proofs) isSure(n syntax.NodeID, expr string) bool {
	t := w.Module.Tree
	around := map[syntax.NodeID]bool{}
	for a := w.statement; a >= 0; a = t.Parent(a) {
		around[a] = true
	}
	own := n // the statement or header that n is part of
	for ; !around[n]; n = t.Parent(n) {
		switch t.Kind(n) {
		case syntax.Block, syntax.ConditionalExpression, syntax.BooleanOperator, syntax.Lambda, syntax.ListComprehension, syntax.SetComprehension,
			syntax.DictionaryComprehension, syntax.GeneratorExpression, syntax.FunctionDefinition, syntax.ClassDefinition:
			return false
		}
		own = n
	}
	first, last := min(own, w.statement), max(t.End(own), t.End(w.statement))
	if own > w.statement && w.jumps(t.End(w.statement), own) {
		return false
	}
	for a := w.statement; a >= 0 && a != n; a = t.Parent(a) { // an iteration follows another
		if k := t.Kind(a); k == syntax.ForStatement || k == syntax.WhileStatement {
			first, last = min(first, a), max(last, t.End(a))
		}
	}
	root, _, _ := strings.Cut(expr, ".")
	root, _, _ = strings.Cut(root, "[")
	for c := first; c < last; c++ {
		switch t.Kind(c) {
		case syntax.Assignment, syntax.ForStatement, syntax.NamedExpression:
			left := t.Child(c, syntax.FieldLeft)
			if left < 0 {
				left = t.First(c)
			}
			for l := left; l < t.End(left); l++ {
				if t.Text(l) == expr || t.Kind(l) == syntax.Identifier && t.Text(l) == root && t.Role(l) != syntax.FieldAttribute && t.Kind(t.Parent(l)) != syntax.Attribute {
					return false
				}
			}
		}
	}
	return true
}

// jumps reports whether control may leave the code between two nodes.
func (w *proofs) jumps(from, to syntax.NodeID) bool {
	t := w.Module.Tree
	for n := from; n < to; n++ {
		switch t.Kind(n) {
		case syntax.ContinueStatement, syntax.BreakStatement, syntax.ReturnStatement, syntax.RaiseStatement:
			return true
		}
	}
	return false
}

// statementAround is the statement in a block that n is part of.
func statementAround(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for n > t.Root() && t.Kind(t.Parent(n)) != syntax.Block && t.Kind(t.Parent(n)) != syntax.Module {
		n = t.Parent(n)
	}
	return n
}
