package fixes

import (
	"iter"
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// asking are the attributes and methods that a tensor without a graph answers
// otherwise than one with a graph.
var asking = []string{"requires_grad", "grad_fn", "retain_grad", "register_hook", "requires_grad_", "is_leaf", "retains_grad"}

// cutting are the attributes, methods and functions whose result has no graph.
var cutting = []string{"item", "detach", "tolist", "numpy", "data", "shape", "dtype", "device", "size", "dim", "numel", "argmax",
	"float", "int", "len", "str", "repr", "print", "isinstance", "range", "bool"}

// backwards are the functions and methods that run a backward through what they
// are given.
var backwards = []string{"backward", "manual_backward", "grad"}

// needGraph reports whether some code in view asks the place, or what is made of
// it, for its graph. Of a backward in the iteration that stores the value the
// analysis knows that it runs, but not whether it comes to the value by itself or
// by way of the place: that is asked here too. Of what files do that it has not
// followed it knows nothing.
func (u uses) needGraph() bool {
	if u.target.Module == nil {
		return false
	}
	w := askWalk{view: u.view, loop: u.loop, seen: map[variable]bool{}, attributes: map[string]bool{}, argument: u.argument, call: u.call}
	if u.argument != nil && w.variable(*u.argument) {
		return true
	}
	m := u.target.Module
	t := m.Tree
	target, element := u.target.Node, false
	for t.Kind(target) == syntax.Subscript {
		target, element = t.Child(target, syntax.FieldValue), true
	}
	switch t.Kind(target) {
	case syntax.Identifier:
		v := variableAt(m, target)
		if element {
			u.holdsFresh(m, func(left syntax.NodeID) bool { return t.Kind(left) == syntax.Identifier && variableAt(m, left) == v })
			u.view.given = u.view.given || v.isParameter()
		}
		return w.variable(v) || v.isGlobal() && w.global(v)
	case syntax.Attribute:
		name := t.Text(t.Child(target, syntax.FieldAttribute))
		if class := classAround(t, target); class < 0 || !u.view.derivesInView(m, class) {
			u.view.loses(m, target) // a library may read it
		}
		if element || u.collects {
			for _, m := range u.view.mentioning(name) {
				t := m.Tree
				u.holdsFresh(m, func(left syntax.NodeID) bool {
					return t.Kind(left) == syntax.Attribute && t.Text(t.Child(left, syntax.FieldAttribute)) == name
				})
			}
		}
		return w.attribute(name)
	case syntax.ListComprehension, syntax.SetComprehension, syntax.DictionaryComprehension:
		return w.from(m, target)
	}
	u.view.loses(m, target)
	return false
}

// askWalk follows what is made of a value, through variables, attributes and
// functions of the code in view, to code that asks for its graph. Where it loses
// sight of the value it tells the view.
type askWalk struct {
	view       *view
	loop       flow.Location // in which the value is stored
	seen       map[variable]bool
	attributes map[string]bool
	over       bool // the loop has ended
	// argument is the parameter that takes the value in call, if one does.
	argument *variable
	call     flow.Location
}

func (w askWalk) variable(v variable) bool {
	if w.seen[v] {
		return false
	}
	w.seen[v] = true
	for n := range v.occurrences() {
		if w.from(v.module, n) {
			return true
		}
	}
	return false
}

// global follows a variable of a module in the files that may import it.
func (w askWalk) global(v variable) bool {
	for _, m := range w.view.mentioning(v.name) {
		if m == v.module {
			continue
		}
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) != syntax.Identifier || t.Text(n) != v.name {
				continue
			}
			if alias, ok := importedAs(m, n); ok {
				if w.variable(alias) {
					return true
				}
			} else if isVariable(t, n) && scopeAt(m, n).Lookup(v.name) == m.Scope(t.Root()) && w.from(m, n) {
				return true
			}
		}
	}
	return w.attribute(v.name)
}

// from reports whether what is made of the expression n is asked for its graph.
func (w askWalk) from(m *names.Module, n syntax.NodeID) bool {
	t := m.Tree
	for {
		p := t.Parent(n)
		switch t.Kind(p) {
		case syntax.Attribute:
			name := t.Text(t.Child(p, syntax.FieldAttribute))
			switch {
			case t.Role(n) != syntax.FieldObject, slices.Contains(cutting, name):
				return false
			case slices.Contains(asking, name), name == "backward" && w.inIteration(m, n):
				return true
			}
		case syntax.Subscript:
			if t.Child(p, syntax.FieldValue) != n {
				return false // an index
			}
		case syntax.Call, syntax.BinaryOperator, syntax.UnaryOperator, syntax.BooleanOperator, syntax.ParenthesizedExpression,
			syntax.ConditionalExpression, syntax.Tuple, syntax.List, syntax.Set, syntax.Dictionary, syntax.Pair, syntax.ExpressionList,
			syntax.KeywordArgument, syntax.ListSplat, syntax.DictionarySplat, syntax.ListComprehension, syntax.SetComprehension,
			syntax.DictionaryComprehension, syntax.GeneratorExpression:
		case syntax.ArgumentList:
			switch asked, more := w.given(m, t.Parent(p), n); {
			case asked:
				return true
			case !more:
				return false
			}
		case syntax.Assignment, syntax.AugmentedAssignment, syntax.ForStatement, syntax.ForInClause:
			return t.Role(n) == syntax.FieldRight && w.targets(m, p)
		case syntax.NamedExpression:
			if t.Role(n) == syntax.FieldName {
				return false
			}
			if w.targets(m, p) {
				return true
			}
		case syntax.ReturnStatement:
			return w.returned(m, p)
		case syntax.ExpressionStatement, syntax.IfStatement, syntax.WhileStatement, syntax.ElifClause, syntax.IfClause, syntax.AssertStatement,
			syntax.RaiseStatement, syntax.DeleteStatement, syntax.GlobalStatement, syntax.NonlocalStatement, syntax.ComparisonOperator,
			syntax.NotOperator, syntax.Interpolation, syntax.Slice, syntax.Parameters, syntax.LambdaParameters, syntax.TypedParameter,
			syntax.PatternList, syntax.TuplePattern, syntax.ListPattern, syntax.ListSplatPattern, syntax.Type, syntax.FunctionDefinition,
			syntax.ClassDefinition, syntax.AliasedImport, syntax.DottedName, syntax.ImportFromStatement, syntax.Block, syntax.Module:
			return false
		case syntax.DefaultParameter, syntax.TypedDefaultParameter:
			if t.Role(n) == syntax.FieldName {
				return false
			}
			w.view.loses(m, n)
			return false
		default:
			w.view.loses(m, n)
			return false
		}
		n = p
	}
}

// given reports whether a call asks its argument for its graph, and whether there
// is more to look at: what the call gives.
func (w askWalk) given(m *names.Module, call, arg syntax.NodeID) (asked, more bool) {
	t := m.Tree
	f := t.Child(call, syntax.FieldFunction)
	name := lastName(t, f)
	switch {
	case t.Kind(call) != syntax.Call, slices.Contains(cutting, name):
		return false, false
	case slices.Contains(backwards, name):
		return w.inIteration(m, arg), false
	}
	if t.Kind(arg) == syntax.KeywordArgument {
		arg = t.Child(arg, syntax.FieldValue)
	}
	if v, ok := w.view.parameterOf(m, call, arg); ok {
		return w.variable(v), true
	}
	if t.Kind(f) == syntax.Attribute && slices.Contains(keeping, name) {
		switch object := t.Child(f, syntax.FieldObject); t.Kind(object) {
		case syntax.Identifier:
			if v := variableAt(m, object); !v.isImported() {
				return w.variable(v), true
			}
		case syntax.Attribute:
			return w.attribute(t.Text(t.Child(object, syntax.FieldAttribute))), true
		}
	}
	if !w.view.isKnown(m, f) {
		w.view.loses(m, arg)
	}
	return false, true
}

// inIteration reports whether code runs within an iteration that stores the value,
// or may.
func (w askWalk) inIteration(m *names.Module, n syntax.NodeID) bool {
	if !w.view.isOwn(m) {
		return true // whenever it is, the analysis has not seen it
	}
	if w.over {
		return false
	}
	if m != w.loop.Module || functionAround(m.Tree, n) != functionAround(m.Tree, w.loop.Node) {
		return true
	}
	return w.loop.Kind() == syntax.FunctionDefinition || w.loop.Kind() == syntax.ClassDefinition || w.loop.Node <= n && n < m.Tree.End(w.loop.Node)
}

// returned follows what a function returns to those who call it by its name. The
// function with the loop returns when that is over.
func (w askWalk) returned(m *names.Module, statement syntax.NodeID) bool {
	function := functionAround(m.Tree, statement)
	v := variable{m, m.Scope(function), ""}
	name := lastName(m.Tree, m.Tree.Child(function, syntax.FieldName))
	if name == "" || w.seen[v] {
		return false
	}
	w.seen[v] = true
	if m == w.loop.Module && function == functionAround(m.Tree, w.loop.Node) && function != w.loop.Node {
		// What is seen from here on may be seen before the loop ends too.
		w.over, w.seen, w.attributes = true, map[variable]bool{v: true}, map[string]bool{}
	}
	switch {
	case w.call.Module != nil && w.argument != nil && w.argument.scope == v.scope:
		return w.from(w.call.Module, w.call.Node)
	case name == "forward", name == "__call__":
		w.view.loses(m, statement)
		return !w.over
	}
	calls, all := w.view.callsOf(m, function)
	if !all {
		w.view.loses(m, statement)
	}
	return slices.ContainsFunc(calls, func(l flow.Location) bool { return w.from(l.Module, l.Node) })
}

// functionAround is the function that n is in, or the root.
func functionAround(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	if t.Kind(n) == syntax.FunctionDefinition {
		return n
	}
	for n > t.Root() && t.Kind(n) != syntax.FunctionDefinition {
		n = t.Parent(n)
	}
	return n
}

// lastName is the last name of what is called, empty when it has none.
func lastName(t *syntax.Tree, callee syntax.NodeID) string {
	if callee >= 0 && t.Kind(callee) == syntax.Attribute {
		callee = t.Child(callee, syntax.FieldAttribute)
	}
	if callee < 0 {
		return ""
	}
	return t.Text(callee)
}

// keeping are methods of collections that keep their argument.
var keeping = []string{"append", "appendleft", "add", "extend", "insert", "put", "update", "setdefault"}

// targets follows the variables and attributes that an assignment or a loop binds.
func (w askWalk) targets(m *names.Module, binding syntax.NodeID) bool {
	t := m.Tree
	left := t.Child(binding, syntax.FieldLeft)
	if left < 0 {
		left = t.Child(binding, syntax.FieldName)
	}
	for t.Kind(left) == syntax.Subscript {
		left = t.Child(left, syntax.FieldValue)
	}
	for n := left; n >= 0 && n < t.End(left); n++ {
		switch {
		case t.Kind(n) == syntax.Attribute:
			if w.attribute(t.Text(t.Child(n, syntax.FieldAttribute))) {
				return true
			}
		case t.Kind(n) == syntax.Identifier && isVariable(t, n) && t.Kind(t.Parent(n)) != syntax.Attribute && w.variable(variableAt(m, n)):
			return true
		}
	}
	return false
}

// attribute follows all attributes of a name.
func (w askWalk) attribute(name string) bool {
	if w.attributes[name] {
		return false
	}
	w.attributes[name] = true
	for _, m := range w.view.mentioning(name) {
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			switch t.Kind(n) {
			case syntax.Attribute:
				if t.Text(t.Child(n, syntax.FieldAttribute)) == name && w.from(m, n) {
					return true
				}
			case syntax.StringContent:
				if t.Text(n) == name && t.Kind(t.Parent(t.Parent(n))) == syntax.ArgumentList { // getattr(…, name)
					w.view.loses(m, t.Parent(n))
				}
			}
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

// holdsFresh tells the view where what names a place is assigned a collection that
// somebody else may hold too.
func (u uses) holdsFresh(m *names.Module, isPlace func(left syntax.NodeID) bool) {
	t := m.Tree
	for n := t.Root(); int(n) < t.Len(); n++ {
		left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
		if t.Kind(n) != syntax.Assignment || right < 0 || !isPlace(left) {
			continue
		}
		switch t.Kind(right) {
		case syntax.List, syntax.Dictionary, syntax.Set, syntax.None, syntax.ListComprehension, syntax.DictionaryComprehension, syntax.SetComprehension:
			continue
		case syntax.Call:
			if f := t.Child(right, syntax.FieldFunction); slices.Contains(collections, lastName(t, f)) {
				continue
			}
		}
		u.view.loses(m, right)
	}
}

// collections are types whose calls make a new one.
var collections = []string{"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "SimpleNamespace"}

// mentions are the expressions of its file that name the target.
func (u uses) mentions() iter.Seq[syntax.NodeID] {
	m := u.target.Module
	if u.target.Kind() == syntax.Identifier {
		return variableAt(m, u.target.Node).occurrences()
	}
	return func(yield func(syntax.NodeID) bool) {
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == u.target.Kind() && t.Text(n) == u.target.Text() && !yield(n) {
				return
			}
		}
	}
}
