package fixes

import (
	"iter"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// asking are the attributes and methods that a tensor without a graph answers
// otherwise than one with a graph. Whether a backward comes to what is made of the
// place is known to the analysis.
var asking = []string{"requires_grad", "grad_fn", "retain_grad", "register_hook", "requires_grad_", "is_leaf", "retains_grad"}

// needGraph reports whether some code in view asks the place, or what is made of
// it, for its graph.
func (u uses) needGraph() bool {
	if u.target.Module != u.module {
		return false
	}
	w := askWalk{u.module, map[variable]bool{}}
	t := u.module.Tree
	for n := range u.mentions() {
		if p := t.Parent(n); t.Kind(p) == syntax.Attribute && t.Text(t.Child(p, syntax.FieldAttribute)) == "backward" || w.from(n) {
			return true
		}
	}
	return false
}

// askWalk follows what is made of a value, through variables and functions of the
// file, to code that asks for its graph.
type askWalk struct {
	module *names.Module
	seen   map[variable]bool
}

func (w askWalk) variable(v variable) bool {
	if w.seen[v] {
		return false
	}
	w.seen[v] = true
	for n := range v.occurrences() {
		if w.from(n) {
			return true
		}
	}
	return false
}

// from reports whether what is made of the expression n is asked for its graph.
func (w askWalk) from(n syntax.NodeID) bool {
	t := w.module.Tree
	for {
		p := t.Parent(n)
		switch t.Kind(p) {
		case syntax.Attribute:
			if t.Role(n) != syntax.FieldObject {
				return false
			}
			if slices.Contains(asking, t.Text(t.Child(p, syntax.FieldAttribute))) {
				return true
			}
		case syntax.Call, syntax.Subscript, syntax.BinaryOperator, syntax.UnaryOperator, syntax.BooleanOperator, syntax.ParenthesizedExpression,
			syntax.ConditionalExpression, syntax.Tuple, syntax.List, syntax.ExpressionList, syntax.KeywordArgument,
			syntax.ListComprehension, syntax.GeneratorExpression:
		case syntax.ArgumentList:
			call := t.Parent(p)
			if t.Kind(call) != syntax.Call {
				return false
			}
			if v, ok := parameterOf(w.module, call, n); ok && w.variable(v) {
				return true
			}
			if v, ok := w.keptIn(call); ok && w.variable(v) {
				return true
			}
		case syntax.Assignment, syntax.NamedExpression, syntax.ForStatement, syntax.ForInClause:
			return t.Role(n) != syntax.FieldLeft && w.targets(p)
		default:
			return false
		}
		n = p
	}
}

// keeping are methods of collections that keep their argument.
var keeping = []string{"append", "appendleft", "add", "extend", "insert", "put", "update", "setdefault"}

// keptIn is the variable of the collection that a call puts its arguments in.
func (w askWalk) keptIn(call syntax.NodeID) (variable, bool) {
	t := w.module.Tree
	f := t.Child(call, syntax.FieldFunction)
	object := t.Child(f, syntax.FieldObject)
	if t.Kind(f) != syntax.Attribute || t.Kind(object) != syntax.Identifier || !slices.Contains(keeping, t.Text(t.Child(f, syntax.FieldAttribute))) {
		return variable{}, false
	}
	v := variableAt(w.module, object)
	return v, !v.isImported()
}

// targets follows the variables that an assignment or a loop binds.
func (w askWalk) targets(binding syntax.NodeID) bool {
	t := w.module.Tree
	left := t.Child(binding, syntax.FieldLeft)
	if left < 0 {
		left = t.Child(binding, syntax.FieldName)
	}
	for n := left; n >= 0 && n < t.End(left); n++ {
		if t.Kind(n) == syntax.Identifier && isVariable(t, n) && t.Kind(t.Parent(n)) != syntax.Attribute && w.variable(variableAt(w.module, n)) {
			return true
		}
	}
	return false
}

// changesElements reports whether something writes into an element of a
// collection in place: as long as it is the very tensor that a backward comes
// to, that is part of its graph.
func (u uses) changesElements() bool {
	t := u.module.Tree
	if !u.collects || u.target.Module != u.module {
		return false
	}
	for n := range u.mentions() {
		element := t.Parent(n)
		if t.Kind(element) != syntax.Subscript || t.Child(element, syntax.FieldValue) != n {
			continue
		}
		switch p := t.Parent(element); t.Kind(p) {
		case syntax.AugmentedAssignment:
			if t.Role(element) == syntax.FieldLeft {
				return true
			}
		case syntax.Attribute:
			if torch.InPlace(t.Text(t.Child(p, syntax.FieldAttribute))) {
				return true
			}
		}
	}
	return false
}

// mentions are the expressions of the file that name the target.
func (u uses) mentions() iter.Seq[syntax.NodeID] {
	if u.target.Kind() == syntax.Identifier {
		return variableAt(u.module, u.target.Node).occurrences()
	}
	return func(yield func(syntax.NodeID) bool) {
		t := u.module.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == u.target.Kind() && t.Text(n) == u.target.Text() && !yield(n) {
				return
			}
		}
	}
}
