package names

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Unit is the top-level statements of a module, in order, that bind or change
// some names and no others do. Running one unit gives its names the values that
// running the whole module would.
type Unit []syntax.NodeID

// units are those of a module, found when first asked for: most modules of a
// workspace are asked for two or three of their names.
type units struct {
	once   sync.Once
	all    []Unit
	byName map[string]int
	stars  []syntax.NodeID
	// touched is what each statement touches.
	touched []touched
}

// Unit is the unit that gives name its value, and its number in the module; ok
// is false when no top-level statement binds the name.
func (m *Module) Unit(name string) (number int, unit Unit, ok bool) {
	m.units.once.Do(m.findUnits)
	number, ok = m.units.byName[name]
	if ok {
		unit = m.units.all[number]
	}
	return number, unit, ok
}

// Stars are the statements from … import * at the top level, in order.
func (m *Module) Stars() []syntax.NodeID {
	m.units.once.Do(m.findUnits)
	return m.units.stars
}

// Exports are the names that a from … import * takes from the module's own
// statements, sorted.
func (m *Module) Exports() []string {
	m.units.once.Do(m.findUnits)
	var out []string
	for name := range m.units.byName {
		if !strings.HasPrefix(name, "_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// touched are the names that one top-level statement binds, and those whose
// values it changes: X in X.y = z, X[y] = z, X.f(y).
type touched struct {
	node           syntax.NodeID
	bound, changed []string
}

// findUnits joins the statements that touch the same names. What is done to
// something imported does not join: sys.path.append and the like would tie
// together what has nothing to do with each other.
func (m *Module) findUnits() {
	t := m.Tree
	var statements []touched
	own, imported := map[string]bool{}, map[string]bool{}
	for n := range t.Children(t.Root()) {
		kind := t.Kind(n)
		if kind == syntax.ImportFromStatement && hasWildcard(t, n) {
			m.units.stars = append(m.units.stars, n)
			continue
		}
		s := touch(t, n)
		for _, name := range s.bound {
			own[name] = true
			if kind == syntax.ImportStatement || kind == syntax.ImportFromStatement {
				imported[name] = true
			}
		}
		statements = append(statements, s)
	}
	// Union-find: each name leads to the name that stands for its unit.
	leads := map[string]string{}
	for name := range own {
		leads[name] = name
	}
	find := func(name string) string {
		for leads[name] != name {
			name = leads[name]
		}
		return name
	}
	kept := statements[:0]
	for _, s := range statements {
		s.changed = slices.DeleteFunc(s.changed, func(name string) bool { return !own[name] || imported[name] })
		m.units.touched = append(m.units.touched, s)
		s.bound = append(s.bound, s.changed...)
		for _, name := range s.bound {
			leads[find(name)] = find(s.bound[0])
		}
		if len(s.bound) > 0 {
			kept = append(kept, s)
		}
	}
	numbers := map[string]int{}
	for _, s := range kept {
		first := find(s.bound[0])
		number, ok := numbers[first]
		if !ok {
			number = len(m.units.all)
			numbers[first] = number
			m.units.all = append(m.units.all, nil)
		}
		m.units.all[number] = append(m.units.all[number], s.node)
	}
	m.units.byName = make(map[string]int, len(own))
	for name := range own {
		m.units.byName[name] = numbers[find(name)]
	}
}

// hasWildcard reports whether an import takes every name.
func hasWildcard(t *syntax.Tree, n syntax.NodeID) bool {
	for c := range t.Children(n) {
		if t.Kind(c) == syntax.WildcardImport {
			return true
		}
	}
	return false
}

// touch finds the names that a top-level statement binds and changes.
func touch(t *syntax.Tree, n syntax.NodeID) touched {
	out := touched{node: n}
	definition := n
	if t.Kind(n) == syntax.DecoratedDefinition {
		definition = t.Child(n, syntax.FieldDefinition)
	}
	if k := t.Kind(definition); k == syntax.FunctionDefinition || k == syntax.ClassDefinition {
		if name := t.Child(definition, syntax.FieldName); name >= 0 {
			out.bound = []string{t.Text(name)}
		}
		return out
	}
	root := &Scope{Node: n, bound: map[string]bool{}}
	root.module = root
	b := binder{tree: t, scopes: map[syntax.NodeID]*Scope{}}
	b.visit(n, root)
	out.bound = slices.Sorted(maps.Keys(root.bound))
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.FunctionDefinition, syntax.ClassDefinition, syntax.Lambda:
			c = t.End(c) - 1
		case syntax.Assignment, syntax.AugmentedAssignment:
			out.change(t, t.Child(c, syntax.FieldLeft))
		case syntax.DeleteStatement:
			for d := range t.Children(c) {
				out.change(t, d)
			}
		case syntax.ForStatement:
			out.change(t, t.Child(c, syntax.FieldRight))
		case syntax.ExpressionStatement:
			out.change(t, t.First(c))
		}
	}
	return out
}

// change notes the name at the root of x.y, x[y] and x.f(y).
func (s *touched) change(t *syntax.Tree, n syntax.NodeID) {
	for depth := 0; n >= 0; depth++ {
		switch t.Kind(n) {
		case syntax.Attribute, syntax.Subscript:
			n = t.First(n)
			continue
		case syntax.Call:
			if n = t.Child(n, syntax.FieldFunction); t.Kind(n) == syntax.Attribute {
				continue
			}
			return
		case syntax.Identifier:
			if depth > 0 {
				s.changed = append(s.changed, t.Text(n))
			}
		}
		return
	}
}
