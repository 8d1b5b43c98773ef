package fixes

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// callsOf are the calls in view of a function, told by its name; all says that
// nothing else can call it: nothing takes it as a value, and no library knows it.
func (v *view) callsOf(m *names.Module, function syntax.NodeID) (calls []flow.Location, all bool) {
	t := m.Tree
	name := lastName(t, t.Child(function, syntax.FieldName))
	all = !strings.HasPrefix(name, "__") && isPlainlyDecorated(t, function)
	if class := classAround(t, function); class >= 0 && !v.derivesInView(m, class) {
		all = false
	}
	if scopeAt(m, function) != m.Scope(t.Root()) && classAround(t, function) < 0 {
		// Nobody outside sees its name.
		c, only := callsIn(m, name)
		return c, only && all
	}
	for _, m := range v.mentioning(name) {
		c, only := callsIn(m, name)
		calls, all = append(calls, c...), all && only
	}
	return calls, all
}

// callsIn are the calls of what is called name in one file; only says that it is not
// mentioned otherwise.
func callsIn(m *names.Module, name string) (calls []flow.Location, only bool) {
	t := m.Tree
	only = true
	for n := t.Root(); int(n) < t.Len(); n++ {
		switch t.Kind(n) {
		case syntax.StringContent:
			if t.Text(n) == name && t.Kind(t.Parent(t.Parent(n))) != syntax.List { // not __all__
				only = false
			}
			continue
		case syntax.Identifier:
		default:
			continue
		}
		if t.Text(n) != name {
			continue
		}
		if alias, ok := importedAs(m, n); ok {
			if alias.name != name {
				for use := range alias.occurrences() {
					if at := calledAt(t, use); at >= 0 {
						calls = append(calls, flow.Location{Module: m, Node: at})
					} else {
						only = false
					}
				}
			}
			continue
		}
		if at := calledAt(t, n); at >= 0 {
			calls = append(calls, flow.Location{Module: m, Node: at})
		} else if isRead(t, n) {
			only = false
		}
	}
	return calls, only
}

// calledAt is the call of what an identifier names, NoNode when it is not called
// there.
func calledAt(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	if p := t.Parent(n); t.Kind(p) == syntax.Attribute && t.Role(n) == syntax.FieldAttribute {
		n = p
	}
	if p := t.Parent(n); t.Kind(p) == syntax.Call && t.Child(p, syntax.FieldFunction) == n {
		return p
	}
	return syntax.NoNode
}

// isRead reports whether an identifier stands for a value, and is not the name of a
// definition, a parameter, a keyword, or what is assigned to.
func isRead(t *syntax.Tree, n syntax.NodeID) bool {
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.FunctionDefinition, syntax.ClassDefinition, syntax.Parameters, syntax.TypedParameter, syntax.DottedName, syntax.AliasedImport, syntax.ImportFromStatement:
		return false
	case syntax.KeywordArgument, syntax.DefaultParameter, syntax.TypedDefaultParameter:
		return t.Role(n) != syntax.FieldName
	case syntax.Assignment:
		return t.Role(n) != syntax.FieldLeft
	}
	return true
}

// importedAs is the variable that an import in which n names something binds to it.
func importedAs(m *names.Module, n syntax.NodeID) (variable, bool) {
	t := m.Tree
	at := t.Parent(n)
	if t.Kind(at) != syntax.DottedName {
		return variable{}, false
	}
	bound := t.Text(n)
	if t.Kind(t.Parent(at)) == syntax.AliasedImport {
		at = t.Parent(at)
		bound = t.Text(t.Child(at, syntax.FieldAlias))
	}
	if t.Kind(t.Parent(at)) != syntax.ImportFromStatement || t.Role(at) != syntax.FieldName {
		return variable{}, false
	}
	return variable{m, scopeAt(m, n).Lookup(bound), bound}, true
}

// classAround is the class that n is in the body of, NoNode when it is in none.
func classAround(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for n = t.Parent(n); n > t.Root(); n = t.Parent(n) {
		if t.Kind(n) == syntax.ClassDefinition {
			return n
		}
	}
	return syntax.NoNode
}

// plainBases are classes of libraries that call no method of a class that derives
// from them by a name of the program's own, and read none of its attributes.
var plainBases = []string{"object", "Module", "ABC", "Protocol", "Generic", "Exception", "NamedTuple"}

// derivesInView reports whether a class derives from classes in view only.
func (v *view) derivesInView(m *names.Module, class syntax.NodeID) bool {
	t := m.Tree
	bases := t.Child(class, syntax.FieldSuperclasses)
	if bases < 0 {
		return true
	}
	for base := range t.Children(bases) {
		if t.Kind(base) == syntax.Subscript {
			base = t.Child(base, syntax.FieldValue)
		}
		if t.Kind(base) == syntax.KeywordArgument || slices.Contains(plainBases, lastName(t, base)) {
			continue
		}
		of, found := v.classNamed(m, base)
		if found < 0 || of == m && found >= class || !v.derivesInView(of, found) {
			return false
		}
	}
	return true
}

// classNamed is the class in view that a name, at the top of a file or imported
// there from another, refers to.
func (v *view) classNamed(m *names.Module, name syntax.NodeID) (*names.Module, syntax.NodeID) {
	t := m.Tree
	if t.Kind(name) != syntax.Identifier {
		return nil, syntax.NoNode
	}
	if found := classAtTop(t, t.Text(name)); found >= 0 {
		return m, found
	}
	from := importOf(m, name)
	if from.member == "" {
		return nil, syntax.NoNode
	}
	for _, other := range v.mentioning(from.member) {
		if other != m && moduleName(other.Path) == lastWord(from.module) {
			if found := classAtTop(other.Tree, from.member); found >= 0 {
				return other, found
			}
		}
	}
	return nil, syntax.NoNode
}

// classAtTop is the class of a name at the top of a module.
func classAtTop(t *syntax.Tree, name string) syntax.NodeID {
	for n := range t.Children(t.Root()) {
		if t.Kind(n) == syntax.DecoratedDefinition {
			n = t.Child(n, syntax.FieldDefinition)
		}
		if t.Kind(n) == syntax.ClassDefinition && t.Text(t.Child(n, syntax.FieldName)) == name {
			return n
		}
	}
	return syntax.NoNode
}

// isPlainlyDecorated reports whether the decorators of a function leave what it
// returns, and who calls it, as they are.
func isPlainlyDecorated(t *syntax.Tree, function syntax.NodeID) bool {
	around := t.Parent(function)
	if t.Kind(around) != syntax.DecoratedDefinition {
		return true
	}
	for d := range t.Children(around) {
		if t.Kind(d) != syntax.Decorator {
			continue
		}
		name := t.First(d)
		if t.Kind(name) == syntax.Call {
			name = t.Child(name, syntax.FieldFunction)
		}
		switch lastName(t, name) {
		case "staticmethod", "classmethod", "no_grad", "inference_mode", "enable_grad", "abstractmethod", "override":
		default:
			return false
		}
	}
	return true
}

// parameterOf is the variable that takes an argument of a call, where the callee is
// a function in view: one of the same file, or one that a file in view defines and
// the file imports from there.
func (v *view) parameterOf(m *names.Module, call, arg syntax.NodeID) (variable, bool) {
	if p, ok := parameterOf(m, call, arg); ok {
		return p, true
	}
	t := m.Tree
	f := t.Child(call, syntax.FieldFunction)
	name := ""
	from := ""
	switch t.Kind(f) {
	case syntax.Identifier:
		i := importOf(m, f)
		name, from = i.member, i.module
	case syntax.Attribute:
		if object := t.Child(f, syntax.FieldObject); t.Kind(object) == syntax.Identifier {
			i := importOf(m, object)
			name, from = t.Text(t.Child(f, syntax.FieldAttribute)), i.module
			if i.member != "" {
				from += "." + i.member
			}
		}
	}
	if name == "" || from == "" {
		return variable{}, false
	}
	for _, other := range v.mentioning(name) {
		if other == m || moduleName(other.Path) != lastWord(from) {
			continue
		}
		if function := functionNamed(other, name, other.Tree.Root()); function >= 0 {
			if parameter := parameterTaking(m, other.Tree, function, call, arg, 0); parameter != "" {
				return variable{other, other.Scope(function), parameter}, true
			}
		}
	}
	return variable{}, false
}

// moduleName is the last word by which the file at path is imported.
func moduleName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".py")
	if name == "__init__" {
		return filepath.Base(filepath.Dir(path))
	}
	return name
}

func lastWord(dotted string) string { return dotted[strings.LastIndexByte(dotted, '.')+1:] }

// imported is what an import binds a name to: a module, or a member of one.
type imported struct{ module, member string }

// importOf is what the imports of a file bind an identifier to: nothing, if it is
// not imported, or in more ways than one.
func importOf(m *names.Module, n syntax.NodeID) imported {
	t := m.Tree
	name := t.Text(n)
	scope := scopeAt(m, n).Lookup(name)
	var found imported
	for at := t.Root(); int(at) < t.Len(); at++ {
		k := t.Kind(at)
		if k != syntax.ImportStatement && k != syntax.ImportFromStatement || scopeAt(m, at) != scope {
			continue
		}
		_, dotted := names.ImportSource(t, at)
		for c := range t.Children(at) {
			if t.Role(c) != syntax.FieldName {
				continue
			}
			what, bound := t.Text(c), t.Text(c)
			if t.Kind(c) == syntax.AliasedImport {
				what, bound = t.Text(t.Child(c, syntax.FieldName)), t.Text(t.Child(c, syntax.FieldAlias))
			} else if k == syntax.ImportStatement {
				bound, _, _ = strings.Cut(bound, ".")
				what = bound
			}
			if bound != name {
				continue
			}
			i := imported{module: what}
			if k == syntax.ImportFromStatement {
				i = imported{dotted, what}
				if dotted == "" {
					i = imported{module: what}
				}
			}
			if found != (imported{}) && found != i {
				return imported{}
			}
			found = i
		}
	}
	return found
}

// computing are libraries whose functions run no backward on what they are given,
// and keep nothing of it but for their result.
var computing = []string{"torch", "numpy", "math", "statistics", "scipy", "json", "operator", "itertools"}

// builtins are functions of Python of which that is true too.
var builtins = []string{"print", "sum", "max", "min", "abs", "round", "list", "tuple", "set", "dict", "sorted", "enumerate", "zip", "iter", "next", "reversed", "any", "all",
	"id", "type", "hash", "format", "complex", "divmod", "pow"}

// showing are methods of libraries that show or write a value.
var showing = []string{"info", "debug", "warning", "error", "critical", "exception", "add_scalar", "add_scalars", "set_postfix", "set_postfix_str",
	"set_description", "log", "log_dict", "log_metrics", "log_scalar", "write", "format", "writerow"}

// isKnown reports whether it is known of a function or method that it does not ask
// its arguments for their graphs and keeps them in its result only.
func (v *view) isKnown(m *names.Module, callee syntax.NodeID) bool {
	t := m.Tree
	root := callee
	for t.Kind(root) == syntax.Attribute {
		root = t.Child(root, syntax.FieldObject)
	}
	if t.Kind(root) == syntax.Identifier {
		from := importOf(m, root).module
		from, _, _ = strings.Cut(from, ".")
		if slices.Contains(computing, from) {
			return true
		}
		if root == callee && slices.Contains(builtins, t.Text(root)) && !m.Scope(t.Root()).Binds(t.Text(root)) {
			return true
		}
	}
	name := lastName(t, callee)
	return t.Kind(callee) == syntax.Attribute && slices.Contains(showing, name) && !v.defines(name)
}

// defines reports whether code in view defines a function of a name.
func (v *view) defines(name string) bool {
	for _, m := range append(v.own[:len(v.own):len(v.own)], v.pass.Using(v.own[len(v.own)-1].Path, name).Files...) {
		t := m.Tree
		for n := t.Root(); int(n) < t.Len(); n++ {
			if t.Kind(n) == syntax.FunctionDefinition && lastName(t, t.Child(n, syntax.FieldName)) == name {
				return true
			}
		}
	}
	return false
}
