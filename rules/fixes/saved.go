package fixes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// SaveForBackward is the fix of a custom function that keeps tensors as
// attributes of its context: save_for_backward in forward, and the names bound
// anew at the head of backward. Since there is one such call for a forward, the
// fix is the same for all attributes of one function.
//
// It is not safe: PyTorch refuses a backward over a saved tensor that was
// changed in place, where with an attribute the gradient is silently wrong.
func SaveForBackward(a flow.ContextAttribute, all []flow.ContextAttribute) []rules.Fix {
	if a.Backward.Module == nil {
		return nil
	}
	s := &saving{tree: a.Target.Module.Tree, path: a.Target.Module.Path, forward: a.Forward.Node, backward: a.Backward.Node}
	for _, other := range all {
		if other.Class != a.Class {
			continue
		}
		if !s.add(other) {
			return nil
		}
	}
	if !s.movesForward() || !s.readsBackward() {
		return nil
	}
	var names []string
	for _, v := range s.saved {
		names = append(names, "`"+v.name+"`")
	}
	return []rules.Fix{{
		Title:  fmt.Sprintf("Save %s with `save_for_backward` (check that nothing changes it in place before the backward)", strings.Join(names, ", ")),
		Safety: rules.Unsafe, Edits: s.edits,
	}}
}

// saving is the rewriting of one function.
type saving struct {
	tree              *syntax.Tree
	path              string
	forward, backward syntax.NodeID
	saved             []savedTensor
	edits             []rules.FileEdit
}

// savedTensor is an attribute that becomes a saved tensor.
type savedTensor struct {
	attribute string
	name      string // of the tensor in forward
	statement syntax.NodeID
}

func (s *saving) edit(start, end int, code string) {
	s.edits = append(s.edits, rules.FileEdit{Path: s.path, Edit: text.Edit{Span: text.Span{Start: start, End: end}, New: code}})
}

// add takes in an attribute, if it is set once, to one name, by a statement of
// forward's own block.
func (s *saving) add(a flow.ContextAttribute) bool {
	t := s.tree
	statement := t.Parent(a.Store.Node)
	if a.Cleared || len(a.Tensors) != 1 || a.Tensors[0].Kind() != syntax.Identifier || a.Tensors[0].Node != t.Child(a.Store.Node, syntax.FieldRight) {
		return false
	}
	if t.Kind(statement) != syntax.ExpressionStatement || t.Parent(statement) != t.Child(s.forward, syntax.FieldBody) {
		return false
	}
	s.saved = append(s.saved, savedTensor{t.Text(t.Child(a.Target.Node, syntax.FieldAttribute)), a.Tensors[0].Text(), statement})
	return true
}

// movesForward replaces the stores of forward by one call.
func (s *saving) movesForward() bool {
	t := s.tree
	names := make([]string, len(s.saved))
	for i, v := range s.saved {
		names[i] = v.name
		if s.uses(s.forward, v.attribute) != 1 {
			return false
		}
		for n := t.End(v.statement); n < t.End(s.forward); n++ { // what is saved later must be what was stored
			if k := t.Kind(n); (k == syntax.Assignment || k == syntax.AugmentedAssignment) && mentions(t, t.Child(n, syntax.FieldLeft), v.name) {
				return false
			}
		}
	}
	call, ok := s.call()
	if !ok {
		return false
	}
	last := s.saved[len(s.saved)-1].statement
	for _, v := range s.saved {
		if call < 0 && v.statement == last {
			span := t.Span(v.statement)
			s.edit(span.Start, span.End, fmt.Sprintf("%s.save_for_backward(%s)", s.context(s.forward), strings.Join(names, ", ")))
			continue
		}
		if !standsAlone(t, v.statement) {
			return false
		}
		indent, _ := indentation(t, v.statement)
		end := lineEnd(t, v.statement)
		if comment := strings.IndexByte(t.Source()[t.Span(v.statement).End:end], '#'); comment >= 0 {
			s.edit(t.Span(v.statement).Start, t.Span(v.statement).End+comment, "") // it may say more than the statement
			continue
		}
		if rest := t.Source()[end:]; rest != "" {
			end += strings.IndexByte(rest, '\n') + 1
		}
		s.edit(t.Span(v.statement).Start-len(indent), end, "")
	}
	if call >= 0 {
		if slices.ContainsFunc(s.saved, func(v savedTensor) bool { return v.statement > call }) {
			for _, v := range s.saved { // the names must be there already
				if v.statement > call && !s.knownAt(v.name, call) {
					return false
				}
			}
		}
		args := t.Child(call, syntax.FieldArguments)
		end := t.Span(args).End - 1
		code := strings.Join(names, ", ")
		if t.First(args) >= 0 {
			code = ", " + code
		}
		s.edit(end, end, code)
	}
	return true
}

// knownAt reports whether a name has its value before a node: it is a parameter
// that is not assigned, or its only assignment stands before.
func (s *saving) knownAt(name string, at syntax.NodeID) bool {
	t := s.tree
	for n := t.Child(s.forward, syntax.FieldBody); n < t.End(s.forward); n++ {
		if k := t.Kind(n); (k == syntax.Assignment || k == syntax.AugmentedAssignment) && n > at && mentions(t, t.Child(n, syntax.FieldLeft), name) {
			return false
		}
	}
	return true
}

// call finds the save_for_backward of forward: NoNode when it has none; ok is
// false when names cannot be added to it.
func (s *saving) call() (call syntax.NodeID, ok bool) {
	t := s.tree
	call = syntax.NoNode
	for n := s.forward; n < t.End(s.forward); n++ {
		if t.Kind(n) != syntax.Attribute || t.Text(t.Child(n, syntax.FieldAttribute)) != "save_for_backward" {
			continue
		}
		p := t.Parent(n)
		if call >= 0 || t.Kind(p) != syntax.Call || t.Parent(t.Parent(p)) != t.Child(s.forward, syntax.FieldBody) {
			return call, false
		}
		for a := range t.Children(t.Child(p, syntax.FieldArguments)) {
			if t.Kind(a) == syntax.ListSplat {
				return call, false
			}
		}
		args := t.Text(t.Child(p, syntax.FieldArguments))
		if strings.HasSuffix(strings.TrimSpace(strings.TrimSuffix(args, ")")), ",") {
			return call, false
		}
		call = p
	}
	return call, true
}

// readsBackward binds the names at the head of backward, or adds them to where
// it unpacks the saved tensors, and puts them in the place of the attributes.
func (s *saving) readsBackward() bool {
	t := s.tree
	context := s.context(s.backward)
	call, _ := s.call()
	first, alone := s.firstOfBackward()
	if first < 0 {
		return false
	}
	var names []string
	for i, v := range s.saved {
		if mentions(t, s.backward, v.attribute) || slices.Contains(names, v.attribute) {
			return false // a name of its own
		}
		names = append(names, v.attribute)
		for n := s.backward; n < t.End(s.backward); n++ {
			if t.Kind(n) != syntax.Attribute || t.Text(n) != context+"."+v.attribute {
				continue
			}
			if k := t.Kind(t.Parent(n)); k == syntax.DeleteStatement || t.Role(n) == syntax.FieldLeft && (k == syntax.Assignment || k == syntax.AugmentedAssignment) {
				return false
			}
			span, code := t.Span(n), v.attribute
			if call < 0 && !alone {
				code = fmt.Sprintf("%s.saved_tensors[%d]", context, i)
			}
			s.edit(span.Start, span.End, code)
		}
	}
	if call < 0 && !alone {
		return true
	}
	if call < 0 {
		if len(names) == 1 {
			names[0] += ","
		}
		indent, _ := indentation(t, first)
		at := t.Span(first).Start - len(indent)
		s.edit(at, at, fmt.Sprintf("%s%s = %s.saved_tensors\n", indent, strings.Join(names, ", "), context))
		return true
	}
	unpacked := syntax.NoNode
	for n := s.backward; n < t.End(s.backward); n++ {
		if t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == "saved_tensors" {
			p := t.Parent(n)
			if unpacked >= 0 || t.Kind(p) != syntax.Assignment || t.Kind(t.Child(p, syntax.FieldLeft)) != syntax.PatternList {
				return false
			}
			unpacked = t.Child(p, syntax.FieldLeft)
		}
	}
	if unpacked < 0 {
		return false
	}
	end := t.Span(unpacked).End
	code := ", " + strings.Join(names, ", ")
	if strings.HasSuffix(t.Text(unpacked), ",") {
		code = code[1:]
	}
	s.edit(end, end, code)
	return true
}

// firstOfBackward is the first statement of backward that is no docstring, and
// whether it starts its line.
func (s *saving) firstOfBackward() (first syntax.NodeID, alone bool) {
	t := s.tree
	first = t.First(t.Child(s.backward, syntax.FieldBody))
	if first >= 0 && t.Kind(first) == syntax.ExpressionStatement && t.Kind(t.First(first)) == syntax.String {
		first = t.Next(first)
	}
	if first >= 0 {
		_, alone = indentation(t, first)
	}
	return first, alone
}

// context is the first parameter of a method.
func (s *saving) context(method syntax.NodeID) string {
	t := s.tree
	first := t.First(t.Child(method, syntax.FieldParameters))
	if first < 0 {
		return ""
	}
	if t.Kind(first) == syntax.TypedParameter {
		first = t.First(first)
	}
	return t.Text(first)
}

// uses is how often a method names an attribute of its context.
func (s *saving) uses(method syntax.NodeID, attribute string) int {
	t := s.tree
	count := 0
	for n := method; n < t.End(method); n++ {
		if t.Kind(n) == syntax.Attribute && t.Text(n) == s.context(method)+"."+attribute {
			count++
		}
	}
	return count
}

// mentions reports whether a name stands in the text below n, not as that of an
// attribute.
func mentions(t *syntax.Tree, n syntax.NodeID, name string) bool {
	if n < 0 {
		return false
	}
	for c := n; c < t.End(n); c++ {
		if t.Kind(c) == syntax.Identifier && t.Text(c) == name && t.Role(c) != syntax.FieldAttribute {
			return true
		}
	}
	return false
}
