package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// This file reads from the text of functions and classes which of their
// parameters and attributes are tensors, where no call shows it.

// usedAsTensor reports whether the annotation of a parameter or what the
// function does with it says that it is a tensor.
func (in *interpreter) usedAsTensor(c *code, p parameter, depth int) bool {
	t := c.module.Tree
	if p.typ >= 0 && in.kindsOf(in.inModuleOf(c, func() *Value { return in.annotation(p.typ) })) == KindTensor {
		return true
	}
	onDevice, computed := false, false
	for n := t.Child(c.node, syntax.FieldBody); n >= 0 && n < t.End(c.node); n++ {
		if t.Kind(n) != syntax.Identifier || t.Text(n) != p.name {
			continue
		}
		switch parent := t.Parent(n); t.Kind(parent) {
		case syntax.Attribute:
			if t.Role(n) != syntax.FieldObject {
				continue
			}
			name := t.Text(t.Child(parent, syntax.FieldAttribute))
			if torch.TensorAttributes[name] || torch.TensorMethods[name] {
				return true
			}
			onDevice = onDevice || name == "device"
		case syntax.BinaryOperator:
			computed = true
		case syntax.ArgumentList:
			f := in.values[c.module].at(t.Child(t.Parent(parent), syntax.FieldFunction))
			if t.First(parent) == n && in.takesTensor(f) || depth < maxHandedOn && in.handsOn(f, t, n, depth) {
				return true
			}
		}
	}
	return onDevice && computed // a model has a device too
}

// maxHandedOn is how many functions a parameter is followed into.
const maxHandedOn = 3

// handsOn reports whether a function of the program that is given n by position
// uses it as a tensor.
func (in *interpreter) handsOn(f *Value, t *syntax.Tree, n syntax.NodeID, depth int) bool {
	if f == nil || len(f.objects) != 1 || in.objects[f.objects[0]].code == nil {
		return false
	}
	position := 0
	for c := t.First(t.Parent(n)); c >= 0 && c != n; c = t.Next(c) {
		position++
	}
	c := in.objects[f.objects[0]].code
	for p := range c.parameters() {
		if position == 0 {
			return in.usedAsTensor(c, p, depth+1)
		}
		position--
	}
	return false
}

// takesTensor reports whether the first argument of a function is a tensor.
func (in *interpreter) takesTensor(f *Value) bool {
	if in.isModule(f) {
		return true
	}
	if f == nil || len(f.objects) != 1 || in.objects[f.objects[0]].kind != objectLibrary {
		return false
	}
	name := in.objects[f.objects[0]].name
	c, ok := torch.Function(name)
	return ok && strings.HasPrefix(name, "torch.") && (c.Effect == torch.Keeps || c.Effect == torch.Splits || c.Effect == torch.Pieces)
}

// namedBy is what an expression of a function's text names in its module.
func (in *interpreter) namedBy(c *code, n syntax.NodeID) *Value {
	return in.inModuleOf(c, func() *Value { return in.expression(n) })
}

// inModuleOf evaluates something in the module of a function.
func (in *interpreter) inModuleOf(c *code, evaluate func() *Value) *Value {
	outer := in.execution
	in.execution = execution{state: in.state.push(), frame: in.moduleFrame(c.module), limit: maxSteps}
	v := evaluate()
	in.execution = outer
	return v
}

// holdsGiven reports whether the instances of a module class keep tensors that
// their constructor is given and make no parameters: there is one for each batch
// rather than one for the whole run.
func (in *interpreter) holdsGiven(class ObjectID) bool {
	if !in.isModuleClass(class) {
		return false
	}
	constructor, _ := in.classAttribute(class, in.symbol("__init__"))
	if constructor == nil || len(constructor.objects) != 1 || in.objects[constructor.objects[0]].code == nil {
		return false
	}
	c := in.objects[constructor.objects[0]].code
	t := c.module.Tree
	given := map[string]parameter{}
	for p := range c.parameters() {
		given[p.name] = p
	}
	found := false
	for n := c.node; n < t.End(c.node); n++ {
		switch t.Kind(n) {
		case syntax.Call:
			if in.makesParameters(c, t.Child(n, syntax.FieldFunction)) {
				return false
			}
		case syntax.Assignment:
			for target, name := range keptNames(t, n) {
				p, ok := given[name]
				found = found || ok && (in.usedAsTensor(c, p, 0) || in.isTensorOf(class, t.Text(target)))
			}
		}
	}
	return found
}

// holdsObjects reports whether the instances of a class that is no module keep
// objects that their constructor is given, or parts of them: others have them
// too, and for longer or shorter than an instance lives.
func (in *interpreter) holdsObjects(class ObjectID) bool {
	constructor, _ := in.classAttribute(class, in.symbol("__init__"))
	if in.isModuleClass(class) || constructor == nil || len(constructor.objects) != 1 || in.objects[constructor.objects[0]].code == nil {
		return false
	}
	c := in.objects[constructor.objects[0]].code
	t := c.module.Tree
	given := map[string]bool{}
	for p := range c.parameters() {
		given[p.name] = p.typ < 0 && (c.defaults[in.symbol(p.name)] == nil || c.defaults[in.symbol(p.name)].only(KindNone))
	}
	for n := c.node; n < t.End(c.node); n++ {
		if t.Kind(n) != syntax.Assignment {
			continue
		}
		lefts, rights := sides(t, t.Child(n, syntax.FieldLeft)), sides(t, t.Child(n, syntax.FieldRight))
		if len(lefts) == len(rights) && slices.ContainsFunc(lefts, func(left syntax.NodeID) bool {
			return t.Kind(left) == syntax.Attribute && given[partOf(t, rights[slices.Index(lefts, left)])]
		}) {
			return true
		}
	}
	return false
}

// partOf is the variable whose value, or a part of it by a literal key, an
// expression is; "" for others.
func partOf(t *syntax.Tree, n syntax.NodeID) string {
	n = bare(t, n)
	switch t.Kind(n) {
	case syntax.Identifier:
		return t.Text(n)
	case syntax.Subscript:
		return partOf(t, t.Child(n, syntax.FieldValue))
	case syntax.Call:
		if f := t.Child(n, syntax.FieldFunction); t.Kind(f) == syntax.Attribute && t.Text(t.Child(f, syntax.FieldAttribute)) == "get" {
			return partOf(t, t.Child(f, syntax.FieldObject))
		}
	}
	return ""
}

// keptNames are the attributes that an assignment gives a variable's value, as
// such or as one of two alternatives, with the name of the variable.
func keptNames(t *syntax.Tree, n syntax.NodeID) func(yield func(target syntax.NodeID, name string) bool) {
	return func(yield func(syntax.NodeID, string) bool) {
		lefts, rights := sides(t, t.Child(n, syntax.FieldLeft)), sides(t, t.Child(n, syntax.FieldRight))
		if len(lefts) != len(rights) {
			return
		}
		for i, left := range lefts {
			if t.Kind(left) != syntax.Attribute {
				continue
			}
			right := bare(t, rights[i])
			alternatives := []syntax.NodeID{right}
			if t.Kind(right) == syntax.ConditionalExpression {
				alternatives = slices.Collect(t.Children(right))
			}
			for _, e := range alternatives {
				if e = bare(t, e); t.Kind(e) == syntax.Identifier && !yield(left, t.Text(e)) {
					return
				}
			}
		}
	}
}

// sides are the elements of a tuple, else n alone.
func sides(t *syntax.Tree, n syntax.NodeID) []syntax.NodeID {
	if n < 0 {
		return nil
	}
	n = bare(t, n)
	switch t.Kind(n) {
	case syntax.PatternList, syntax.TuplePattern, syntax.ExpressionList, syntax.Tuple:
		return slices.Collect(t.Children(n))
	}
	return []syntax.NodeID{n}
}

// makesParameters reports whether a call of what an expression of a function
// names makes a module with parameters, or a parameter.
func (in *interpreter) makesParameters(c *code, callee syntax.NodeID) bool {
	if k := c.module.Tree.Kind(callee); k != syntax.Identifier && k != syntax.Attribute {
		return false
	}
	for _, id := range in.namedBy(c, callee).objects {
		switch info := in.objects[id]; info.kind {
		case objectLibrary:
			class, _ := torch.Module(info.name)
			if class.Trainable || class.Container || strings.HasPrefix(info.name, "torch.nn.Parameter") {
				return true
			}
		case objectClass:
			if in.isModuleClass(id) {
				return true
			}
		}
	}
	return false
}

// isTensorOf reports whether the file of a class uses an attribute, such as
// self.K, as a tensor.
func (in *interpreter) isTensorOf(class ObjectID, attribute string) bool {
	t := in.objects[class].at.module.Tree
	in.wholeText = true
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) != syntax.Attribute || t.Kind(t.Parent(n)) != syntax.Attribute || t.Role(n) != syntax.FieldObject || t.Text(n) != attribute {
			continue
		}
		if name := t.Text(t.Child(t.Parent(n), syntax.FieldAttribute)); name == "to" || torch.TensorAttributes[name] || torch.TensorMethods[name] {
			return true
		}
	}
	return false
}
