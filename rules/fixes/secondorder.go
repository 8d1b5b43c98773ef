package fixes

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// AskForGradients are the fixes of a backward with create_graph that leave .grad
// alone: torch.autograd.grad gives the gradients to those who read them in the same
// function, and one backward runs on the sum of the loss and what is made of them.
// Where nothing reads them before the optimizer does, the argument is left out.
func AskForGradients(g flow.GradientGraph) []rules.Fix {
	s := &secondOrder{Location: g.Call}
	if fix, ok := s.leaveOut(g); ok {
		return []rules.Fix{fix}
	}
	if fix, ok := s.ask(); ok {
		return []rules.Fix{fix}
	}
	return nil
}

// secondOrder is the rewriting of a function around such a backward.
type secondOrder struct {
	flow.Location // the backward
	edits         []rules.FileEdit
}

const (
	gradients = "grads" // what the fix calls all gradients
	gradient  = "grad"  // and one of them
)

func (s *secondOrder) edit(span text.Span, code string) {
	s.edits = append(s.edits, rules.FileEdit{Path: s.Module.Path, Edit: text.Edit{Span: span, New: code}})
}

func (s *secondOrder) function() syntax.NodeID { return functionAround(s.Module.Tree, s.Node) }

// readings are the expressions p.grad in the function.
func (s *secondOrder) readings() []syntax.NodeID {
	t := s.Module.Tree
	var out []syntax.NodeID
	for n := s.function(); n < t.End(s.function()); n++ {
		if t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == "grad" && t.Kind(t.Parent(n)) != syntax.Call {
			out = append(out, n)
		}
	}
	return out
}

// leaveOut removes the argument where the optimizer steps right after the backward.
func (s *secondOrder) leaveOut(g flow.GradientGraph) (rules.Fix, bool) {
	t := s.Module.Tree
	if g.Step.Module != s.Module || g.Argument.Module != s.Module || len(s.readings()) > 0 {
		return rules.Fix{}, false
	}
	if backward, step := statementOf(t, s.Node), statementOf(t, g.Step.Node); backward < 0 || t.Next(backward) != step {
		return rules.Fix{}, false
	}
	return rules.Fix{
		Title:  fmt.Sprintf("Remove `%s` (check that the optimizer does not differentiate the gradients)", Shorten(g.Argument.Text(), 30)),
		Safety: rules.Unsafe, Edits: []rules.FileEdit{dropArgument(g.Argument)},
	}, true
}

// ask puts torch.autograd.grad in the place of the backward.
func (s *secondOrder) ask() (rules.Fix, bool) {
	t := s.Module.Tree
	statement := statementOf(t, s.Node)
	callee := t.Child(s.Node, syntax.FieldFunction)
	readings := s.readings()
	if statement < 0 || t.Parent(s.Node) != statement || !standsAlone(t, statement) || t.Kind(callee) != syntax.Attribute || len(readings) == 0 ||
		mentions(t, s.function(), gradients) || mentions(t, s.function(), gradient) {
		return rules.Fix{}, false
	}
	for a := range t.Children(t.Child(s.Node, syntax.FieldArguments)) {
		if t.Kind(a) != syntax.KeywordArgument || !strings.HasSuffix(t.Text(t.Child(a, syntax.FieldName)), "_graph") {
			return rules.Fix{}, false
		}
	}
	alias, ok := torchAlias(s.Location)
	if !ok {
		return rules.Fix{}, false
	}
	for _, e := range alias.edits {
		s.edit(e.Span, e.New)
	}
	model, unused := "", ""
	bound := map[syntax.NodeID]bool{}
	for _, n := range readings {
		p := t.Parent(n)
		if n < s.Node || t.Kind(t.Child(n, syntax.FieldObject)) != syntax.Identifier || s.isSet(n) || s.isReset(p) {
			return rules.Fix{}, false
		}
		of, ok := s.bind(n, bound)
		if !ok || model != "" && of != model {
			return rules.Fix{}, false
		}
		if model = of; t.Kind(p) == syntax.ComparisonOperator {
			unused = ", allow_unused=True"
		}
		s.edit(t.Span(n), gradient)
	}
	loss := t.Child(callee, syntax.FieldObject)
	s.edit(t.Span(statement), fmt.Sprintf("%s = %s.autograd.grad(%s, list(%s.parameters()), create_graph=True%s)", gradients, alias.name, t.Text(loss), model, unused))
	fix := rules.Fix{Title: fmt.Sprintf("Take the gradients from `%s.autograd.grad`", alias.name), Safety: rules.Unsafe}
	if s.addToBackward(statement, loss) {
		fix.Title += ", and run one backward on the sum of both losses (check that nothing else reads `.grad` before that)"
	} else {
		fix.Title += " (check that nothing else reads `.grad`: no optimizer sees them)"
	}
	fix.Edits = s.edits
	return fix, true
}

// isSet reports whether a statement gives n another value or deletes it.
func (s *secondOrder) isSet(n syntax.NodeID) bool {
	t := s.Module.Tree
	switch t.Kind(t.Parent(n)) {
	case syntax.Assignment, syntax.AugmentedAssignment:
		return t.Role(n) == syntax.FieldLeft
	case syntax.DeleteStatement, syntax.PatternList, syntax.TuplePattern:
		return true
	}
	return false
}

// isReset reports whether n, which is made of a gradient, changes it in place.
func (s *secondOrder) isReset(n syntax.NodeID) bool {
	t := s.Module.Tree
	for ; t.Kind(n) == syntax.Attribute; n = t.Parent(n) {
		if name := t.Text(t.Child(n, syntax.FieldAttribute)); strings.HasSuffix(name, "_") {
			return true
		}
	}
	return false
}

// bind lets the loop or comprehension that binds p, of a reading p.grad, bind the
// gradient too. It tells of what the loop takes the parameters.
func (s *secondOrder) bind(reading syntax.NodeID, bound map[syntax.NodeID]bool) (model string, ok bool) {
	t := s.Module.Tree
	name := t.Text(t.Child(reading, syntax.FieldObject))
	for n := t.Parent(reading); n > s.function(); n = t.Parent(n) {
		loops := []syntax.NodeID{n}
		switch t.Kind(n) {
		case syntax.ForStatement:
		case syntax.ListComprehension, syntax.GeneratorExpression, syntax.SetComprehension, syntax.DictionaryComprehension:
			loops = nil
			for c := range t.Children(n) {
				if t.Kind(c) == syntax.ForInClause {
					loops = append(loops, c)
				}
			}
		default:
			continue
		}
		for _, loop := range loops {
			if mentions(t, t.Child(loop, syntax.FieldLeft), name) {
				return s.bindIn(loop, name, bound)
			}
		}
	}
	return "", false
}

// bindIn adds the gradient to what a loop over parameters binds.
func (s *secondOrder) bindIn(loop syntax.NodeID, name string, bound map[syntax.NodeID]bool) (model string, ok bool) {
	t := s.Module.Tree
	left, over := t.Child(loop, syntax.FieldLeft), t.Child(loop, syntax.FieldRight)
	if t.Kind(over) != syntax.Call {
		return "", false
	}
	f, list := t.Child(over, syntax.FieldFunction), t.Child(over, syntax.FieldArguments)
	zipped := t.Text(f) == "zip"
	target := t.Text(left)
	switch {
	case zipped && (t.Kind(left) == syntax.PatternList || t.Kind(left) == syntax.TuplePattern):
		position, found := 0, syntax.NoNode
		for c := range t.Children(left) {
			if t.Text(c) == name {
				found = at(t, list, position)
			}
			position++
		}
		if found < 0 || t.Kind(found) != syntax.Call {
			return "", false
		}
		model, ok = parametersOf(t, found, "parameters")
	case target == name:
		model, ok = parametersOf(t, over, "parameters")
	default:
		model, ok = parametersOf(t, over, "named_parameters")
		target = "(" + strings.Trim(target, "()") + ")"
	}
	if !ok || bound[loop] {
		return model, ok
	}
	bound[loop] = true
	if !zipped {
		s.edit(t.Span(left), target+", "+gradient)
		s.edit(t.Span(over), fmt.Sprintf("zip(%s, %s)", t.Text(over), gradients))
		return model, true
	}
	end, last := t.Span(left).End, t.Span(list).End-1
	if t.Kind(left) == syntax.TuplePattern {
		end--
	}
	s.edit(text.Span{Start: end, End: end}, ", "+gradient)
	s.edit(text.Span{Start: last, End: last}, ", "+gradients)
	return model, true
}

// at is the child of n at a position, or NoNode.
func at(t *syntax.Tree, n syntax.NodeID, position int) syntax.NodeID {
	for c := range t.Children(n) {
		if position == 0 {
			return c
		}
		position--
	}
	return syntax.NoNode
}

// parametersOf is the model whose parameters a call lists.
func parametersOf(t *syntax.Tree, call syntax.NodeID, method string) (model string, ok bool) {
	f := t.Child(call, syntax.FieldFunction)
	if t.Kind(f) != syntax.Attribute || t.Text(t.Child(f, syntax.FieldAttribute)) != method || t.First(t.Child(call, syntax.FieldArguments)) >= 0 {
		return "", false
	}
	return t.Text(t.Child(f, syntax.FieldObject)), true
}

// addToBackward lets the one backward behind the statement, in the same block, run
// on the loss too.
func (s *secondOrder) addToBackward(statement, loss syntax.NodeID) bool {
	t := s.Module.Tree
	found := syntax.NoNode
	for n := t.Next(statement); n >= 0; n = t.Next(n) {
		if t.Kind(n) != syntax.ExpressionStatement || t.Kind(t.First(n)) != syntax.Call {
			continue
		}
		call := t.First(n)
		f := t.Child(call, syntax.FieldFunction)
		if t.Kind(f) != syntax.Attribute || lastName(t, f) != "backward" {
			continue
		}
		if found >= 0 || mentions(t, t.Child(f, syntax.FieldObject), t.Text(loss)) || t.Kind(loss) != syntax.Identifier {
			return false
		}
		found = t.Child(f, syntax.FieldObject)
	}
	if found < 0 {
		return false
	}
	code := t.Text(found)
	if t.Kind(found) == syntax.ParenthesizedExpression {
		code = strings.TrimSuffix(strings.TrimPrefix(code, "("), ")")
	}
	s.edit(t.Span(found), fmt.Sprintf("(%s + %s)", t.Text(loss), code))
	return true
}
