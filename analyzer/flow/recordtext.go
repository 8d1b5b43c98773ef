package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// recordText tells records, which are several Python objects each, from numbers,
// names and tensors, in the text of a function.
type recordText struct {
	tree     *syntax.Tree
	function syntax.NodeID
}

// maxRecordDepth bounds how far names are followed to what they were given.
const maxRecordDepth = 4

// areMany reports whether an expression is a collection of as many records as
// there is data.
func (r recordText) areMany(n syntax.NodeID, depth int) bool {
	t := r.tree
	n = bare(t, n)
	if n < 0 || depth > maxRecordDepth {
		return false
	}
	switch t.Kind(n) {
	case syntax.ListComprehension, syntax.DictionaryComprehension:
		body := t.Child(n, syntax.FieldBody)
		if t.Kind(body) == syntax.Pair {
			body = t.Child(body, syntax.FieldValue)
		}
		return r.isRecord(body, depth+1) && !r.isShort(n)
	case syntax.Subscript: // data["annotations"], data[:1000]
		return r.areMany(t.Child(n, syntax.FieldValue), depth+1)
	case syntax.Call:
		f := t.Child(n, syntax.FieldFunction)
		dotted := t.Text(f)
		first := t.First(t.Child(n, syntax.FieldArguments))
		if torch.RecordReaders[dotted] {
			return true
		}
		if t.Kind(f) == syntax.Attribute && torch.RecordMethods[t.Text(t.Child(f, syntax.FieldAttribute))] {
			return true
		}
		if torch.Containers[dotted] == torch.List && (dotted == "list" || dotted == "sorted" || dotted == "tuple") && first >= 0 {
			return r.areMany(first, depth+1)
		}
	case syntax.Identifier:
		return r.assigned(t.Text(n), func(value syntax.NodeID) bool { return r.areMany(value, depth+1) }) || r.filled(t.Text(n))
	}
	return false
}

// isRecord reports whether an expression is a record.
func (r recordText) isRecord(n syntax.NodeID, depth int) bool {
	t := r.tree
	n = bare(t, n)
	if n < 0 || depth > maxRecordDepth {
		return false
	}
	switch t.Kind(n) {
	case syntax.Tuple, syntax.List, syntax.Dictionary, syntax.ListComprehension, syntax.DictionaryComprehension:
		return r.contentOf(n, depth+1) == textContent
	case syntax.Call:
		f := t.Child(n, syntax.FieldFunction)
		return torch.RecordReaders[t.Text(f)] || t.Kind(f) == syntax.Attribute && t.Text(t.Child(f, syntax.FieldAttribute)) == "split"
	case syntax.Identifier:
		return r.assigned(t.Text(n), func(value syntax.NodeID) bool { return r.isRecord(value, depth+1) })
	}
	return false
}

// content is what a part of a record is.
type content uint8

// What is an array, a tensor, or may be one, outweighs the rest.
const (
	anyContent  content = iota // nothing is known of it
	textContent                // a number or text that was read from somewhere
	arrayContent
)

// contentOf is what an expression in a record is.
func (r recordText) contentOf(n syntax.NodeID, depth int) content {
	t := r.tree
	n = bare(t, n)
	if n < 0 || depth > 2*maxRecordDepth {
		return anyContent
	}
	switch t.Kind(n) {
	case syntax.Call:
		if r.givesText(n) {
			return textContent
		}
		return arrayContent
	case syntax.String:
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Interpolation {
				return textContent
			}
		}
	case syntax.Identifier:
		return r.contentOfName(t.Text(n), depth+1)
	case syntax.Subscript:
		return r.contentOf(t.Child(n, syntax.FieldValue), depth+1)
	case syntax.Pair:
		return r.contentOf(t.Child(n, syntax.FieldValue), depth+1)
	case syntax.ListComprehension, syntax.DictionaryComprehension:
		return r.contentOf(t.Child(n, syntax.FieldBody), depth+1)
	case syntax.Tuple, syntax.List, syntax.Dictionary, syntax.BinaryOperator:
		all := anyContent
		for c := range t.Children(n) {
			if t.Role(c) != syntax.FieldOperators {
				all = max(all, r.contentOf(c, depth+1))
			}
		}
		return all
	}
	return anyContent
}

// contentOfName is what a variable of the function is, by what it is given and by
// what loops go over.
func (r recordText) contentOfName(name string, depth int) content {
	t := r.tree
	all := anyContent
	for n := r.function; n < t.End(r.function); n++ {
		switch t.Kind(n) {
		case syntax.Assignment:
			if binds(t, t.Child(n, syntax.FieldLeft), name) {
				all = max(all, r.contentOf(t.Child(n, syntax.FieldRight), depth))
			}
		case syntax.ForStatement, syntax.ForInClause:
			if binds(t, t.Child(n, syntax.FieldLeft), name) && r.isTextSource(t.Child(n, syntax.FieldRight), depth) {
				all = max(all, textContent)
			}
		}
	}
	return all
}

// binds reports whether a target binds a name.
func binds(t *syntax.Tree, target syntax.NodeID, name string) bool {
	if target < 0 {
		return false
	}
	for n := target; n < t.End(target); n++ {
		switch t.Kind(n) {
		case syntax.Attribute, syntax.Subscript:
			return false
		case syntax.Identifier:
			if t.Text(n) == name {
				return true
			}
		}
	}
	return false
}

// isTextSource reports whether iterating over an expression gives texts, numbers or
// records: lines of a file, names of files, rows.
func (r recordText) isTextSource(n syntax.NodeID, depth int) bool {
	t := r.tree
	if n < 0 || depth > 2*maxRecordDepth {
		return false
	}
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.Call:
			f := t.Child(c, syntax.FieldFunction)
			if torch.RecordReaders[t.Text(f)] || torch.TextSources[t.Text(f)] || t.Kind(f) == syntax.Attribute && torch.TextSources[t.Text(t.Child(f, syntax.FieldAttribute))] {
				return true
			}
		case syntax.Identifier:
			name := t.Text(c)
			if t.Role(c) != syntax.FieldAttribute && (r.opened(name) || r.assigned(name, func(value syntax.NodeID) bool { return r.isTextSource(value, depth+1) })) {
				return true
			}
		}
	}
	return false
}

// opened reports whether a variable is a file that a with statement opens.
func (r recordText) opened(name string) bool {
	t := r.tree
	for n := r.function; n < t.End(r.function); n++ {
		if t.Kind(n) != syntax.AsPattern {
			continue
		}
		call, target := t.First(n), t.Next(t.First(n))
		if target >= 0 && t.Text(target) == name && t.Kind(call) == syntax.Call {
			f := t.Child(call, syntax.FieldFunction)
			return t.Text(f) == "open" || t.Kind(f) == syntax.Attribute && t.Text(t.Child(f, syntax.FieldAttribute)) == "open"
		}
	}
	return false
}

// givesText reports whether a call gives a number, a text or a part of a record.
func (r recordText) givesText(call syntax.NodeID) bool {
	t := r.tree
	f := t.Child(call, syntax.FieldFunction)
	name := t.Text(f)
	if t.Kind(f) == syntax.Attribute {
		name = t.Text(t.Child(f, syntax.FieldAttribute))
	}
	return torch.GivesText[name]
}

// assigned reports whether something that the function gives a variable fits.
func (r recordText) assigned(name string, fits func(syntax.NodeID) bool) bool {
	t := r.tree
	for n := r.function; n < t.End(r.function); n++ {
		if t.Kind(n) == syntax.Assignment && t.Text(t.Child(n, syntax.FieldLeft)) == name && fits(t.Child(n, syntax.FieldRight)) {
			return true
		}
	}
	return false
}

// filled reports whether a loop of the function adds records to a variable.
func (r recordText) filled(name string) bool {
	t := r.tree
	for n := r.function; n < t.End(r.function); n++ {
		f := t.Child(n, syntax.FieldFunction)
		if t.Kind(n) == syntax.Call && t.Kind(f) == syntax.Attribute && t.Text(t.Child(f, syntax.FieldObject)) == name && r.isAdded(n) {
			return true
		}
	}
	return false
}

// isAdded reports whether a call adds a record to a list in a loop, or many at
// once.
func (r recordText) isAdded(call syntax.NodeID) bool {
	t := r.tree
	first := t.First(t.Child(call, syntax.FieldArguments))
	switch torch.ContainerMethods[t.Text(t.Child(t.Child(call, syntax.FieldFunction), syntax.FieldAttribute))] {
	case torch.Adds:
		return r.inLoop(call) && r.isRecord(first, 0)
	case torch.Extends:
		return r.areMany(first, 0)
	}
	return false
}

// inLoop reports whether a node is in a loop of the function that is not short.
func (r recordText) inLoop(n syntax.NodeID) bool {
	for p := r.tree.Parent(n); p > r.function; p = r.tree.Parent(p) {
		switch r.tree.Kind(p) {
		case syntax.WhileStatement:
			return true
		case syntax.ForStatement:
			if !r.isShort(p) {
				return true
			}
		}
	}
	return false
}

// isShort reports whether a loop or comprehension goes over a few things that the
// text names.
func (r recordText) isShort(n syntax.NodeID) bool {
	t := r.tree
	right := t.Child(n, syntax.FieldRight)
	for c := range t.Children(n) {
		if t.Kind(c) == syntax.ForInClause {
			right = t.Child(c, syntax.FieldRight)
		}
	}
	if right < 0 {
		return false
	}
	switch right = bare(t, right); t.Kind(right) {
	case syntax.Tuple, syntax.List, syntax.Dictionary:
		return true
	case syntax.Call:
		return t.Text(t.Child(right, syntax.FieldFunction)) == "range" && r.areLiterals(t.Child(right, syntax.FieldArguments))
	}
	return false
}

// areLiterals reports whether all arguments are numbers.
func (r recordText) areLiterals(arguments syntax.NodeID) bool {
	for c := range r.tree.Children(arguments) {
		if r.tree.Kind(c) != syntax.Integer {
			return false
		}
	}
	return true
}
