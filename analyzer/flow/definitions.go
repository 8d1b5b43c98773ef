package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
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
					if info.name != strings.TrimSuffix(info.name, "()") || info.name == "torch.inference_mode" {
						c.grad = mode
					}
				}
			}
		}
	}
	return v
}

// class runs the body of a class.
func (in *interpreter) class(n syntax.NodeID) *Value {
	t := in.tree()
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectClass})
	info.bases = nil
	for c := range t.Children(t.Child(n, syntax.FieldSuperclasses)) {
		if t.Kind(c) == syntax.KeywordArgument {
			continue
		}
		info.bases = append(info.bases, in.expression(c))
	}
	outer := in.frame
	in.frame = &frame{caller: outer, module: outer.module, object: id, scope: outer.module.Scope(n), closure: outer, call: outer.call, depth: outer.depth, base: in.state}
	in.block(t.Child(n, syntax.FieldBody))
	in.frame = outer
	if in.state == nil {
		in.state = in.frame.base
	}
	return object(id)
}

// generator makes an iterator of a generator expression. Its element is
// evaluated where it is consumed, under the grad mode there.
func (in *interpreter) generator(n syntax.NodeID) *Value {
	t := in.tree()
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectGenerator, name: "generator expression"})
	home := in.frame
	var first *Value
	var clauses []syntax.NodeID
	for c := range t.Children(n) {
		if k := t.Kind(c); k == syntax.ForInClause || k == syntax.IfClause {
			if k == syntax.ForInClause && first == nil {
				first = in.expression(t.Child(c, syntax.FieldRight))
			}
			clauses = append(clauses, c)
		}
	}
	body := t.Child(n, syntax.FieldBody)
	info.body = func(in *interpreter) *Value {
		outer := in.frame
		in.frame = home
		var out *Value
		in.enclosed(n, func() {
			for i, c := range clauses {
				if t.Kind(c) == syntax.IfClause {
					in.expression(t.First(c))
					continue
				}
				right := t.Child(c, syntax.FieldRight)
				it := first
				if i > 0 {
					it = in.expression(right)
				}
				in.assign(t.Child(c, syntax.FieldLeft), in.next(c, right, it), c, right)
			}
			out = in.expression(body)
		})
		in.frame = outer
		return out
	}
	v := object(id)
	v.structural = in.few(first)
	return v
}

// importModules runs import a.b as c.
func (in *interpreter) importModules(n syntax.NodeID) {
	t := in.tree()
	for c := range t.Children(n) {
		dotted, alias := c, t.Child(c, syntax.FieldAlias)
		if alias >= 0 {
			dotted = t.Child(c, syntax.FieldName)
		}
		path := t.Text(dotted)
		imported := in.resolver.Resolve(in.ctx, in.frame.module, 0, path)
		v := in.library(path)
		if imported.Module != nil {
			v = in.module(imported.Module)
		}
		if alias >= 0 {
			in.write(in.variable(t.Text(alias)), v)
			continue
		}
		parts := strings.Split(path, ".")
		for i := len(parts) - 1; i > 0; i-- {
			parent := in.library(strings.Join(parts[:i], "."))
			if imported.Module != nil {
				in.write(Place{parent.objects[0], in.symbol(parts[i])}, v)
			}
			v = parent
		}
		in.write(in.variable(parts[0]), v)
	}
}

// importNames runs from a import b.
func (in *interpreter) importNames(n syntax.NodeID) {
	t := in.tree()
	level, dotted := importSource(t, n)
	imported := in.resolver.Resolve(in.ctx, in.frame.module, level, dotted)
	for c := range t.Children(n) {
		if t.Kind(c) == syntax.WildcardImport {
			in.importAll(imported)
			continue
		}
		if t.Role(c) != syntax.FieldName {
			continue
		}
		name, alias := c, t.Child(c, syntax.FieldAlias)
		if alias >= 0 {
			name = t.Child(c, syntax.FieldName)
		} else {
			alias = c
		}
		in.write(in.variable(t.Text(alias)), in.importName(imported, level, dotted, t.Text(name)))
	}
}

func (in *interpreter) importName(imported names.Import, level int, dotted, name string) *Value {
	id, ran := in.modules[imported.Module]
	if ran {
		if v := in.state.get(Place{id, in.symbol(name)}); v != nil {
			return v
		}
	}
	path := name
	if dotted != "" {
		path = dotted + "." + name
	}
	if level > 0 || imported.Module != nil {
		if sub := in.resolver.Resolve(in.ctx, in.frame.module, level, path); sub.Module != nil {
			return in.module(sub.Module)
		}
	}
	if ran {
		return in.unknownField(id, in.symbol(name))
	}
	if imported.Module != nil {
		return &Value{kinds: KindUnknown}
	}
	return in.library(imported.Name + "." + name)
}

func (in *interpreter) importAll(imported names.Import) {
	m, ran := in.modules[imported.Module]
	if !ran {
		return
	}
	for _, f := range in.objects[m].fields {
		if v := in.state.get(Place{m, f}); v != nil && !strings.HasPrefix(in.symbolNames[f], "_") {
			in.write(in.variable(in.symbolNames[f]), v)
		}
	}
}

// importSource is what follows from in an import: the number of dots and the
// dotted name.
func importSource(t *syntax.Tree, n syntax.NodeID) (level int, dotted string) {
	source := t.Child(n, syntax.FieldModuleName)
	if source < 0 {
		return 0, ""
	}
	text := t.Text(source)
	dotted = strings.TrimLeft(text, ". ")
	return strings.Count(text[:len(text)-len(dotted)], "."), dotted
}

// module is the namespace of a module of the workspace. It ran before the
// code that imports it, unless there are too many.
func (in *interpreter) module(m *names.Module) *Value {
	id, ok := in.modules[m]
	if !ok {
		return &Value{kinds: KindUnknown}
	}
	return object(id)
}

// runModule runs a module's code after that of the modules it imports.
func (in *interpreter) runModule(m *names.Module) {
	if _, ok := in.modules[m]; ok {
		return
	}
	id, _ := in.newObject(objectKey{at: site{module: m}, kind: objectScope})
	in.modules[m] = id
	t := m.Tree
	for n := t.Root(); n < syntax.NodeID(t.Len()); n++ {
		switch t.Kind(n) {
		case syntax.ImportStatement:
			for c := range t.Children(n) {
				if name := t.Child(c, syntax.FieldName); name >= 0 {
					c = name
				}
				in.runImport(m, 0, t.Text(c))
			}
		case syntax.ImportFromStatement:
			level, dotted := importSource(t, n)
			in.runImport(m, level, dotted)
			for c := range t.Children(n) {
				if t.Role(c) != syntax.FieldName {
					continue
				}
				if name := t.Child(c, syntax.FieldName); name >= 0 {
					c = name
				}
				if dotted == "" || in.resolver.Resolve(in.ctx, m, level, dotted).Module != nil {
					path := t.Text(c)
					if dotted != "" {
						path = dotted + "." + path
					}
					in.runImport(m, level, path)
				}
			}
		}
	}
	in.frame = &frame{module: m, object: id, scope: m.Scope(t.Root()), base: in.state}
	in.spending, in.limit = 0, maxSteps
	in.block(t.Root())
	if in.state == nil {
		in.state = in.frame.base
	}
}

func (in *interpreter) runImport(m *names.Module, level int, dotted string) {
	if len(in.modules) > maxModules {
		return
	}
	if imported := in.resolver.Resolve(in.ctx, m, level, dotted); imported.Module != nil {
		in.runModule(imported.Module)
	}
}

// maxModules bounds how many files one analysis reads.
const maxModules = 400
