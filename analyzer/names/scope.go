package names

import "github.com/graphleak/graphleak/analyzer/syntax"

// Scope is the set of names that one block of Python binds: a module, a class
// body, a function, a lambda or a comprehension.
type Scope struct {
	Node   syntax.NodeID // the block's node
	Parent *Scope
	// Class says that the scope is a class body: functions inside do not see
	// its names.
	Class bool
	// Generator says that the function yields.
	Generator bool
	// Captured says that code within the scope may outlive it: a function, a
	// class or a generator expression, which see its names.
	Captured bool
	// Async says that the function was defined with async.
	Async bool

	bound     map[string]bool
	global    map[string]bool
	nonlocal  map[string]bool
	module    *Scope
	comprehds bool // a comprehension: only its targets are bound here
}

// Binds reports whether name is a local of s.
func (s *Scope) Binds(name string) bool {
	return s.bound[name] && !s.global[name] && !s.nonlocal[name]
}

// Lookup is the scope in which name, read or assigned within s, lives. A name
// that nothing binds belongs to the module (it may be a builtin).
func (s *Scope) Lookup(name string) *Scope {
	if s.global[name] {
		return s.module
	}
	for at := s; at != nil; at = at.Parent {
		if at != s && at.Class {
			continue
		}
		if at.Binds(name) {
			return at
		}
	}
	return s.module
}

// scopes finds the scopes of a module and what each binds.
func scopes(t *syntax.Tree) map[syntax.NodeID]*Scope {
	b := binder{tree: t, scopes: map[syntax.NodeID]*Scope{}}
	root := &Scope{Node: t.Root(), bound: map[string]bool{}}
	root.module = root
	b.scopes[root.Node] = root
	b.children(t.Root(), root)
	return b.scopes
}

type binder struct {
	tree   *syntax.Tree
	scopes map[syntax.NodeID]*Scope
}

func (b *binder) open(n syntax.NodeID, parent *Scope) *Scope {
	switch b.tree.Kind(n) {
	case syntax.FunctionDefinition, syntax.ClassDefinition, syntax.Lambda, syntax.GeneratorExpression:
		for at := parent; at != nil && !at.Captured; at = at.Parent {
			at.Captured = true
		}
	}
	s := &Scope{Node: n, Parent: parent, module: parent.module, bound: map[string]bool{}}
	b.scopes[n] = s
	return s
}

func (b *binder) children(n syntax.NodeID, s *Scope) {
	for c := range b.tree.Children(n) {
		b.visit(c, s)
	}
}

func (b *binder) visit(n syntax.NodeID, s *Scope) {
	t := b.tree
	switch t.Kind(n) {
	case syntax.FunctionDefinition:
		if name := t.Child(n, syntax.FieldName); name >= 0 {
			s.bound[t.Text(name)] = true
		}
		inner := b.open(n, s)
		inner.Async = len(t.Text(n)) > 5 && t.Text(n)[:5] == "async"
		params := t.Child(n, syntax.FieldParameters)
		b.parameters(params, inner, s)
		if typ := t.Child(n, syntax.FieldReturnType); typ >= 0 {
			b.visit(typ, s)
		}
		b.children(t.Child(n, syntax.FieldBody), inner)
	case syntax.Lambda:
		inner := b.open(n, s)
		b.parameters(t.Child(n, syntax.FieldParameters), inner, s)
		if body := t.Child(n, syntax.FieldBody); body >= 0 {
			b.visit(body, inner)
		}
	case syntax.ClassDefinition:
		if name := t.Child(n, syntax.FieldName); name >= 0 {
			s.bound[t.Text(name)] = true
		}
		if bases := t.Child(n, syntax.FieldSuperclasses); bases >= 0 {
			b.children(bases, s)
		}
		inner := b.open(n, s)
		inner.Class = true
		b.children(t.Child(n, syntax.FieldBody), inner)
	case syntax.ListComprehension, syntax.SetComprehension, syntax.DictionaryComprehension, syntax.GeneratorExpression:
		inner := b.open(n, s)
		inner.comprehds = true
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.ForInClause {
				b.target(t.Child(c, syntax.FieldLeft), inner)
			}
		}
		b.children(n, inner)
	case syntax.ForInClause:
		for c := range t.Children(n) {
			if t.Role(c) != syntax.FieldLeft {
				b.visit(c, s)
			}
		}
	case syntax.Assignment, syntax.AugmentedAssignment, syntax.ForStatement:
		b.target(t.Child(n, syntax.FieldLeft), s)
		b.children(n, s)
	case syntax.NamedExpression:
		at := s
		for at.comprehds && at.Parent != nil {
			at = at.Parent
		}
		b.target(t.Child(n, syntax.FieldName), at)
		b.children(n, s)
	case syntax.AsPatternTarget:
		for c := range t.Children(n) {
			b.target(c, s)
		}
	case syntax.CasePattern:
		b.capture(n, s)
	case syntax.GlobalStatement, syntax.NonlocalStatement:
		for c := range t.Children(n) {
			if t.Kind(n) == syntax.GlobalStatement {
				if s.global == nil {
					s.global = map[string]bool{}
				}
				s.global[t.Text(c)] = true
				s.module.bound[t.Text(c)] = true
			} else {
				if s.nonlocal == nil {
					s.nonlocal = map[string]bool{}
				}
				s.nonlocal[t.Text(c)] = true
			}
		}
	case syntax.DeleteStatement: // del x makes x a local, like an assignment
		for c := range t.Children(n) {
			b.target(c, s)
		}
		b.children(n, s)
	case syntax.ImportStatement:
		for c := range t.Children(n) {
			if alias := t.Child(c, syntax.FieldAlias); alias >= 0 {
				s.bound[t.Text(alias)] = true
			} else if first := t.First(c); first >= 0 {
				s.bound[t.Text(first)] = true
			}
		}
	case syntax.ImportFromStatement, syntax.FutureImportStatement:
		for c := range t.Children(n) {
			if t.Role(c) != syntax.FieldName {
				continue
			}
			if alias := t.Child(c, syntax.FieldAlias); alias >= 0 {
				s.bound[t.Text(alias)] = true
			} else {
				s.bound[t.Text(c)] = true
			}
		}
	case syntax.Yield:
		s.Generator = true
		b.children(n, s)
	default:
		b.children(n, s)
	}
}

// parameters binds the parameters in inner; defaults and annotations are read
// in outer.
func (b *binder) parameters(params syntax.NodeID, inner, outer *Scope) {
	t := b.tree
	for p := range t.Children(params) {
		switch t.Kind(p) {
		case syntax.Identifier:
			inner.bound[t.Text(p)] = true
		case syntax.DefaultParameter, syntax.TypedDefaultParameter:
			b.target(t.Child(p, syntax.FieldName), inner)
			if v := t.Child(p, syntax.FieldValue); v >= 0 {
				b.visit(v, outer)
			}
		case syntax.TypedParameter, syntax.ListSplatPattern, syntax.DictionarySplatPattern, syntax.TuplePattern:
			for c := range t.Children(p) {
				if t.Role(c) != syntax.FieldType {
					b.target(c, inner)
				}
			}
		}
	}
}

// target binds the names of an assignment target.
func (b *binder) target(n syntax.NodeID, s *Scope) {
	t := b.tree
	switch t.Kind(n) {
	case syntax.Identifier:
		s.bound[t.Text(n)] = true
	case syntax.PatternList, syntax.TuplePattern, syntax.ListPattern, syntax.ListSplatPattern, syntax.DictionarySplatPattern,
		syntax.Tuple, syntax.List, syntax.ExpressionList, syntax.ParenthesizedExpression, syntax.ListSplat:
		for c := range t.Children(n) {
			b.target(c, s)
		}
	}
}

// capture binds the names that a case pattern captures.
func (b *binder) capture(n syntax.NodeID, s *Scope) {
	t := b.tree
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.DottedName:
			ofClass := t.Kind(n) == syntax.ClassPattern && c == t.First(n)
			if first := t.First(c); first >= 0 && t.Next(first) < 0 && !ofClass {
				s.bound[t.Text(c)] = true
			}
		case syntax.Identifier:
			if t.Kind(n) != syntax.KeywordPattern { // there it names an attribute
				s.bound[t.Text(c)] = true
			}
		case syntax.AsPatternTarget:
			for d := range t.Children(c) {
				b.target(d, s)
			}
		default:
			b.capture(c, s)
		}
	}
}
