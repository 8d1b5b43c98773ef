package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// This file divides the statements of a module: those that say what names stand for,
// those that do something, and which of them share something that can be changed.

// definitions are the statements that say what names stand for: all but those that
// may take long to run.
func (p *program) definitions() []int {
	var out []int
	for i, s := range p.main.Statements() {
		if p.isDefinition(s.Node) || p.isBrief(s.Node) {
			out = append(out, i)
		}
	}
	return out
}

// isDefinition reports whether a statement does nothing but to say what names stand
// for.
func (p *program) isDefinition(n syntax.NodeID) bool {
	t := p.main.Tree
	switch t.Kind(n) {
	case syntax.ImportStatement, syntax.ImportFromStatement, syntax.FutureImportStatement, syntax.PassStatement:
		return true
	case syntax.FunctionDefinition, syntax.ClassDefinition, syntax.DecoratedDefinition:
		return !p.repeats(n)
	case syntax.ExpressionStatement:
		e := t.First(n)
		return e >= 0 && (t.Kind(e) == syntax.String || t.Kind(e) == syntax.Assignment && !p.calls(e, func(syntax.NodeID) bool { return true }) && !p.repeats(e))
	case syntax.TryStatement, syntax.IfStatement:
		for c := range t.Children(n) {
			switch t.Kind(c) {
			case syntax.Block:
			case syntax.ElseClause, syntax.ExceptClause, syntax.FinallyClause, syntax.ElifClause:
				if c = t.Child(c, syntax.FieldBody); c < 0 {
					continue
				}
			default:
				continue
			}
			for s := range t.Children(c) {
				if !p.isDefinition(s) {
					return false
				}
			}
		}
		return true
	}
	return false
}

// isBrief reports whether a statement is an assignment that calls no function of the
// module.
func (p *program) isBrief(n syntax.NodeID) bool {
	t := p.main.Tree
	e := t.First(n)
	if t.Kind(n) != syntax.ExpressionStatement || e < 0 || t.Kind(e) != syntax.Assignment || p.repeats(e) {
		return false
	}
	return !p.calls(e, func(callee syntax.NodeID) bool {
		for k := t.Kind(callee); k == syntax.Attribute || k == syntax.Call || k == syntax.Subscript; k = t.Kind(callee) {
			callee = t.First(callee)
		}
		if t.Kind(callee) != syntax.Identifier {
			return true
		}
		_, unit, own := p.main.Unit(t.Text(callee))
		return own && slices.ContainsFunc(unit, func(s syntax.NodeID) bool {
			return t.Kind(s) != syntax.ImportStatement && t.Kind(s) != syntax.ImportFromStatement
		})
	})
}

// calls reports whether the code at n itself calls something that is of interest.
func (p *program) calls(n syntax.NodeID, of func(callee syntax.NodeID) bool) bool {
	t := p.main.Tree
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.Call:
			if of(t.Child(c, syntax.FieldFunction)) {
				return true
			}
		case syntax.Lambda:
			c = t.End(c) - 1
		}
	}
	return false
}

// repeats reports whether the code at n, and not that of a function in it, has a loop.
func (p *program) repeats(n syntax.NodeID) bool {
	t := p.main.Tree
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.ForStatement, syntax.WhileStatement, syntax.ListComprehension, syntax.SetComprehension, syntax.DictionaryComprehension, syntax.GeneratorExpression:
			return true
		case syntax.Block:
			if k := t.Kind(t.Parent(c)); k == syntax.FunctionDefinition {
				c = t.End(c) - 1
			}
		}
	}
	return false
}

// share decides which statements belong to the group of the module: those that do
// something, and whatever refers to a name whose value they may change, or which
// functions may change for each other.
func (p *program) share(layout *group) {
	all := p.main.Statements()
	planned := make([]bool, len(all))
	for _, i := range layout.statements {
		planned[i] = true
	}
	global := p.main.DeclaredGlobal()
	module := layout.module.object
	state := make([]bool, len(all)) // whether it makes something that can be changed
	var doing []int
	for i, s := range all {
		definition := p.isDefinition(s.Node)
		if !definition {
			doing = append(doing, i)
		}
		state[i] = len(s.Binds) > 0 && !planned[i] || slices.ContainsFunc(s.Binds, func(name string) bool {
			return global[name] || !layout.isFixed(layout.base.get(Place{module, layout.symbol(name)}))
		})
	}
	p.shares = make([]bool, len(all))
	from := doing
	p.closures = make([][]int, len(all))
	for i := range all {
		p.closures[i] = p.main.Closure(i)
		if slices.ContainsFunc(p.closures[i], func(j int) bool { return state[j] }) {
			p.shares[i] = true
			from = append(from, i)
		}
	}
	p.common = &group{about: []int{-1}}
	if len(from) > 0 {
		p.common.statements = p.main.Closure(from...)
	}
}

// isFixed reports whether a value cannot come to hold anything: a literal, a
// function, a class, something of a library that says what is logged.
func (in *interpreter) isFixed(v *Value) bool {
	if v == nil {
		return true
	}
	if len(v.atoms) > 0 || v.memory != nil || v.kinds == KindTensor {
		return false
	}
	for _, e := range v.elements {
		if !in.isFixed(e) {
			return false
		}
	}
	for _, id := range v.objects {
		switch info := in.objects[id]; info.kind {
		case objectFunction, objectClass, objectLibrary, objectImport, objectScope:
		case objectUnknown:
			if info.model || info.optimizer || info.hasModel || in.grows(id) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
