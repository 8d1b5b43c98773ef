package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// match runs a match statement: the first case that fits runs. What a case
// tells of the subject holds in its block, and what it rules out holds in the
// cases that follow.
func (in *interpreter) match(n syntax.NodeID) {
	t := in.tree()
	var subjects []syntax.NodeID
	var values []*Value
	for c := range t.Children(n) {
		if t.Role(c) == syntax.FieldSubject {
			subjects, values = append(subjects, c), append(values, in.expression(c))
		}
	}
	base := in.state
	if base == nil || len(values) == 0 {
		return
	}
	subject := values[0]
	if len(values) > 1 {
		subject = tuple(values...)
	}
	var ends []*state
	for c := range t.Children(t.Child(n, syntax.FieldBody)) {
		if t.Kind(c) != syntax.CaseClause || subject == nil {
			continue
		}
		patterns, guard := in.caseParts(c)
		in.state = base.push()
		var known *Value
		if len(patterns) == 1 {
			known = in.pattern(patterns[0], subject, n)
		} else {
			known = in.sequencePattern(c, patterns, subject, n)
		}
		if known == nil {
			continue
		}
		if len(subjects) == 1 {
			in.restrict(subjects[0], func(*Value) *Value { return known })
		}
		if guard >= 0 {
			in.expression(t.First(guard))
		} else if len(patterns) == 1 {
			subject = in.unmatched(patterns[0], subject)
		}
		in.block(t.Child(c, syntax.FieldConsequence))
		ends = append(ends, in.state)
	}
	if subject != nil {
		ends = append(ends, base.push()) // no case may fit
	}
	in.state = merge(base, in.noteResets(syntax.NoNode), ends...)
}

// caseParts are the patterns of a case and its guard, if it has one.
func (in *interpreter) caseParts(clause syntax.NodeID) (patterns []syntax.NodeID, guard syntax.NodeID) {
	t := in.tree()
	guard = syntax.NoNode
	for c := range t.Children(clause) {
		switch t.Kind(c) {
		case syntax.CasePattern:
			patterns = append(patterns, c)
		case syntax.IfClause:
			guard = c
		}
	}
	return patterns, guard
}

// pattern binds the names that a pattern captures from v. It returns what v is
// known to be where the pattern fits, nil where it cannot fit.
func (in *interpreter) pattern(n syntax.NodeID, v *Value, stmt syntax.NodeID) *Value {
	t := in.tree()
	first := t.First(n)
	switch t.Kind(n) {
	case syntax.CasePattern:
		if first < 0 { // _
			return v
		}
		return in.pattern(first, v, stmt)
	case syntax.DottedName:
		if t.Next(first) < 0 { // else a constant
			in.store(in.variable(t.Text(n)), v, stmt, n, n)
		}
	case syntax.AsPattern:
		if v = in.pattern(first, v, stmt); v != nil {
			name := t.Next(first)
			in.store(in.variable(t.Text(name)), v, stmt, name, name)
		}
	case syntax.None:
		return v.just(KindNone)
	case syntax.UnionPattern:
		base := in.state
		var known *Value
		var ends []*state
		for c := range t.Children(n) {
			in.state = base.push()
			if w := in.pattern(c, v, stmt); w != nil {
				known, ends = join(known, w), append(ends, in.state)
			}
		}
		if in.state = merge(base, nil, ends...); in.state == nil {
			in.state = base
		}
		return known
	case syntax.TuplePattern:
		if first >= 0 && t.Next(first) < 0 && !strings.HasSuffix(strings.TrimRight(t.Text(n), " )"), ",") {
			return in.pattern(first, v, stmt) // parentheses
		}
		return in.sequencePattern(n, in.children(n), v, stmt)
	case syntax.ListPattern:
		return in.sequencePattern(n, in.children(n), v, stmt)
	case syntax.DictPattern:
		in.mappingPattern(n, v, stmt)
	case syntax.ClassPattern:
		return in.classPattern(n, v, stmt)
	}
	return v
}

// children are the nodes below n.
func (in *interpreter) children(n syntax.NodeID) []syntax.NodeID {
	var out []syntax.NodeID
	for c := range in.tree().Children(n) {
		out = append(out, c)
	}
	return out
}

// sequencePattern matches the elements of v one by one: [first, *rest].
func (in *interpreter) sequencePattern(n syntax.NodeID, elements []syntax.NodeID, v *Value, stmt syntax.NodeID) *Value {
	if v.only(KindTensor | KindPlain | KindNone) {
		return nil // only sequences fit
	}
	t := in.tree()
	star := -1
	for i, e := range elements {
		if first := t.First(e); first >= 0 && t.Kind(first) == syntax.SplatPattern {
			star = i
		}
	}
	for i, e := range elements {
		switch {
		case star < 0 || i < star:
			in.pattern(e, in.item(n, v, i), stmt)
		case i == star:
			if name := t.First(t.First(e)); name >= 0 { // else *_
				rest := in.sequenceOf(e, in.between(n, v, i, len(elements)-i-1))
				in.store(in.variable(t.Text(name)), rest, stmt, name, name)
			}
		default:
			in.pattern(e, in.item(n, v, i-len(elements)), stmt)
		}
	}
	return v
}

// mappingPattern matches the entries of v: {"loss": loss, **rest}.
func (in *interpreter) mappingPattern(n syntax.NodeID, v *Value, stmt syntax.NodeID) {
	t := in.tree()
	key := plain
	for c := range t.Children(n) {
		switch {
		case t.Role(c) == syntax.FieldKey:
			key = in.expression(c)
		case t.Role(c) == syntax.FieldValue:
			in.pattern(c, in.lookup(n, v, key), stmt)
		case t.Kind(c) == syntax.SplatPattern:
			if name := t.First(c); name >= 0 {
				in.store(in.variable(t.Text(name)), v, stmt, name, name)
			}
		}
	}
}

// classPattern matches the type of v and its attributes: Result(loss=loss).
func (in *interpreter) classPattern(n syntax.NodeID, v *Value, stmt syntax.NodeID) *Value {
	t := in.tree()
	class := in.dotted(t.First(n))
	itself := false // the argument of float(x) is the subject
	switch {
	case in.kindsOf(class) == KindTensor:
		v = v.just(KindTensor)
	case in.kindsOf(class) == KindPlain:
		v, itself = v.just(KindPlain), true
	}
	if v == nil {
		return nil
	}
	position := 0
	for c := range t.Children(n) {
		if t.Kind(c) != syntax.CasePattern {
			continue
		}
		inner := t.First(c)
		switch {
		case inner >= 0 && t.Kind(inner) == syntax.KeywordPattern:
			name := t.First(inner)
			in.pattern(t.Next(name), in.attribute(inner, v, t.Text(name)), stmt)
		case itself:
			in.pattern(c, v, stmt)
		default:
			in.pattern(c, in.positional(c, v, class, position), stmt)
			position++
		}
	}
	return v
}

// positional is the attribute of v that a class pattern names by position: the
// fields of a dataclass or a named tuple, in order.
func (in *interpreter) positional(n syntax.NodeID, v, class *Value, i int) *Value {
	for _, id := range class.objects {
		if fields := in.fieldsOf(id, 0); i < len(fields) {
			return in.attribute(n, v, in.symbolNames[fields[i]])
		}
	}
	return &Value{kinds: KindUnknown}
}

// dotted is what a dotted name of a pattern refers to.
func (in *interpreter) dotted(n syntax.NodeID) *Value {
	t := in.tree()
	var v *Value
	for c := range t.Children(n) {
		if v == nil {
			v = in.load(c)
		} else {
			v = in.attribute(c, v, t.Text(c))
		}
	}
	return orPlain(v)
}

// unmatched is v where a pattern without a guard did not fit, nil where it
// always fits.
func (in *interpreter) unmatched(n syntax.NodeID, v *Value) *Value {
	t := in.tree()
	first := t.First(n)
	switch t.Kind(n) {
	case syntax.CasePattern:
		if first < 0 {
			return nil
		}
		return in.unmatched(first, v)
	case syntax.DottedName:
		if t.Next(first) < 0 {
			return nil
		}
	case syntax.AsPattern:
		return in.unmatched(first, v)
	case syntax.UnionPattern:
		for c := range t.Children(n) {
			if v != nil {
				v = in.unmatched(c, v)
			}
		}
	case syntax.None:
		return v.without(KindNone)
	case syntax.ClassPattern:
		if t.Next(first) < 0 && in.kindsOf(in.dotted(first)) == KindTensor {
			return v.without(KindTensor)
		}
	}
	return v
}
