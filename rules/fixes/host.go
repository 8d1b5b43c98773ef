package fixes

import (
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
)

// MoveToHost are the fixes of a pile on the device: each tensor is copied to
// host memory when it is stored.
func MoveToHost(p *rules.Pass, pile flow.Pile, tensors []flow.Piled) []rules.Fix {
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
		if !t.Alone {
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
