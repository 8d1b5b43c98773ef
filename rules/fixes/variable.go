package fixes

import (
	"iter"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// variable is a name in one scope of a module.
type variable struct {
	module *names.Module
	scope  *names.Scope
	name   string
}

// variableAt is the variable that an identifier names.
func variableAt(m *names.Module, n syntax.NodeID) variable {
	name := m.Tree.Text(n)
	return variable{m, scopeAt(m, n).Lookup(name), name}
}

// occurrences are the identifiers that name the variable, in the order of the
// text.
func (v variable) occurrences() iter.Seq[syntax.NodeID] {
	return func(yield func(syntax.NodeID) bool) {
		t := v.module.Tree
		if v.scope == nil {
			return
		}
		for n := v.scope.Node; n < t.End(v.scope.Node); n++ {
			if t.Kind(n) == syntax.Identifier && t.Text(n) == v.name && isVariable(t, n) && scopeAt(v.module, n).Lookup(v.name) == v.scope && !yield(n) {
				return
			}
		}
	}
}

// isVariable reports whether an identifier is a variable, not an attribute's
// or a keyword's name.
func isVariable(t *syntax.Tree, n syntax.NodeID) bool {
	switch p := t.Parent(n); t.Kind(p) {
	case syntax.Attribute:
		return t.Role(n) != syntax.FieldAttribute
	case syntax.KeywordArgument:
		return t.Role(n) != syntax.FieldName
	case syntax.DottedName, syntax.AliasedImport, syntax.FunctionDefinition, syntax.ClassDefinition:
		return false
	}
	return true
}

// isGlobal reports whether the variable belongs to the module, where other files
// see it.
func (v variable) isGlobal() bool { return v.scope == v.module.Scope(v.module.Tree.Root()) }

// isParameter reports whether the variable is a parameter of a function.
func (v variable) isParameter() bool {
	t := v.module.Tree
	return v.scope != nil && (t.Kind(v.scope.Node) == syntax.FunctionDefinition || t.Kind(v.scope.Node) == syntax.Lambda) &&
		mentions(t, t.Child(v.scope.Node, syntax.FieldParameters), v.name)
}

// isImported reports whether an import gives the variable its value, or nothing
// in view does.
func (v variable) isImported() bool {
	t := v.module.Tree
	if v.scope == nil || !v.scope.Binds(v.name) {
		return true
	}
	for n := v.scope.Node; n < t.End(v.scope.Node); n++ {
		if k := t.Kind(n); k != syntax.ImportStatement && k != syntax.ImportFromStatement || scopeAt(v.module, n) != v.scope {
			continue
		}
		for c := n; c < t.End(n); c++ {
			if t.Kind(c) == syntax.Identifier && t.Text(c) == v.name {
				return true
			}
		}
	}
	return false
}

// leavesWithFunction reports whether a function within the scope, or a lambda,
// gives the variable, or something made of it, to whoever calls it.
func (v variable) leavesWithFunction() bool {
	t := v.module.Tree
	for n := range v.occurrences() {
		given := false
		for at := n; at > v.scope.Node; at = t.Parent(at) {
			switch t.Kind(at) {
			case syntax.ReturnStatement, syntax.Yield, syntax.Lambda:
				given = true
			case syntax.FunctionDefinition:
				if given {
					return true
				}
			}
			if given && t.Kind(at) == syntax.Lambda {
				return true
			}
		}
	}
	return false
}

// onlyRead are functions that keep nothing of a collection they are given.
var onlyRead = map[string]bool{"len": true, "print": true, "str": true, "repr": true, "sum": true, "max": true, "min": true, "float": true, "int": true,
	"bool": true, "any": true, "all": true, "isinstance": true, "type": true, "id": true, "list": true, "tuple": true, "set": true, "sorted": true,
	"enumerate": true, "zip": true, "iter": true, "reversed": true, "map": true, "filter": true}

// isHandedOut reports whether the collection that the variable holds is given to
// code or stored in a place that is not in view, where it may be used later. What
// the analysis follows are the tensors that are in it by then: before a loop there
// are none.
func (v variable) isHandedOut(seen map[variable]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	t := v.module.Tree
	for n := range v.occurrences() {
		p := t.Parent(n)
		switch t.Kind(p) {
		case syntax.Assignment:
			if left := t.Child(p, syntax.FieldLeft); t.Child(p, syntax.FieldRight) == n && (t.Kind(left) != syntax.Identifier || variableAt(v.module, left).isHandedOut(seen)) {
				return true
			}
		case syntax.ArgumentList, syntax.KeywordArgument:
			call := t.Parent(p)
			if t.Kind(p) == syntax.KeywordArgument {
				call = t.Parent(call)
			}
			f := t.Child(call, syntax.FieldFunction)
			root, _, _ := strings.Cut(t.Text(f), ".")
			switch inner, ok := parameterOf(v.module, call, n); {
			case t.Kind(call) != syntax.Call, onlyRead[t.Text(f)], root == "torch", root == "np", root == "numpy", root == "statistics":
			case ok && !inner.isHandedOut(seen):
			default:
				return true
			}
		}
	}
	return false
}

// parameterOf is the variable that takes the argument arg of a call, where the
// callee is a function of the module.
func parameterOf(m *names.Module, call, arg syntax.NodeID) (variable, bool) {
	function := functionCalled(m, call)
	if function < 0 {
		return variable{}, false
	}
	self := 0
	if m.Tree.Kind(m.Tree.Child(call, syntax.FieldFunction)) == syntax.Attribute {
		self = 1
	}
	if p := parameterTaking(m, m.Tree, function, call, arg, self); p != "" {
		return variable{m, m.Scope(function), p}, true
	}
	return variable{}, false
}

// parameterTaking is the parameter of a function, in the tree of, that takes an
// argument of a call in m; before it come so many others. It is empty when there is
// none.
func parameterTaking(m *names.Module, of *syntax.Tree, function, call, arg syntax.NodeID, before int) string {
	t := m.Tree
	if t.Kind(t.Parent(arg)) == syntax.KeywordArgument {
		return parameterAt(of, function, 0, t.Text(t.Child(t.Parent(arg), syntax.FieldName)))
	}
	position := before
	for a := range t.Children(t.Child(call, syntax.FieldArguments)) {
		if t.Kind(a) == syntax.ListSplat || t.Kind(a) == syntax.DictionarySplat {
			return ""
		}
		if a == arg {
			break
		}
		position++
	}
	return parameterAt(of, function, position, "")
}

// functionCalled is the definition, in the same file, of the function that a call
// names: one at the top of the file or a method of self. It is NoNode for any
// other.
func functionCalled(m *names.Module, call syntax.NodeID) syntax.NodeID {
	t := m.Tree
	f := t.Child(call, syntax.FieldFunction)
	switch {
	case t.Kind(f) == syntax.Identifier:
		if name := t.Text(f); scopeAt(m, f).Lookup(name) == m.Scope(t.Root()) {
			return functionNamed(m, name, t.Root())
		}
	case t.Kind(f) == syntax.Attribute && t.Text(t.Child(f, syntax.FieldObject)) == "self":
		if class := classAround(t, f); class >= 0 {
			return functionNamed(m, t.Text(t.Child(f, syntax.FieldAttribute)), class)
		}
	}
	return syntax.NoNode
}

// functionNamed is the one function of a name at the top of a module or a class, as
// it stands there. It is NoNode when there is none, or none for sure.
func functionNamed(m *names.Module, name string, within syntax.NodeID) syntax.NodeID {
	t := m.Tree
	found := syntax.NoNode
	for n := within; n < t.End(within); n++ {
		if t.Kind(n) == syntax.FunctionDefinition && lastName(t, t.Child(n, syntax.FieldName)) == name && scopeAt(m, n) == m.Scope(within) {
			if found >= 0 || t.Kind(t.Parent(n)) == syntax.DecoratedDefinition {
				return syntax.NoNode // which one, and what of it, is not clear
			}
			found = n
		}
	}
	return found
}
