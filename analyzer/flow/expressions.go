package flow

import (
	"strconv"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// expression evaluates n. It never returns nil: what is not known is Unknown.
func (in *interpreter) expression(n syntax.NodeID) *Value {
	if n < 0 || in.state == nil || in.spent() || !in.deeper() {
		return plain
	}
	v := in.evaluate(n)
	in.nesting--
	if v == nil {
		v = plain
	}
	v = in.measured(n, v)
	in.remember(n, v)
	return v
}

// remember keeps the value of an expression for valueOf.
func (in *interpreter) remember(n syntax.NodeID, v *Value) {
	vs := in.values[in.frame.module]
	if vs == nil {
		vs = make(lastValues, in.tree().Len()/len(valuePage{})+1)
		in.values[in.frame.module] = vs
	}
	page := &vs[int(n)/len(valuePage{})]
	if *page == nil {
		*page = new(valuePage)
	}
	(*page)[int(n)%len(valuePage{})] = v
}

// valueOf is what the expression n was last evaluated to.
func (in *interpreter) valueOf(n syntax.NodeID) *Value {
	return in.values[in.frame.module].at(n)
}

// lastValues are the values that the expressions of a module had last, in pages:
// of most modules a few functions run.
type lastValues []*valuePage

type valuePage [128]*Value

// at is the value of an expression, nil when it was not evaluated.
func (vs lastValues) at(n syntax.NodeID) *Value {
	if n < 0 || int(n)/len(valuePage{}) >= len(vs) {
		return nil
	}
	page := vs[int(n)/len(valuePage{})]
	if page == nil {
		return nil
	}
	return page[int(n)%len(valuePage{})]
}

// evaluate is expression by the kind of n; nil is a plain value.
func (in *interpreter) evaluate(n syntax.NodeID) *Value {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Identifier:
		return in.load(n)
	case syntax.Attribute:
		obj := in.expression(t.Child(n, syntax.FieldObject))
		return in.attribute(n, obj, t.Text(t.Child(n, syntax.FieldAttribute)))
	case syntax.Subscript:
		return in.getItem(n)
	case syntax.Call:
		return in.call(n)
	case syntax.BinaryOperator:
		left := in.expression(t.Child(n, syntax.FieldLeft))
		right := in.expression(t.Child(n, syntax.FieldRight))
		return in.binary(n, t.Text(t.Child(n, syntax.FieldOperator)), left, right)
	case syntax.UnaryOperator:
		v := in.expression(t.Child(n, syntax.FieldArgument))
		if l, ok := v.literal.(int); ok && t.Text(t.Child(n, syntax.FieldOperator)) == "-" {
			return &Value{kinds: KindPlain, literal: -l}
		}
		return in.operate(n, false, v)
	case syntax.NotOperator:
		v := in.expression(t.Child(n, syntax.FieldArgument))
		if truth, known := v.truth(); known {
			return boolean(!truth)
		}
		return plain
	case syntax.BooleanOperator:
		return in.boolean(n)
	case syntax.ComparisonOperator:
		return in.comparison(n)
	case syntax.ConditionalExpression:
		return in.choose(n)
	case syntax.ParenthesizedExpression, syntax.Await:
		return in.last(n)
	case syntax.Interpolation, syntax.FormatExpression:
		in.last(n)
		return plain
	case syntax.NamedExpression:
		value := t.Child(n, syntax.FieldValue)
		v := in.expression(value)
		in.assign(t.Child(n, syntax.FieldName), v, n, value)
		return v
	case syntax.Tuple, syntax.ExpressionList:
		return in.tupleDisplay(n)
	case syntax.List, syntax.Set:
		return in.listDisplay(n)
	case syntax.Dictionary:
		return in.dictDisplay(n)
	case syntax.ListComprehension, syntax.SetComprehension, syntax.DictionaryComprehension:
		return in.comprehension(n)
	case syntax.GeneratorExpression:
		return in.generator(n)
	case syntax.Lambda:
		return in.function(n, nil)
	case syntax.Yield:
		return in.yield(n)
	case syntax.ListSplat, syntax.DictionarySplat:
		return in.expression(t.First(n))
	case syntax.Slice, syntax.KeywordArgument:
		for c := range t.Children(n) {
			if t.Role(c) != syntax.FieldName {
				in.expression(c)
			}
		}
		return plain
	case syntax.Assignment:
		return in.assignment(n)
	case syntax.AugmentedAssignment:
		in.augmented(n)
	case syntax.AsPattern:
		in.caught(n)
	}
	return in.literal(n)
}

// last evaluates the parts of n and is the value of the last one.
func (in *interpreter) last(n syntax.NodeID) *Value {
	var v *Value
	for c := range in.tree().Children(n) {
		v = in.expression(c)
	}
	return v
}

// caught runs E as e of an except clause.
func (in *interpreter) caught(n syntax.NodeID) {
	t := in.tree()
	for c := range t.Children(n) {
		if t.Kind(c) == syntax.AsPatternTarget {
			in.assign(c, orPlain(in.handling), n, n)
		} else {
			in.expression(c)
		}
	}
}

// literal is the value of a literal; of anything else it is a plain value.
func (in *interpreter) literal(n syntax.NodeID) *Value {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Integer:
		if i, err := strconv.Atoi(t.Text(n)); err == nil {
			return &Value{kinds: KindPlain, literal: i}
		}
	case syntax.String:
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Interpolation {
				in.expression(c)
			}
		}
		return &Value{kinds: KindPlain, literal: stringLiteral(t, n)}
	case syntax.ConcatenatedString:
		in.last(n)
	case syntax.True:
		return plainTrue
	case syntax.False:
		return plainFalse
	case syntax.None:
		return noValue
	}
	return plain
}

// stringLiteral is the text of a string without prefixes, escapes or
// interpolations, or nil when it has any.
func stringLiteral(t *syntax.Tree, n syntax.NodeID) any {
	s := t.Text(n)
	if len(s) < 2 || strings.ContainsAny(s, "\\{") {
		return nil
	}
	q := s[0]
	if q != '"' && q != '\'' || s[len(s)-1] != q {
		return nil
	}
	return s[1 : len(s)-1]
}

func boolean(b bool) *Value {
	if b {
		return plainTrue
	}
	return plainFalse
}
