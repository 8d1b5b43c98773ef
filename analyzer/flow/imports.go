package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// importModules runs import a.b as c.
func (in *interpreter) importModules(n syntax.NodeID) {
	t := in.tree()
	for c := range t.Children(n) {
		dotted, alias := c, t.Child(c, syntax.FieldAlias)
		if alias >= 0 {
			dotted = t.Child(c, syntax.FieldName)
		}
		path := t.Text(dotted)
		imported := in.resolve(in.frame.module, 0, path)
		v := in.library(path)
		if imported.Module != nil {
			v = in.namespace(imported.Module)
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
	level, dotted := names.ImportSource(t, n)
	imported := in.resolve(in.frame.module, level, dotted)
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

// importName is what from … import name binds. A name of another file is bound
// without a look at the file: most imported names are never read on a path
// that matters, and the file imports others in turn.
func (in *interpreter) importName(imported names.Import, level int, dotted, name string) *Value {
	if imported.Module != nil {
		return in.pending(imported.Module, name)
	}
	path := name
	if dotted != "" {
		path = dotted + "." + name
	}
	if level > 0 {
		if sub := in.resolve(in.frame.module, level, path); sub.Module != nil {
			return in.namespace(sub.Module)
		}
	}
	return in.library(imported.Name + "." + name)
}

// importAll runs from … import *.
func (in *interpreter) importAll(imported names.Import) {
	for _, name := range in.exports(imported.Module, 0) {
		in.write(in.variable(name), in.pending(imported.Module, name))
	}
}

// exports are the names that from m import * takes.
func (in *interpreter) exports(m *names.Module, depth int) []string {
	if m == nil || depth > maxDepth {
		return nil
	}
	out := m.Exports()
	for _, n := range m.Stars() {
		out = append(out, in.exports(in.source(m, n).Module, depth+1)...)
	}
	return out
}

// source is what a from statement of module m imports from.
func (in *interpreter) source(m *names.Module, n syntax.NodeID) names.Import {
	level, dotted := names.ImportSource(m.Tree, n)
	return in.resolve(m, level, dotted)
}

// namespace is the object of a module of the workspace.
func (a *analysis) namespace(m *names.Module) *Value {
	id, info := a.newObject(objectKey{at: site{module: m}, kind: objectScope})
	info.module = m
	return object(id)
}

// pending is a name of a module that is looked up when it is first read.
func (a *analysis) pending(m *names.Module, name string) *Value {
	id, info := a.newObject(objectKey{at: site{module: m}, kind: objectImport, field: a.symbol(name)})
	info.module = m
	return object(id)
}

// resolved is v with pending imports replaced by what they stand for.
func (in *interpreter) resolved(v *Value) *Value {
	if v == nil || !in.anyIs(v, objectImport) {
		return v
	}
	var out *Value
	for _, id := range v.objects {
		if info := in.objects[id]; info.kind == objectImport {
			out = join(out, in.lookIn(info.module, info.field))
		} else {
			out = join(out, object(id))
		}
	}
	if v.kinds == KindObject && len(v.elements) == 0 {
		return out
	}
	rest := *v
	rest.objects = nil
	return join(out, &rest)
}

// maxLookups bounds how many names are looked up for each other: classes of many
// files may derive from each other, and files may import from each other in a
// circle.
const maxLookups = 64

// lookIn is a name of a module: one its code binds, one it takes from another
// with a *, or a module below it.
func (in *interpreter) lookIn(m *names.Module, f Symbol) *Value {
	id := in.namespace(m).objects[0]
	if v := in.global(m, f); v != nil {
		return v
	}
	if sub := in.resolve(m, 1, in.symbolNames[f]); sub.Module != nil {
		return in.namespace(sub.Module)
	}
	return in.unknownField(id, f)
}

// global is a global of a module, nil when no code binds it. Of modules other
// than the main one only what is asked for runs: the statements that make this
// name.
func (in *interpreter) global(m *names.Module, f Symbol) *Value {
	if in.lookingUp >= maxLookups {
		return nil
	}
	in.lookingUp++
	defer func() { in.lookingUp-- }()
	name := in.symbolNames[f]
	number, unit, bound := m.Unit(name)
	if bound {
		in.runUnit(m, number, unit)
	}
	if v := in.state.get(Place{in.namespace(m).objects[0], f}); v != nil {
		return in.resolved(v)
	}
	if bound || strings.HasPrefix(name, "_") {
		return nil
	}
	for _, n := range slices.Backward(m.Stars()) {
		if imported := in.source(m, n); imported.Module != nil {
			if v := in.global(imported.Module, f); v != nil {
				return v
			}
		}
	}
	return nil
}

// unitKey names a unit of a module.
type unitKey struct {
	module *names.Module
	number int
}

// runUnit runs some statements of a module, once. What they bind is there for
// all code, whatever branch or loop the name was first needed in.
func (in *interpreter) runUnit(m *names.Module, number int, unit names.Unit) {
	key := unitKey{m, number}
	if m == in.main || in.ran[key] || in.stopped {
		return
	}
	in.ran[key] = true
	first, written := len(in.objects), in.oldestWritten
	outer := in.execution
	in.execution = execution{state: in.initial, frame: in.moduleFrame(m), limit: maxSteps}
	for _, n := range unit {
		if in.state == nil {
			break
		}
		in.statement(n)
	}
	in.execution, in.oldestWritten = outer, written
	for _, made := range in.objects[first:] {
		made.global, made.born = true, 0 // whoever asked for it did not make it
	}
}

// moduleFrame is a frame for the code of a module itself.
func (in *interpreter) moduleFrame(m *names.Module) *frame {
	return &frame{module: m, object: in.namespace(m).objects[0], scope: m.Scope(m.Tree.Root()), base: in.initial}
}
