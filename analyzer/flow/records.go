package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// This file is about classes whose fields are written down instead of assigned:
// dataclasses and named tuples.

// namedTuple is collections.namedtuple(name, fields): a class.
func (in *interpreter) namedTuple(n syntax.NodeID, args arguments) *Value {
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectClass})
	fields := args.at(1, "field_names")
	if fields == nil {
		return object(id)
	}
	info.annotated = nil
	if names, ok := fields.literal.(string); ok {
		for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ' ' || r == ',' }) {
			in.annotate(id, in.symbol(name))
		}
		return object(id)
	}
	for i := 0; ; i++ {
		name, ok := in.displayed(fields, i).literalOf().(string)
		if !ok {
			return object(id)
		}
		in.annotate(id, in.symbol(name))
	}
}

// displayed is the i-th element of a tuple or list display, nil when it has
// none.
func (in *interpreter) displayed(v *Value, i int) *Value {
	if v.elements != nil {
		if v.variadic {
			return nil
		}
		return v.element(i)
	}
	if len(v.objects) != 1 {
		return nil
	}
	return in.state.get(Place{v.objects[0], in.index(i)})
}

// replaced is dataclasses.replace(obj, field=value) and obj._replace(…): a new
// instance that differs in some fields.
func (in *interpreter) replaced(n syntax.NodeID, obj *Value, changes []keywordArgument) *Value {
	var out *Value
	for _, old := range obj.objects {
		info := in.objects[old]
		if info.kind != objectInstance {
			continue
		}
		type fieldValue struct {
			field Symbol
			value *Value
		}
		var kept []fieldValue
		for _, f := range info.fields {
			kept = append(kept, fieldValue{f, in.state.get(Place{old, f})})
		}
		id, _ := in.newObject(objectKey{at: in.site(n), kind: objectInstance, class: info.class})
		in.renew(id) // it may be the old one itself, of the iteration before
		for _, k := range kept {
			in.write(Place{id, k.field}, k.value)
		}
		for _, c := range changes {
			in.store(Place{id, in.symbol(c.name)}, c.value, n, c.expr, n)
		}
		out = join(out, object(id))
	}
	if out == nil {
		return &Value{kinds: KindUnknown}
	}
	return out
}

// fieldAt is the field of a named tuple at a position.
func (in *interpreter) fieldAt(instance ObjectID, key *Value) *Value {
	i, ok := key.literalOf().(int)
	fields := in.objects[in.objects[instance].class].annotated
	if i < 0 {
		i += len(fields)
	}
	if !ok || i < 0 || i >= len(fields) {
		return nil
	}
	return in.state.get(Place{instance, fields[i]})
}
