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
	view     *view
	target   flow.Location // what is written
	loop     flow.Location // in which it is
	collects bool
	// argument is the parameter that takes the stored value, where call stores it.
	argument *variable
	call     flow.Location
}

// local reports whether the target is a variable that nobody sees but the code
// in view. A variable of the module is one in a script, whose loop stands at the
// top; where a function writes it, other files may import it.
func (u uses) local() bool {
	t := u.module.Tree
	if u.target.Module != u.module || t.Kind(u.target.Node) != syntax.Identifier {
		return false
	}
	v := variableAt(u.module, u.target.Node)
	if v.isImported() || v.isGlobal() && (u.loop.Module != u.module || scopeAt(u.module, u.loop.Node) != v.scope) {
		return false
	}
	return !v.leavesWithFunction() && !(u.collects && v.isHandedOut(map[variable]bool{}))
}

// sight says how much is known of what becomes of a value.
type sight uint8

const (
	breaks sight = iota // some use in view does not take it
	inView              // all uses in view do, but there may be others
	whole               // all uses are in view, and do
)

// takeFloats says whether every use of the target works when it is a float, or a
// list of floats.
func (u uses) takeFloats() sight {
	if u.target.Module != u.module {
		return breaks
	}
	w := floatWalk{uses: u, seen: map[variable]bool{}, leaves: new(bool)}
	t := u.module.Tree
	switch t.Kind(u.target.Node) {
	case syntax.Identifier:
		v := variableAt(u.module, u.target.Node)
		if !w.variable(u.target.Node, u.collects) || !u.local() && v.isGlobal() && !w.elsewhere(v) {
			return breaks
		}
		if !*w.leaves && (u.local() || v.isGlobal() && !v.isImported() && w.view.whole()) {
			return whole
		}
	case syntax.Attribute:
		if !w.attribute(t.Text(t.Child(u.target.Node, syntax.FieldAttribute))) {
			return breaks
		}
		if !*w.leaves && w.view.whole() {
			return whole
		}
	default:
		return breaks
	}
	return inView
}

// attribute checks every read of the attributes of a name.
func (w floatWalk) attribute(name string) bool {
	for _, m := range w.view.mentioning(name) {
		w.module = m
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == name && t.Kind(t.Parent(n)) != syntax.Call && !w.takes(n, w.collects) {
				return false
			}
		}
	}
	return true
}

// elsewhere checks every read of a variable of the module in other files.
func (w floatWalk) elsewhere(v variable) bool {
	for _, m := range w.view.mentioning(v.name) {
		if m == v.module {
			continue
		}
		w.module = m
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) != syntax.Identifier || t.Text(n) != v.name {
				continue
			}
			if alias, ok := importedAs(m, n); ok {
				if !w.everyRead(alias, func(w floatWalk, read syntax.NodeID) bool { return w.takes(read, w.collects) }) {
					return false
				}
			} else if isVariable(t, n) && importsAll(m) && scopeAt(m, n).Lookup(v.name) == m.Scope(t.Root()) && !w.takes(n, w.collects) {
				return false
			}
		}
	}
	return w.attribute(v.name)
}

// importsAll reports whether a file has an import of all names of another.
func importsAll(m *names.Module) bool {
	for n := m.Tree.Root(); int(n) < m.Tree.Len(); n++ {
		if m.Tree.Kind(n) == syntax.WildcardImport {
			return true
		}
	}
	return false
}

// floatWalk follows a value that may become a float through the code in view.
type floatWalk struct {
	uses
	seen   map[variable]bool
	leaves *bool // it is returned to where not every caller is in view
}

// variable checks every read of the name at n in its scope.
func (w floatWalk) variable(n syntax.NodeID, list bool) bool {
	return w.everyRead(variableAt(w.module, n), func(w floatWalk, read syntax.NodeID) bool { return w.takes(read, list) })
}

func (w floatWalk) takes(n syntax.NodeID, list bool) bool {
	if list {
		return w.takesList(n)
	}
	return w.takesFloat(n)
}

// everyRead reports whether a test holds for every read of a variable.
func (w floatWalk) everyRead(v variable, holds func(in floatWalk, read syntax.NodeID) bool) bool {
	if w.seen[v] {
		return true
	}
	w.seen[v] = true
	w.module = v.module
	if v.scope == nil || v.scope.Class {
		return false
	}
	for n := range v.occurrences() {
		// A parameter, or a, total = …: it is written.
		if w.isUnpacked(n) || w.module.Tree.Role(n) == syntax.FieldName || w.isParameter(n) {
			continue
		}
		if !holds(w, n) {
			return false
		}
	}
	return true
}

// isParameter reports whether n is the name of a parameter.
func (w floatWalk) isParameter(n syntax.NodeID) bool {
	t := w.module.Tree
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.Parameters, syntax.TypedParameter:
		return true
	case syntax.DefaultParameter, syntax.TypedDefaultParameter:
		return t.Child(p, syntax.FieldName) == n
	}
	return false
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

// callersTake reports whether all calls in view of the function around a return
// statement take a float as the result, or as one of several.
func (w floatWalk) callersTake(statement syntax.NodeID, position, of int, list bool) bool {
	t := w.module.Tree
	function := statement
	for function > t.Root() && t.Kind(function) != syntax.FunctionDefinition && t.Kind(function) != syntax.Lambda {
		function = t.Parent(function)
	}
	if t.Kind(function) != syntax.FunctionDefinition {
		return false
	}
	v := variable{w.module, w.module.Scope(function), ""}
	if w.seen[v] {
		return true
	}
	w.seen[v] = true
	calls, all := w.view.callsOf(w.module, function)
	if !all || w.view.hidden || w.view.elsewhere {
		*w.leaves = true // something else may call it
	}
	for _, call := range calls {
		in := w
		in.module = call.Module
		if !in.callerTakes(call.Node, position, of, list) {
			return false
		}
	}
	return true
}

// callerTakes reports whether the code around a call takes a float as its result,
// or as one of several.
func (w floatWalk) callerTakes(call syntax.NodeID, position, of int, list bool) bool {
	if of == 1 {
		return w.takes(call, list)
	}
	t := w.module.Tree
	p := t.Parent(call)
	if t.Kind(p) == syntax.ExpressionStatement {
		return true
	}
	left := t.Child(p, syntax.FieldLeft)
	if t.Kind(p) != syntax.Assignment || t.Kind(left) != syntax.PatternList {
		return false
	}
	i := 0
	for target := range t.Children(left) {
		if i == position && (t.Kind(target) != syntax.Identifier || !w.variable(target, list)) {
			return false
		}
		i++
	}
	return i == of
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
	case syntax.ReturnStatement:
		return w.callersTake(p, 0, 1, false)
	case syntax.ExpressionList:
		return w.oneOfSeveral(p, n, false)
	case syntax.Tuple:
		g := t.Parent(p)
		if t.Kind(g) == syntax.ReturnStatement {
			return w.oneOfSeveral(p, n, false)
		}
		// The right side of "..." % (a, b).
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

// oneOfSeveral reports whether all callers take a float as one of the values that
// are returned together.
func (w floatWalk) oneOfSeveral(values, n syntax.NodeID, list bool) bool {
	t := w.module.Tree
	position, of := 0, 0
	for v := range t.Children(values) {
		if v == n {
			position = of
		}
		of++
	}
	return t.Kind(t.Parent(values)) == syntax.ReturnStatement && w.callersTake(t.Parent(values), position, of, list)
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
		if v, ok := w.view.parameterOf(w.module, call, arg); ok {
			return w.everyRead(v, floatWalk.takesFloat)
		}
	case syntax.Attribute:
		if v, ok := w.view.parameterOf(w.module, call, arg); ok {
			return w.everyRead(v, floatWalk.takesFloat)
		}
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
	case syntax.ReturnStatement:
		return w.callersTake(p, 0, 1, true)
	case syntax.ExpressionList, syntax.Tuple:
		return w.oneOfSeveral(p, n, true)
	case syntax.ExpressionStatement:
		return true
	case syntax.Attribute:
		switch t.Text(t.Child(p, syntax.FieldAttribute)) {
		case "append", "extend", "insert", "clear":
			return t.Kind(t.Parent(p)) == syntax.Call
		}
	case syntax.ArgumentList:
		call := t.Parent(p)
		if v, ok := w.view.parameterOf(w.module, call, n); ok {
			return w.everyRead(v, floatWalk.takesList)
		}
		f := ""
		if t.Kind(call) == syntax.Call {
			f = t.Text(t.Child(call, syntax.FieldFunction))
		}
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
