package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// An exception has a traceback, the traceback has the frames that it left, and
// the frames have their variables: what a try statement computed before it failed
// lives as long as the exception does, and while its handler runs.

// Recovery is a handler of a failure to allocate that computes anew, while the
// exception still holds what was there when it failed.
type Recovery struct {
	Try       Location // the try statement
	Handler   Location // the except clause
	Condition Location // what tells a failure to allocate from others
	// First is the statement that computes; it and those after it in its block
	// are the recovery.
	First Location
	// At is the statement that makes the call which computes: First or one within.
	At Location
	// Variable is the name of the exception, empty without one.
	Variable string
	// Again says that it is the call of the try statement, or of the function
	// around it, that is made again.
	Again bool
}

// KeptException is an exception in a variable of the function that caught it: it
// holds its traceback, that the frame of the function, and that the exception.
type KeptException struct {
	Store    Location // the assignment
	Variable string
	Try      Location
	Made     []Location // what the try statement computed
	Loop     Location   // that calls the function
}

// attempt is a block that runs, of which is asked what it computes.
type attempt struct {
	outer *attempt
	made  atoms // what was computed since it began
}

// attempted runs the body of a try statement and gives what it may raise, with all
// that it computed.
func (in *interpreter) attempted(body func()) *Value {
	id, _ := in.newObject(objectKey{kind: objectException})
	v := object(id)
	v.atoms = in.computed(body)
	return v
}

// computed runs code and gives the operations that it recorded.
func (in *interpreter) computed(code func()) atoms {
	a := &attempt{outer: in.attempt}
	in.attempt = a
	code()
	in.attempt = a.outer
	slices.Sort(a.made)
	return slices.Compact(a.made)
}

// attempts notes an origin for the blocks that run.
func (in *interpreter) attempts(x Atom, r recorded) {
	if r.sure > Possible && !r.parameter {
		in.recordings++
	}
	if r.sure < Likely || r.leaf || r.parameter {
		return
	}
	for a := in.attempt; a != nil; a = a.outer {
		a.made = append(a.made, x)
	}
}

// isException reports whether a value is an exception that was caught, or holds
// one.
func (in *interpreter) isException(v *Value, depth int) bool {
	if v == nil || depth > 2 {
		return false
	}
	return in.anyIs(v, objectException) || slices.ContainsFunc(v.elements, func(e *Value) bool { return in.isException(e, depth+1) })
}

// handle runs an except clause of a try statement; e is what it catches.
func (in *interpreter) handle(try, clause syntax.NodeID, e *Value) {
	t := in.tree()
	outer, recordings := in.handling, in.recordings
	in.handling = e
	for d := range t.Children(clause) {
		if t.Kind(d) == syntax.Block {
			in.block(d)
		} else {
			in.expression(d)
		}
	}
	in.handling = outer
	if in.dry || in.frame.module != in.main {
		return
	}
	in.recovers(try, clause, in.recordings != recordings)
	in.keepsException(try, clause, e)
}

// recovers looks whether a handler of a failure to allocate computes.
func (in *interpreter) recovers(try, clause syntax.NodeID, active bool) {
	t, m := in.tree(), in.main
	handler := Location{m, clause}
	block, condition := in.allocationHandler(clause)
	if block < 0 {
		return
	}
	tried := calledTexts(t, t.Child(try, syntax.FieldBody))
	for s := range t.Children(block) {
		again, computes, at := false, false, s
		for n := s; n < t.End(s); n++ {
			if t.Kind(n) != syntax.Call {
				continue
			}
			callee := t.Child(n, syntax.FieldFunction)
			name := callee
			if t.Kind(callee) == syntax.Attribute {
				name = t.Child(callee, syntax.FieldAttribute)
			}
			was := again || computes
			switch {
			case torch.ModuleMethods[t.Text(name)]: // zero_grad and the like compute nothing
			case in.callsItself(n), tried[t.Text(callee)] && in.computes(n):
				again = true
			case active && (torch.BackwardMethods[t.Text(name)] || in.computes(n)):
				computes = true
			}
			if !was && (again || computes) {
				at = innermostStatement(t, n)
			}
		}
		if t.Kind(s) == syntax.RaiseStatement {
			return
		}
		if again || computes {
			r := Recovery{Try: Location{m, try}, Handler: handler, Condition: Location{m, condition}, First: Location{m, s}, At: Location{m, at}, Again: again}
			for n := clause; n < t.End(clause) && n < block; n++ {
				if t.Kind(n) == syntax.AsPatternTarget {
					r.Variable = t.Text(n)
				}
			}
			in.recoveries[handler] = r
			return
		}
	}
}

// callsItself reports whether a call is one of the function that runs.
func (in *interpreter) callsItself(call syntax.NodeID) bool {
	t, c := in.tree(), in.frame.code
	if c == nil {
		return false
	}
	callee := t.Child(call, syntax.FieldFunction)
	if t.Kind(callee) == syntax.Attribute {
		if in.symbol(t.Text(t.Child(callee, syntax.FieldObject))) != in.firstParameter(c) {
			return false
		}
		callee = t.Child(callee, syntax.FieldAttribute)
	}
	return t.Text(callee) == t.Text(t.Child(c.node, syntax.FieldName))
}

// innermostStatement is the statement that n is part of.
func innermostStatement(t *syntax.Tree, n syntax.NodeID) syntax.NodeID {
	for p := t.Parent(n); p >= 0 && t.Kind(p) != syntax.Block && t.Kind(p) != syntax.Module; p = t.Parent(n) {
		n = p
	}
	return n
}

// computes reports whether a call is one of a module or of a function of the
// program that records operations, or gave a graph.
func (in *interpreter) computes(call syntax.NodeID) bool {
	t := in.tree()
	if v := in.valueOf(call); v != nil && in.sure(v.atoms) >= Likely {
		return true
	}
	f := in.valueOf(t.Child(call, syntax.FieldFunction))
	if f == nil {
		return false
	}
	for _, id := range f.objects {
		info := in.objects[id]
		if info.kind == objectModule || info.model || info.kind == objectInstance && in.isModuleClass(info.class) {
			return true
		}
		if c := in.hookCode(id); c != nil {
			if h := in.histories[codeKey{c.module, c.node}]; h != nil && h.computes {
				return true
			}
		}
	}
	return false
}

// calledTexts are the callees below n as they are written.
func calledTexts(t *syntax.Tree, n syntax.NodeID) map[string]bool {
	out := map[string]bool{}
	for c := n; n >= 0 && c < t.End(n); c++ {
		if t.Kind(c) == syntax.Call {
			out[t.Text(t.Child(c, syntax.FieldFunction))] = true
		}
	}
	return out
}

// allocationHandler finds the block of an except clause that runs when memory
// could not be allocated, and what says so: the class of the exception, or a
// condition on its text. The block is NoNode where there is none.
func (in *interpreter) allocationHandler(clause syntax.NodeID) (block, condition syntax.NodeID) {
	t := in.tree()
	body := syntax.NoNode
	for d := range t.Children(clause) {
		if t.Kind(d) == syntax.Block {
			body = d
			continue
		}
		for n := d; n < t.End(d); n++ {
			if name := t.Text(n); (t.Kind(n) == syntax.Attribute || t.Kind(n) == syntax.Identifier) && torch.AllocationError(name) {
				condition = d
			}
		}
	}
	if body < 0 || condition > 0 {
		return body, condition
	}
	for s := range t.Children(body) {
		if t.Kind(s) != syntax.IfStatement {
			continue
		}
		c := t.Child(s, syntax.FieldCondition)
		if !in.asksForMemory(c) {
			continue
		}
		if then := t.Child(s, syntax.FieldConsequence); !isNegated(t, c) {
			return then, c
		} else if leaves(t, then) {
			return body, c // if not …: raise
		}
		for a := range t.Children(s) {
			if t.Kind(a) == syntax.ElseClause {
				return t.Child(a, syntax.FieldBody), c
			}
		}
	}
	return syntax.NoNode, syntax.NoNode
}

// leaves reports whether a block always leaves the one around it.
func leaves(t *syntax.Tree, block syntax.NodeID) bool {
	for s := range t.Children(block) {
		switch t.Kind(s) {
		case syntax.RaiseStatement, syntax.ReturnStatement, syntax.ContinueStatement, syntax.BreakStatement:
			return true
		}
	}
	return false
}

// isNegated reports whether a condition is not … or … not in ….
func isNegated(t *syntax.Tree, condition syntax.NodeID) bool {
	for t.Kind(condition) == syntax.ParenthesizedExpression {
		condition = t.First(condition)
	}
	if t.Kind(condition) == syntax.NotOperator {
		return true
	}
	return t.Kind(condition) == syntax.ComparisonOperator && t.Text(t.Child(condition, syntax.FieldOperators)) == "not in"
}

// asksForMemory reports whether a condition looks for the text of a failure to
// allocate, itself or in a function that it calls.
func (in *interpreter) asksForMemory(condition syntax.NodeID) bool {
	t := in.tree()
	if saysOutOfMemory(t, condition) {
		return true
	}
	for n := condition; n < t.End(condition); n++ {
		if t.Kind(n) != syntax.Call {
			continue
		}
		f := in.valueOf(t.Child(n, syntax.FieldFunction))
		if f == nil {
			continue
		}
		for _, id := range f.objects {
			if c := in.hookCode(id); c != nil && saysOutOfMemory(c.module.Tree, c.node) {
				return true
			}
			if torch.AllocationError(in.objects[id].name) {
				return true
			}
		}
	}
	return false
}

// saysOutOfMemory reports whether a string below n has the words of the error, or
// the name of its class stands there.
func saysOutOfMemory(t *syntax.Tree, n syntax.NodeID) bool {
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.String:
			if strings.Contains(strings.ToLower(t.Text(c)), "out of memory") {
				return true
			}
		case syntax.Attribute, syntax.Identifier:
			if torch.AllocationError(t.Text(c)) {
				return true
			}
		}
	}
	return false
}

// keepsException looks whether a handler stores what it caught in a variable of
// the function, which a loop calls.
func (in *interpreter) keepsException(try, clause syntax.NodeID, e *Value) {
	t, m := in.tree(), in.main
	f := in.frame
	if len(e.atoms) == 0 || f.code == nil || in.loop == nil || isWithin(in.loop.frame, f) || in.loop.steps.few {
		return
	}
	for n := clause; n < t.End(clause); n++ {
		left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
		if t.Kind(n) != syntax.Assignment || right < 0 || t.Kind(left) != syntax.Identifier || !in.isException(in.valueOf(right), 0) {
			continue
		}
		name := t.Text(left)
		if f.scope.Lookup(name) != f.scope || dropsLater(t, t.End(n), t.End(f.code.node), name) {
			continue
		}
		k := KeptException{Store: Location{m, n}, Variable: name, Try: Location{m, try}, Loop: Location{in.loop.at.module, in.loop.at.node}}
		for _, x := range e.atoms {
			if at := in.atoms[x].at; at.module != nil && len(k.Made) < 3 {
				k.Made = append(k.Made, Location{at.module, at.node})
			}
		}
		in.keptExceptions[k.Store] = k
	}
}

// dropsLater reports whether code between two nodes deletes a name or gives it
// another value.
func dropsLater(t *syntax.Tree, from, to syntax.NodeID, name string) bool {
	for n := from; n < to; n++ {
		switch t.Kind(n) {
		case syntax.Assignment:
			if t.Text(t.Child(n, syntax.FieldLeft)) == name {
				return true
			}
		case syntax.DeleteStatement:
			if first := t.First(n); t.Text(first) == name || slices.Contains(unpackedTo(t, first), name) {
				return true
			}
		}
	}
	return false
}

// exceptionFacts are what handlers of the checked module do.
func (in *interpreter) exceptionFacts() (recoveries []Recovery, kept []KeptException) {
	for _, r := range in.recoveries {
		recoveries = append(recoveries, r)
	}
	slices.SortFunc(recoveries, func(a, b Recovery) int { return compareLocations(a.Handler, b.Handler) })
	kept = slices.SortedFunc(maps.Values(in.keptExceptions), func(a, b KeptException) int { return compareLocations(a.Store, b.Store) })
	return recoveries, kept
}
