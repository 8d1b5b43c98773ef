package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// HookedObject is an object that a hook on a tensor refers to, and in which
// another of its hooks keeps what the backward pass gives it. The graph holds the
// first hook, and with it the object: where the backward makes a graph itself,
// what is kept leads back to the hook.
type HookedObject struct {
	Stored Location // what is kept
	Target Location // the attribute
	// Registered is where the hook that stores it is registered, Holds where the
	// one on the tensor is, which refers to the object as Captured.
	Registered, Holds Location
	Captured          string
}

// noteHolders notes the objects that a hook on a tensor refers to.
func (in *interpreter) noteHolders(r *attachment) {
	r.holders = r.holders[:0]
	for _, c := range in.captures(r.hook) {
		if c.value == nil {
			continue
		}
		for _, id := range c.value.objects {
			if info := in.objects[id]; info.kind == objectInstance && !in.isModuleClass(info.class) {
				r.holders = append(r.holders, holder{info.class, c.name})
			}
		}
	}
}

// holder is the class of an object that a hook refers to by a name.
type holder struct {
	class ObjectID
	name  string
}

// hookedObjects are those of the checked module, by position.
func (in *interpreter) hookedObjects() []HookedObject {
	var out []HookedObject
	for _, r := range in.attachments {
		if r.at.module != in.main || r.removed {
			continue
		}
		for _, h := range r.holders {
			for _, s := range in.keptByHooks(h.class) {
				s.Holds, s.Captured = Location{r.at.module, r.at.node}, h.name
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b HookedObject) int { return compareLocations(a.Stored, b.Stored) })
	return slices.CompactFunc(out, func(a, b HookedObject) bool { return a.Stored == b.Stored })
}

// keptByHooks are the arguments that methods of a class, or of one that it derives
// from in the checked module, keep in an attribute when they run as hooks, if
// nothing in the file empties the attribute.
func (in *interpreter) keptByHooks(class ObjectID) []HookedObject {
	var out []HookedObject
	for _, id := range in.lineage(class) {
		at := in.objects[id].at
		if at.module != in.main || in.objects[id].kind != objectClass {
			continue
		}
		t := at.module.Tree
		for n := range t.Children(t.Child(at.node, syntax.FieldBody)) {
			if t.Kind(n) == syntax.DecoratedDefinition {
				n = t.Child(n, syntax.FieldDefinition)
			}
			if n < 0 || t.Kind(n) != syntax.FunctionDefinition {
				continue
			}
			registered := registeredAs(in.wholeTree(), t.Text(t.Child(n, syntax.FieldName)))
			params := parameterNames(t, n)
			if registered < 0 || len(params) < 2 {
				continue
			}
			for c := n; c < t.End(n); c++ {
				if target, stored, ok := keptArgument(t, c, params); ok && !in.emptied(target) {
					out = append(out, HookedObject{Stored: Location{in.main, stored}, Target: Location{in.main, target}, Registered: Location{in.main, registered}})
				}
			}
		}
	}
	return out
}

// registeredAs is the call that registers a method of a name as a hook for the
// backward pass, or NoNode.
func registeredAs(t *syntax.Tree, method string) syntax.NodeID {
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) != syntax.Attribute || t.Text(t.Child(n, syntax.FieldAttribute)) != method || t.Kind(t.Parent(n)) != syntax.ArgumentList {
			continue
		}
		call := t.Parent(t.Parent(n))
		f := t.Child(call, syntax.FieldFunction)
		if t.Kind(f) != syntax.Attribute {
			continue
		}
		if name := t.Text(t.Child(f, syntax.FieldAttribute)); strings.HasPrefix(name, "register_") && strings.HasSuffix(name, "hook") && !strings.Contains(name, "forward") {
			return call
		}
	}
	return syntax.NoNode
}

// keptArgument is an assignment of an argument of a method, or of a part of it, to
// an attribute of its object.
func keptArgument(t *syntax.Tree, n syntax.NodeID, params []string) (target, stored syntax.NodeID, ok bool) {
	if t.Kind(n) != syntax.Assignment {
		return 0, 0, false
	}
	target, stored = t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
	if stored < 0 || t.Kind(target) != syntax.Attribute || t.Text(t.Child(target, syntax.FieldObject)) != params[0] {
		return 0, 0, false
	}
	from := bare(t, stored)
	if t.Kind(from) == syntax.Subscript {
		from = t.Child(from, syntax.FieldValue)
	}
	return target, stored, t.Kind(from) == syntax.Identifier && slices.Contains(params[1:], t.Text(from))
}

// emptied reports whether something other than a constructor gives an attribute of
// that name up.
func (in *interpreter) emptied(attribute syntax.NodeID) bool {
	t := in.wholeTree()
	name := t.Text(t.Child(attribute, syntax.FieldAttribute))
	for n := t.Root(); int(n) < t.Len(); n++ {
		if n != attribute && t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == name && in.isWritten(n) && !withinConstructor(t, n) {
			return true
		}
	}
	return false
}

// withinConstructor reports whether n stands in an __init__.
func withinConstructor(t *syntax.Tree, n syntax.NodeID) bool {
	for n = t.Parent(n); n >= 0; n = t.Parent(n) {
		if t.Kind(n) == syntax.FunctionDefinition {
			return t.Text(t.Child(n, syntax.FieldName)) == "__init__"
		}
	}
	return false
}
