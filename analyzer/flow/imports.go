package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// maxModules bounds how many files of the workspace one analysis runs.
const maxModules = 200

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
		if sub := in.resolver.Resolve(in.ctx, in.frame.module, level, path); sub.Module != nil {
			return in.namespace(sub.Module)
		}
	}
	return in.library(imported.Name + "." + name)
}

// importAll runs from … import *.
func (in *interpreter) importAll(imported names.Import) {
	if imported.Module == nil {
		return
	}
	m := in.namespace(imported.Module).objects[0]
	in.runModule(imported.Module)
	for _, f := range in.objects[m].fields {
		if v := in.state.get(Place{m, f}); v != nil && !strings.HasPrefix(in.symbolNames[f], "_") {
			in.write(in.variable(in.symbolNames[f]), v)
		}
	}
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
	if v == nil || len(v.objects) == 0 {
		return v
	}
	var out *Value
	found := false
	for _, id := range v.objects {
		if info := in.objects[id]; info.kind == objectImport {
			found = true
			out = join(out, in.lookIn(info.module, info.field))
		} else {
			out = join(out, object(id))
		}
	}
	if !found {
		return v
	}
	if v.kinds == KindObject && len(v.elements) == 0 {
		return out
	}
	rest := *v
	rest.objects = nil
	return join(out, &rest)
}

// lookIn is a name of a module: one its code binds, or a module below it.
func (in *interpreter) lookIn(m *names.Module, f Symbol) *Value {
	if in.lookingUp >= maxDepth { // files that import from each other
		return &Value{kinds: KindUnknown}
	}
	in.lookingUp++
	defer func() { in.lookingUp-- }()
	in.runModule(m)
	id := in.namespace(m).objects[0]
	if v := in.state.get(Place{id, f}); v != nil {
		return in.resolved(v)
	}
	if sub := in.resolver.Resolve(in.ctx, m, 1, in.symbolNames[f]); sub.Module != nil {
		return in.namespace(sub.Module)
	}
	return in.unknownField(id, f)
}

// runModule runs the code of a module, once. What it binds is there for all
// code, whatever branch or loop the import was first needed in.
func (in *interpreter) runModule(m *names.Module) {
	if in.ran[m] || len(in.ran) >= maxModules {
		return
	}
	in.ran[m] = true
	outer := in.execution
	in.execution = execution{state: in.global, frame: in.moduleFrame(m), limit: maxSteps}
	in.block(m.Tree.Root())
	in.execution = outer
}

// moduleFrame is a frame for the code of a module itself.
func (in *interpreter) moduleFrame(m *names.Module) *frame {
	return &frame{module: m, object: in.namespace(m).objects[0], scope: m.Scope(m.Tree.Root()), base: in.global}
}
