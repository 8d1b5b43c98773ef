package names

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// A Statement is a statement at the top level of a module.
type Statement struct {
	Node  syntax.NodeID
	Binds []string // the names that it gives a value
	// Needs are the numbers of the statements whose names its code mentions, in the
	// order of the text, itself included.
	Needs []int
}

// statements are those of a module, found when first asked for.
type statements struct {
	once sync.Once
	all  []Statement
}

// Statements are the statements at the top level of the module, each with what its
// code refers to by name. What it reaches in other ways, through the attribute of an
// argument or a name made at run time, is not among it.
func (m *Module) Statements() []Statement {
	m.statements.once.Do(m.findStatements)
	return m.statements.all
}

// StatementAt is the number of the statement that a node is in, -1 for the module
// itself.
func (m *Module) StatementAt(n syntax.NodeID) int {
	all := m.Statements()
	i := sort.Search(len(all), func(i int) bool { return all[i].Node > n }) - 1
	if i >= 0 && n >= m.Tree.End(all[i].Node) {
		return -1
	}
	return i
}

func (m *Module) findStatements() {
	m.units.once.Do(m.findUnits)
	t := m.Tree
	number := map[syntax.NodeID]int{}
	for n := range t.Children(t.Root()) {
		number[n] = len(m.statements.all)
		m.statements.all = append(m.statements.all, Statement{Node: n})
	}
	units := make([][]int, len(m.units.all))
	for i, unit := range m.units.all {
		for _, n := range unit {
			units[i] = append(units[i], number[n])
		}
	}
	for _, s := range m.units.touched {
		m.statements.all[number[s.node]].Binds = s.bound
	}
	mentioned := make([]int, len(units)) // by which statement last, counted from 1
	for i := range m.statements.all {
		s := &m.statements.all[i]
		s.Needs = append(s.Needs, i)
		m.references(s.Node, m.scopes[t.Root()], func(name string) {
			if unit := m.units.byName[name]; mentioned[unit] != i+1 {
				mentioned[unit] = i + 1
				s.Needs = append(s.Needs, units[unit]...)
			}
		})
		slices.Sort(s.Needs)
		s.Needs = slices.Compact(s.Needs)
	}
}

// references are the names of the module's own that the code at n, in scope s, refers
// to.
func (m *Module) references(n syntax.NodeID, s *Scope, yield func(string)) {
	t := m.Tree
	switch t.Kind(n) {
	case syntax.Identifier:
		name := t.Text(n)
		if _, own := m.units.byName[name]; own && t.Role(n) != syntax.FieldAttribute && s.Lookup(name) == s.module {
			yield(name)
		}
		return
	case syntax.String: // an annotation that is written as one
		if name := strings.Trim(t.Text(n), `"'`); t.First(n) >= 0 && len(name) < 100 {
			if _, own := m.units.byName[name]; own {
				yield(name)
			}
		}
	case syntax.KeywordArgument:
		m.references(t.Child(n, syntax.FieldValue), s, yield)
		return
	case syntax.FunctionDefinition, syntax.Lambda:
		inner := m.scopes[n]
		for p := range t.Children(t.Child(n, syntax.FieldParameters)) {
			for _, f := range []syntax.Field{syntax.FieldValue, syntax.FieldType} {
				if c := t.Child(p, f); c >= 0 {
					m.references(c, s, yield)
				}
			}
		}
		if c := t.Child(n, syntax.FieldReturnType); c >= 0 {
			m.references(c, s, yield)
		}
		if c := t.Child(n, syntax.FieldBody); c >= 0 && inner != nil {
			m.references(c, inner, yield)
		}
		return
	case syntax.ClassDefinition:
		if c := t.Child(n, syntax.FieldSuperclasses); c >= 0 {
			m.references(c, s, yield)
		}
	}
	if inner := m.scopes[n]; inner != nil {
		s = inner
	}
	for c := range t.Children(n) {
		m.references(c, s, yield)
	}
}

// Closure are the numbers of the statements that some statements need, themselves
// included, and of what those need in turn, in the order of the text. Statements that
// import all names of a module belong to every closure.
func (m *Module) Closure(from ...int) []int {
	all := m.Statements()
	in := make([]bool, len(all))
	var out []int
	var add func(i int)
	add = func(i int) {
		if in[i] {
			return
		}
		in[i] = true
		out = append(out, i)
		for _, needed := range all[i].Needs {
			add(needed)
		}
	}
	for _, i := range from {
		add(i)
	}
	for _, n := range m.Stars() {
		add(m.StatementAt(n))
	}
	slices.Sort(out)
	return out
}

// DeclaredGlobal are the names that functions of the module declare global, to give
// them other values.
func (m *Module) DeclaredGlobal() map[string]bool {
	out := map[string]bool{}
	for _, s := range m.scopes {
		for name := range s.global {
			out[name] = true
		}
	}
	return out
}
