package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// define runs a def or class statement.
func (in *interpreter) define(n syntax.NodeID, decorators []syntax.NodeID) {
	t := in.tree()
	if n < 0 {
		return
	}
	name := t.Child(n, syntax.FieldName)
	if name < 0 {
		return
	}
	var v *Value
	if t.Kind(n) == syntax.ClassDefinition {
		v = in.class(n)
	} else {
		v = in.function(n, decorators)
	}
	for i := len(decorators) - 1; i >= 0; i-- {
		v = in.decorate(decorators[i], v)
	}
	in.write(in.variable(t.Text(name)), v)
}

// function makes a function object of a def or lambda.
func (in *interpreter) function(n syntax.NodeID, decorators []syntax.NodeID) *Value {
	t := in.tree()
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectFunction})
	c := &code{module: in.frame.module, node: n, scope: in.frame.module.Scope(n), closure: in.frame}
	if in.frame.scope.Class {
		c.class = in.frame.object
		c.closure = in.frame.closure
	}
	for p := range t.Children(t.Child(n, syntax.FieldParameters)) {
		if value := t.Child(p, syntax.FieldValue); value >= 0 {
			if c.defaults == nil {
				c.defaults = map[Symbol]*Value{}
			}
			c.defaults[in.symbol(t.Text(t.Child(p, syntax.FieldName)))] = in.expression(value)
		}
	}
	info.code = c
	return object(id)
}

// decorate applies a decorator to a function or class.
func (in *interpreter) decorate(n syntax.NodeID, v *Value) *Value {
	t := in.tree()
	if t.Kind(n) == syntax.Attribute && (t.Text(t.Child(n, syntax.FieldAttribute)) == "setter" || t.Text(t.Child(n, syntax.FieldAttribute)) == "deleter") {
		return v
	}
	d := in.expression(n)
	for _, id := range d.objects {
		info := in.objects[id]
		if info.kind == objectFunction || info.kind == objectBound || info.kind == objectInstance {
			w := in.apply(n, d, arguments{positional: []*Value{v}, exprs: []syntax.NodeID{n}})
			if in.callable(w) {
				return w
			}
			return v
		}
		if info.kind != objectLibrary {
			continue
		}
		for _, f := range v.objects {
			c := in.objects[f].code
			if c == nil {
				continue
			}
			switch info.name {
			case "staticmethod":
				c.kind = staticMethod
			case "classmethod":
				c.kind = classMethod
			case "property", "functools.cached_property":
				c.kind = propertyMethod
			case "contextlib.contextmanager", "contextlib.asynccontextmanager":
				c.context = true
			default:
				if mode := torch.GradContext(strings.TrimSuffix(info.name, "()")); mode != torch.GradUnchanged {
					if mode == torch.GradByFlag {
						if on, known := d.truth(); known {
							mode = torch.GradOff
							if on {
								mode = torch.GradOn
							}
						}
					}
					c.grad = mode
				}
			}
		}
	}
	return v
}
