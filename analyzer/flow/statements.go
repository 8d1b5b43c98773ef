package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// block runs the statements below n in order.
func (in *interpreter) block(n syntax.NodeID) {
	if n < 0 {
		return
	}
	for c := range in.tree().Children(n) {
		if in.state == nil || in.stopped {
			return
		}
		in.statement(c)
	}
}

// statement runs one statement.
func (in *interpreter) statement(n syntax.NodeID) {
	if in.spent() || !in.deeper() {
		return
	}
	defer func() { in.nesting-- }()
	t := in.tree()
	switch t.Kind(n) {
	case syntax.ExpressionStatement:
		if t.Damaged(n) {
			return // half typed: what it says may not be what is meant
		}
		for c := range t.Children(n) {
			in.expression(c)
		}
	case syntax.Assignment:
		in.assignment(n)
	case syntax.AugmentedAssignment:
		in.augmented(n)
	case syntax.Block, syntax.Module:
		in.block(n)
	case syntax.IfStatement:
		in.conditional(n)
	case syntax.ForStatement:
		in.forLoop(n)
	case syntax.WhileStatement:
		in.whileLoop(n)
	case syntax.TryStatement:
		in.try(n)
	case syntax.WithStatement:
		in.with(n)
	case syntax.MatchStatement:
		in.match(n)
	case syntax.FunctionDefinition, syntax.ClassDefinition:
		in.define(n, nil)
	case syntax.DecoratedDefinition:
		var decorators []syntax.NodeID
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Decorator {
				decorators = append(decorators, t.First(c))
			}
		}
		in.define(t.Child(n, syntax.FieldDefinition), decorators)
	case syntax.ReturnStatement:
		v := noValue
		if first := t.First(n); first >= 0 {
			v = in.expression(first)
			in.returned(n, first, v)
		}
		in.giveOut(v)
		in.frame.result = join(in.frame.result, v)
		in.frame.returns = append(in.frame.returns, in.state)
		in.state = nil
	case syntax.RaiseStatement:
		for c := range t.Children(n) {
			in.expression(c)
		}
		in.state = nil
	case syntax.BreakStatement:
		if k := len(in.frame.loops); k > 0 {
			in.frame.loops[k-1].breaks = append(in.frame.loops[k-1].breaks, in.state)
			in.state = nil
		}
	case syntax.ContinueStatement:
		if k := len(in.frame.loops); k > 0 {
			in.frame.loops[k-1].continues = append(in.frame.loops[k-1].continues, in.state)
			in.state = nil
		}
	case syntax.DeleteStatement:
		in.delete(t.First(n))
	case syntax.ImportStatement:
		in.importModules(n)
	case syntax.ImportFromStatement:
		in.importNames(n)
	case syntax.AssertStatement, syntax.PrintStatement, syntax.ExecStatement:
		for c := range t.Children(n) {
			in.expression(c)
		}
	}
}
