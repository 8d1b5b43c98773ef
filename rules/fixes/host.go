package fixes

import (
	"fmt"
	"slices"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
)

// MoveToHost are the fixes of a pile on the device: each tensor is copied to
// host memory when it is stored.
func MoveToHost(p *rules.Pass, pile flow.Pile, tensors []flow.Piled) []rules.Fix {
	if meetsOthers(p.Module, pile.Target) {
		return nil
	}
	return eachTensor(pile, tensors, ".cpu()", func(what string) rules.Fix {
		fix := rules.Fix{Title: fmt.Sprintf("Store %s in host memory", what), Safety: rules.Safe}
		u := uses{module: p.Module, view: newView(p, p.Module, pile.Target.Module), target: pile.Target, loop: pile.Loop, collects: true}
		if pile.Escapes || !u.leavesDevice() {
			fix.Safety = rules.Unsafe
			fix.Title += " (what uses it later then runs there: check that)"
		}
		return fix
	})
}

// eachTensor is a fix that calls a method on each of some tensors, if the text
// shows all of them.
func eachTensor(pile flow.Pile, tensors []flow.Piled, method string, make func(what string) rules.Fix) []rules.Fix {
	var parts []flow.Part
	for _, t := range tensors {
		if !t.Alone || !t.Tensor && shown(t.Module, t.Node) != unknownForm {
			return nil
		}
		parts = append(parts, flow.Part{Location: t.Location})
	}
	what := source(pile.Kept)
	if len(parts) > 1 {
		what = "the tensors"
	}
	fix := make(what)
	fix.Edits = call(parts, method)
	for _, t := range tensors {
		if !t.Tensor {
			fix.Safety = rules.Unsafe
			fix.Title += fmt.Sprintf(" (check that %s is a tensor each time)", source(t.Location))
			break
		}
	}
	return []rules.Fix{fix}
}

// meetsOthers reports whether what is made of a list of tensors goes into a call or
// an operation together with something else, before it is brought to the host: that
// will be on the device, and the two do not go together.
func meetsOthers(m *names.Module, list flow.Location) bool {
	if list.Module != m || list.Kind() != syntax.Identifier {
		return false
	}
	w := meetWalk{m, map[variable]bool{}}
	return w.variable(variableAt(m, list.Node))
}

type meetWalk struct {
	module *names.Module
	seen   map[variable]bool
}

func (w meetWalk) variable(v variable) bool {
	if w.seen[v] {
		return false
	}
	w.seen[v] = true
	for n := range v.occurrences() {
		if w.meets(n) {
			return true
		}
	}
	return false
}

// joining are functions that make one tensor of a list of them.
var joining = []string{"cat", "concat", "concatenate", "stack", "vstack", "hstack"}

func (w meetWalk) meets(n syntax.NodeID) bool {
	t := w.module.Tree
	for {
		p := t.Parent(n)
		switch t.Kind(p) {
		case syntax.ParenthesizedExpression:
		case syntax.Attribute:
			if name := t.Text(t.Child(p, syntax.FieldAttribute)); slices.Contains([]string{"cpu", "numpy", "tolist", "item", "to", "append", "extend"}, name) {
				return false
			}
			if p = t.Parent(p); t.Kind(p) != syntax.Call {
				return false
			}
		case syntax.ArgumentList:
			call := t.Parent(p)
			if !slices.Contains(joining, lastName(t, t.Child(call, syntax.FieldFunction))) {
				return w.hasOthers(p, n)
			}
			p = call
		case syntax.BinaryOperator:
			left, right := t.Child(p, syntax.FieldLeft), t.Child(p, syntax.FieldRight)
			return left == n && !w.isNumber(right) || right == n && !w.isNumber(left)
		case syntax.Assignment:
			left := t.Child(p, syntax.FieldLeft)
			return t.Role(n) == syntax.FieldRight && t.Kind(left) == syntax.Identifier && w.variable(variableAt(w.module, left))
		default:
			return false
		}
		n = p
	}
}

// hasOthers reports whether a call is given more than n and constants, and does more
// than show it.
func (w meetWalk) hasOthers(list, n syntax.NodeID) bool {
	t := w.module.Tree
	if f := t.Child(t.Parent(list), syntax.FieldFunction); onlyRead[t.Text(f)] {
		return false
	}
	for a := range t.Children(list) {
		if a != n && t.Kind(a) != syntax.KeywordArgument && !w.isNumber(a) && t.Kind(a) != syntax.String {
			return true
		}
	}
	return false
}

func (w meetWalk) isNumber(n syntax.NodeID) bool {
	switch k := w.module.Tree.Kind(n); k {
	case syntax.Integer, syntax.Float, syntax.UnaryOperator, syntax.True, syntax.False, syntax.None:
		return true
	case syntax.Call:
		return w.module.Tree.Text(w.module.Tree.Child(n, syntax.FieldFunction)) == "len"
	}
	return false
}

// Appended is an expression with a method call behind it, in backquotes.
func Appended(l flow.Location, method string) string {
	return "`" + methodCall(l, method) + "`"
}

// hostWalk checks that what a list of tensors is used for works the same when
// they are in host memory: it goes there in any case.
type hostWalk struct{ floatWalk }

// leavesDevice reports whether all that a list of tensors is used for brings
// them to the host.
func (u uses) leavesDevice() bool {
	w := hostWalk{floatWalk{uses: u, seen: map[variable]bool{}}}
	return u.local() && w.variable(u.target.Node, true)
}

// variable checks every read of the name at n in its scope.
func (w hostWalk) variable(n syntax.NodeID, list bool) bool {
	return w.everyRead(variableAt(w.module, n), func(in floatWalk, read syntax.NodeID) bool {
		w := hostWalk{in}
		if list {
			return w.takesList(read)
		}
		return w.takesHost(read)
	})
}

// takesList reports whether the code around n, a list of tensors, accepts ones
// in host memory.
func (w hostWalk) takesList(n syntax.NodeID) bool {
	t := w.module.Tree
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.Assignment:
		return t.Role(n) == syntax.FieldLeft
	case syntax.AugmentedAssignment:
		return t.Role(n) == syntax.FieldLeft
	case syntax.Attribute:
		switch t.Text(t.Child(p, syntax.FieldAttribute)) {
		case "append", "extend", "insert", "clear":
			return t.Kind(t.Parent(p)) == syntax.Call
		}
	case syntax.ArgumentList:
		call := t.Parent(p)
		f := t.Child(call, syntax.FieldFunction)
		name := t.Text(f)
		if t.Kind(f) == syntax.Attribute {
			name = t.Text(t.Child(f, syntax.FieldAttribute))
		}
		switch name {
		case "len":
			return true
		case "cat", "concat", "concatenate", "stack", "vstack", "hstack":
			return w.takesHost(call)
		}
	}
	return false
}

// takesHost reports whether the code around n, a tensor, brings it to the host,
// or only asks what it is.
func (w hostWalk) takesHost(n syntax.NodeID) bool {
	t := w.module.Tree
	p := t.Parent(n)
	switch t.Kind(p) {
	case syntax.ParenthesizedExpression:
		return w.takesHost(p)
	case syntax.Assignment:
		left := t.Child(p, syntax.FieldLeft)
		return t.Role(n) == syntax.FieldLeft || t.Kind(left) == syntax.Identifier && w.variable(left, false)
	case syntax.Attribute:
		switch t.Text(t.Child(p, syntax.FieldAttribute)) {
		case "cpu", "numpy", "tolist", "item":
			return t.Kind(t.Parent(p)) == syntax.Call
		case "shape", "dtype", "ndim":
			return true
		case "size", "dim", "numel":
			return t.Kind(t.Parent(p)) == syntax.Call
		// Not what computes: a processor lacks operations on half precision, and
		// adds in another order.
		case "detach", "float", "double", "view", "reshape", "flatten", "squeeze", "unsqueeze", "contiguous", "argmax":
			return t.Kind(t.Parent(p)) == syntax.Call && w.takesHost(t.Parent(p))
		}
	case syntax.ArgumentList:
		switch t.Text(t.Child(t.Parent(p), syntax.FieldFunction)) {
		case "len", "float", "int":
			return true
		}
	case syntax.DeleteStatement:
		return true
	}
	return false
}
