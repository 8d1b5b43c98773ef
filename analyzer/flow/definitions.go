package flow

import (
	"slices"

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
	defined := v
	for i := len(decorators) - 1; i >= 0; i-- {
		v = in.decorate(decorators[i], v)
	}
	in.noteDisplaced(t.Text(name), defined, v)
	in.write(in.variable(t.Text(name)), v)
}

// noteDisplaced notes a function in whose place its decorators put another one:
// how that calls it may not be seen.
func (in *interpreter) noteDisplaced(name string, defined, now *Value) {
	id := defined.objects[0]
	if info := in.objects[id]; info.kind == objectFunction && info.code.module == in.main && !slices.Contains(now.objects, id) && in.frame.code == nil {
		in.displaced = append(in.displaced, &root{class: info.code.class, code: info.code, name: name, at: info.code.node})
	}
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
	in.noteNested(c)
	return object(id)
}

// decorate applies a decorator to a function or class.
func (in *interpreter) decorate(n syntax.NodeID, v *Value) *Value {
	t := in.tree()
	if t.Kind(n) == syntax.Attribute {
		if name := t.Text(t.Child(n, syntax.FieldAttribute)); name == "setter" || name == "deleter" {
			return in.withSetter(n, name, v)
		}
	}
	d := in.expression(n)
	in.remembers(n, v)
	for _, id := range d.objects {
		info := in.objects[id]
		switch info.kind {
		case objectFunction, objectBound, objectInstance, objectClass:
			if info.kind == objectClass && in.frame.scope.Class {
				return v // how it binds the receiver is its own matter
			}
			w := in.apply(n, d, arguments{positional: []*Value{v}, exprs: []syntax.NodeID{n}})
			if in.callable(w) {
				return w
			}
			return v
		case objectUnknown:
			if info.name == registration {
				in.registered(id, v)
			}
		case objectLibrary, objectGuard:
			for _, f := range v.objects {
				if torch.GradContext(info.name) != torch.GradUnchanged && in.decoratedInVain(n, in.objects[f]) {
					continue
				}
				if c := in.objects[f].code; c != nil {
					c.decorated(info.name, d)
					if c.grad == torch.GradOn {
						in.differentiate(n)
					}
				}
			}
		}
	}
	return v
}

// withSetter is the property that @total.setter is about, with the setter v.
func (in *interpreter) withSetter(n syntax.NodeID, name string, v *Value) *Value {
	property := in.expression(in.tree().Child(n, syntax.FieldObject))
	for _, id := range property.objects {
		c := in.objects[id].code
		if c == nil || c.kind != propertyMethod {
			continue
		}
		if name == "setter" {
			c.setter = v
		}
		return object(id)
	}
	return v
}

// decorated notes what a decorator of a library, known by its dotted name,
// does to a function.
func (c *code) decorated(name string, decorator *Value) {
	switch name {
	case "staticmethod":
		c.kind = staticMethod
	case "classmethod":
		c.kind = classMethod
	case "property", "functools.cached_property":
		c.kind = propertyMethod
	case "contextlib.contextmanager", "contextlib.asynccontextmanager":
		c.context = true
	}
	mode := torch.GradContext(name)
	if on, known := decorator.truth(); known && mode == torch.GradByFlag {
		mode = torch.GradOff
		if on {
			mode = torch.GradOn
		}
	}
	if mode != torch.GradUnchanged {
		c.grad = mode
	}
}
