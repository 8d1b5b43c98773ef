package fixes

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// uses looks at what becomes of a place after a store: which fix it can take.
// What tensors and floats can do follows measured behaviour: a float has no
// methods, and torch functions do not accept one.
type uses struct {
	module   *names.Module
	target   flow.Location // what is written
	collects bool
}

// local reports whether the target is a variable that no other file sees: all
// its uses are in view.
func (u uses) local() bool {
	t := u.module.Tree
	return u.target.Module == u.module && t.Kind(u.target.Node) == syntax.Identifier
}

// needGraph reports whether some use asks for the graph.
func (u uses) needGraph() bool {
	t := u.module.Tree
	if u.target.Module != u.module {
		return false
	}
	name := t.Text(u.target.Node)
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) != syntax.Attribute || t.Text(t.Child(n, syntax.FieldObject)) != name {
			continue
		}
		switch t.Text(t.Child(n, syntax.FieldAttribute)) {
		case "requires_grad", "grad_fn", "grad", "backward", "retain_grad", "register_hook", "requires_grad_", "is_leaf":
			return true
		}
	}
	return false
}

// takeFloats reports whether every use of the variable works when it is a
// float, or a list of floats.
func (u uses) takeFloats() bool {
	w := floatWalk{uses: u, seen: map[string]bool{}}
	return w.variable(u.target.Node, u.collects)
}

type floatWalk struct {
	uses
	seen map[string]bool
}

// variable checks every read of the name at n in its scope.
func (w floatWalk) variable(n syntax.NodeID, list bool) bool {
	return w.everyRead(n, func(read syntax.NodeID) bool {
		if list {
			return w.takesList(read)
		}
		return w.takesFloat(read)
	})
}

// everyRead reports whether a test holds for every read of the name at n in its
// scope.
func (w floatWalk) everyRead(n syntax.NodeID, holds func(syntax.NodeID) bool) bool {
	t := w.module.Tree
	name := t.Text(n)
	if w.seen[name] {
		return true
	}
	w.seen[name] = true
	scope := scopeAt(w.module, n).Lookup(name)
	if scope == nil || scope.Class {
		return false
	}
	for c := t.Root(); int(c) < t.Len(); c++ {
		if t.Kind(c) != syntax.Identifier || t.Text(c) != name || !w.isVariable(c) {
			continue
		}
		if scopeAt(w.module, c).Lookup(name) != scope {
			continue
		}
		if w.isUnpacked(c) {
			continue // a, total = …: it is written
		}
		if !holds(c) {
			return false
		}
	}
	return true
}

// isVariable reports whether an identifier is a variable, not an attribute's
// or a keyword's name.
func (w floatWalk) isVariable(n syntax.NodeID) bool {
	t := w.module.Tree
	switch p := t.Parent(n); t.Kind(p) {
	case syntax.Attribute:
		return t.Role(n) != syntax.FieldAttribute
	case syntax.KeywordArgument:
		return t.Role(n) != syntax.FieldName
	case syntax.DottedName, syntax.FunctionDefinition, syntax.ClassDefinition:
		return false
	}
	return true
}

// isUnpacked reports whether n is a name in a target such as a, (b, n) = ….
func (w floatWalk) isUnpacked(n syntax.NodeID) bool {
	t := w.module.Tree
	p := t.Parent(n)
	for t.Kind(p) == syntax.PatternList || t.Kind(p) == syntax.TuplePattern || t.Kind(p) == syntax.ListPattern {
		n, p = p, t.Parent(p)
	}
	return t.Role(n) == syntax.FieldLeft && t.Kind(n) != syntax.Identifier && t.Kind(p) == syntax.Assignment
}

// takesFloat reports whether the code around n, which may become a float,
// accepts one.
func (w floatWalk) takesFloat(n syntax.NodeID) bool {
	t := w.module.Tree
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.BinaryOperator:
		op := t.Text(t.Child(p, syntax.FieldOperator))
		if op == "%" && t.Role(n) == syntax.FieldRight {
			if k := t.Kind(t.Child(p, syntax.FieldLeft)); k == syntax.String || k == syntax.ConcatenatedString {
				return true
			}
		}
		return op != "@" && w.takesFloat(p)
	case syntax.UnaryOperator, syntax.ParenthesizedExpression, syntax.ConditionalExpression, syntax.BooleanOperator:
		return w.takesFloat(p)
	case syntax.Tuple:
		// The right side of "..." % (a, b).
		g := t.Parent(p)
		return t.Kind(g) == syntax.BinaryOperator && t.Role(p) == syntax.FieldRight && t.Text(t.Child(g, syntax.FieldOperator)) == "%" &&
			t.Kind(t.Child(g, syntax.FieldLeft)) == syntax.String
	case syntax.ComparisonOperator, syntax.NotOperator, syntax.Interpolation, syntax.ExpressionStatement, syntax.IfStatement,
		syntax.WhileStatement, syntax.ElifClause, syntax.DeleteStatement, syntax.GlobalStatement, syntax.NonlocalStatement:
		return true
	case syntax.ArgumentList:
		return w.callTakesFloat(t.Parent(p), n)
	case syntax.KeywordArgument:
		return w.callTakesFloat(t.Parent(t.Parent(p)), n)
	case syntax.AugmentedAssignment, syntax.Assignment:
		left := t.Child(p, syntax.FieldLeft)
		if t.Role(n) == syntax.FieldLeft {
			return true
		}
		return t.Kind(left) == syntax.Identifier && w.variable(left, false)
	}
	return false
}

// callTakesFloat reports whether a call accepts a float where it is given arg.
func (w floatWalk) callTakesFloat(call, arg syntax.NodeID) bool {
	t := w.module.Tree
	f := t.Child(call, syntax.FieldFunction)
	switch t.Kind(f) {
	case syntax.Identifier:
		switch t.Text(f) {
		case "float", "int", "str", "repr", "print", "format", "bool":
			return true
		case "round", "abs", "max", "min":
			return w.takesFloat(call)
		}
	case syntax.Attribute:
		object, name := t.Child(f, syntax.FieldObject), t.Text(t.Child(f, syntax.FieldAttribute))
		if t.Kind(object) == syntax.String {
			return name == "format"
		}
		if t.Text(object) == "math" {
			return true
		}
		switch name {
		case "set_postfix", "set_description", "add_scalar", "info", "debug", "warning":
			return true
		}
	}
	return false
}

// takesList reports whether the code around n, a list that may become one of
// floats, accepts it.
func (w floatWalk) takesList(n syntax.NodeID) bool {
	t := w.module.Tree
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.Assignment, syntax.DeleteStatement, syntax.GlobalStatement, syntax.NonlocalStatement:
		return t.Kind(p) != syntax.Assignment || t.Role(n) == syntax.FieldLeft
	case syntax.AugmentedAssignment:
		return t.Role(n) == syntax.FieldLeft
	case syntax.Attribute:
		switch t.Text(t.Child(p, syntax.FieldAttribute)) {
		case "append", "extend", "insert", "clear":
			return t.Kind(t.Parent(p)) == syntax.Call
		}
	case syntax.ArgumentList:
		call := t.Parent(p)
		f := t.Text(t.Child(call, syntax.FieldFunction))
		switch f {
		case "len", "print", "str":
			return true
		case "sum", "max", "min":
			return w.takesFloat(call)
		case "torch.tensor":
			return true
		}
		return strings.HasPrefix(f, "np.") || strings.HasPrefix(f, "numpy.") || strings.HasPrefix(f, "statistics.") || strings.HasPrefix(f, "math.")
	}
	return false
}
