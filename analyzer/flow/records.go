package flow

import (
	"slices"
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

// fieldsOf are the fields that a class and those that many levels above it
// annotate, in the order of the arguments of its constructor.
func (in *interpreter) fieldsOf(class ObjectID, depth int) []Symbol {
	var fields []Symbol
	add := func(more []Symbol) {
		for _, f := range more {
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	for _, base := range in.objects[class].bases {
		for _, id := range base.objects {
			if in.objects[id].kind == objectClass && depth < maxBases {
				add(in.fieldsOf(id, depth+1))
			}
		}
	}
	add(in.objects[class].annotated)
	return fields
}

// fill gives the fields of a new record the arguments of its constructor, or
// their defaults.
func (in *interpreter) fill(n syntax.NodeID, id ObjectID, fields []Symbol, args arguments) {
	for i, f := range fields {
		name := in.symbolNames[f]
		v := args.at(i, name)
		if v == nil {
			v = in.fieldDefault(n, id, f)
		}
		if v != nil {
			in.store(Place{id, f}, v, n, args.source(i, name, n), n)
		}
	}
	if after := in.methodOf(n, id, "__post_init__"); after != nil && in.state != nil {
		in.apply(n, after, arguments{})
	}
}

// fieldOf is the name of what describes a field of a dataclass.
const fieldOf = "dataclasses.field"

// fieldDefault is the default that field(default=…, default_factory=…) gives to
// a field of a record; nil where the class itself has the default.
func (in *interpreter) fieldDefault(n syntax.NodeID, id ObjectID, f Symbol) *Value {
	v, _ := in.classAttribute(in.objects[id].class, f)
	if v == nil || len(v.objects) != 1 || in.objects[v.objects[0]].name != fieldOf {
		return nil
	}
	described := in.objects[v.objects[0]].args
	if factory := described.named("default_factory"); factory != nil {
		return in.produced(n, id, f, factory)
	}
	if v := described.named("default"); v != nil {
		return v
	}
	return &Value{kinds: KindUnknown}
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
		kept := in.entries(old)
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
	fields := in.fieldsOf(in.objects[instance].class, 0)
	if i < 0 {
		i += len(fields)
	}
	if !ok || i < 0 || i >= len(fields) {
		return nil
	}
	return in.state.get(Place{instance, fields[i]})
}
