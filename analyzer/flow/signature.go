package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// A signature says of the arguments of a call all that a summary may rest on:
// which kinds they have, how sure their graphs are, literals, and the functions
// and classes that they name. What identity they have is left to the call: the
// leaves are the argument values that a summary may refer to.
type signature struct {
	text   strings.Builder
	leaves []*Value
	held   []heldObject
	// refers are what the text names by address. They have to live as long as
	// the text does.
	refers []any
}

// heldObject is an object whose contents a signature describes too: a container
// or, when copy is set, the objects that another summary made.
type heldObject struct {
	id   ObjectID
	copy *copied
}

// maxLeaves bounds how many values a signature speaks of.
const maxLeaves = 64

// signature describes arguments; ok is false when a summary cannot stand for
// what the function does with them: objects whose contents count.
func (in *interpreter) signature(receiver *Value, args arguments) (s *signature, ok bool) {
	s = &signature{}
	if receiver != nil && !in.describe(s, receiver) {
		return nil, false
	}
	if in.off {
		s.text.WriteByte('-')
	}
	if in.evaluation() {
		s.text.WriteByte('e')
	}
	for _, v := range args.positional {
		if !in.describe(s, v) {
			return nil, false
		}
	}
	for _, k := range args.keyword {
		s.text.WriteString(k.name)
		s.text.WriteByte('=')
		if !in.describe(s, k.value) {
			return nil, false
		}
	}
	if args.star != nil {
		s.text.WriteByte('*')
		return s, in.describe(s, args.star)
	}
	return s, true
}

// describe adds a value to a signature.
func (in *interpreter) describe(s *signature, v *Value) bool {
	if len(s.leaves) >= maxLeaves {
		return false
	}
	s.text.WriteByte(',')
	if v == nil {
		s.leaves = append(s.leaves, v)
		return true
	}
	if v.elements != nil {
		s.text.WriteByte('(')
		if v.variadic {
			s.text.WriteByte('*')
		}
		for _, e := range v.elements {
			if !in.describe(s, e) {
				return false
			}
		}
		s.text.WriteByte(')')
	}
	s.leaves = append(s.leaves, v)
	fmt.Fprintf(&s.text, "%d.%d.%d", v.kinds, v.size, in.sure(v.atoms))
	if len(v.atoms) > 0 {
		s.text.WriteByte('a')
		if in.areParameters(v.atoms) {
			s.text.WriteByte('p')
		}
	}
	if v.shown != byKind {
		fmt.Fprintf(&s.text, "?%d", v.shown)
	}
	if v.structural || v.times > 0 {
		fmt.Fprintf(&s.text, "%t%d", v.structural, v.times)
	}
	switch l := telling(v).(type) {
	case bool, int:
		fmt.Fprint(&s.text, l)
	case string:
		s.text.WriteString(strconv.Quote(l))
	}
	for _, id := range v.objects {
		if !in.describeObject(s, id) {
			return false
		}
	}
	return true
}

// telling is the literal of a value, as far as code that is given it may do one
// thing or another: of numbers, whether they are zero.
func telling(v *Value) any {
	if n, ok := v.literal.(int); ok && n != 0 && n != 1 {
		return nil
	}
	return v.literal
}

// describeObject adds an object to a signature: one that a name stands for, one
// whose contents are known, or one of which nothing is known.
func (in *interpreter) describeObject(s *signature, id ObjectID) bool {
	info := in.objects[id]
	if kind, m, name, ok := in.named(id); ok {
		fmt.Fprintf(&s.text, "<%d %p %d %s>", kind, m, info.at.node, name)
		s.refers = append(s.refers, m)
		return true
	}
	switch {
	case info.template != nil && !info.template.copy.changed:
		return in.describeCopy(s, info.template)
	case info.kind == objectContainer:
		return in.describeContainer(s, id)
	case info.kind != objectUnknown || len(info.fields) > 0:
		return false
	}
	fmt.Fprintf(&s.text, "<? %s", info.name)
	if info.model {
		s.text.WriteByte('m')
		if in.frozen(id) {
			s.text.WriteByte('f')
		}
	}
	if info.optimizer {
		s.text.WriteByte('o')
	}
	s.text.WriteByte('>')
	return true
}

// describeContainer adds a container with its contents.
func (in *interpreter) describeContainer(s *signature, id ObjectID) bool {
	if i := slices.IndexFunc(s.held, func(h heldObject) bool { return h.id == id && h.copy == nil }); i >= 0 {
		fmt.Fprintf(&s.text, "<#%d>", i)
		return true
	}
	info := in.objects[id]
	s.held = append(s.held, heldObject{id: id})
	fmt.Fprintf(&s.text, "<[%d %t", info.container, info.bounded)
	for _, f := range info.fields {
		if v := in.state.get(Place{id, f}); v != nil {
			s.text.WriteString(strconv.Quote(in.symbolNames[f]))
			if !in.describe(s, v) {
				return false
			}
		}
	}
	if info.factory != nil && !in.describe(s, info.factory) {
		return false
	}
	s.text.WriteByte('>')
	return true
}

// describeCopy adds an object that a summary made: the summary says what is in
// it.
func (in *interpreter) describeCopy(s *signature, t *template) bool {
	c := t.copy
	i := slices.IndexFunc(s.held, func(h heldObject) bool { return h.copy == c })
	fmt.Fprintf(&s.text, "<=%p %d", c.summary, t.number)
	s.refers = append(s.refers, c.summary)
	if i >= 0 {
		fmt.Fprintf(&s.text, "#%d>", i)
		return true
	}
	if len(c.origins) > 0 || len(c.held) > 0 {
		return false
	}
	s.held = append(s.held, heldObject{copy: c})
	for _, v := range c.leaves {
		if !in.describe(s, v) {
			return false
		}
	}
	s.text.WriteByte('>')
	return true
}

// named is how every analysis may refer to an object: its kind with a module
// and a name there, or with the name that a library has for it.
func (in *interpreter) named(id ObjectID) (kind objectKind, m *names.Module, name string, ok bool) {
	info := in.objects[id]
	switch info.kind {
	case objectLibrary, objectGuard:
		return info.kind, nil, info.name, true
	case objectImport:
		return info.kind, info.module, in.symbolNames[info.field], true
	case objectScope:
		return info.kind, info.module, "", info.module != nil
	case objectClass, objectFunction:
		if info.at.frame != nil || info.at.module == nil || info.class != 0 {
			return 0, nil, "", false // of a running function, or made by a decorator
		}
		if info.kind == objectFunction && info.at.module == in.main {
			return 0, nil, "", false // what grows in it is told
		}
		if name = definedAs(info.at.module, info.at.node); name != "" {
			return info.kind, info.at.module, name, true
		}
	}
	return 0, nil, "", false
}

// definedAs is the global name to whose value a def or class statement belongs:
// its own, or that of the class around it. It is empty for what stands within a
// function.
func definedAs(m *names.Module, n syntax.NodeID) string {
	t := m.Tree
	outermost := syntax.NoNode
	for p := n; p >= 0; p = t.Parent(p) {
		switch t.Kind(p) {
		case syntax.ClassDefinition:
			outermost = p
		case syntax.FunctionDefinition:
			if p != n {
				return ""
			}
			outermost = p
		case syntax.Lambda:
			return ""
		}
	}
	if name := t.Child(outermost, syntax.FieldName); name >= 0 {
		return t.Text(name)
	}
	return ""
}

// referent is the object that named describes.
func (in *interpreter) referent(kind objectKind, m *names.Module, node syntax.NodeID, name string) (ObjectID, bool) {
	switch kind {
	case objectLibrary:
		return in.library(name).objects[0], true
	case objectGuard:
		id, _ := in.newObject(objectKey{kind: objectGuard, name: name})
		return id, true
	case objectImport:
		return in.pending(m, name).objects[0], true
	case objectScope:
		return in.namespace(m).objects[0], true
	}
	in.global(m, in.symbol(name)) // defines it
	id, ok := in.objectIDs[in.packed(objectKey{at: site{module: m, node: node}, kind: kind})]
	return id, ok
}

// standIn makes what stands for the arguments of a call in the analysis that
// makes its summary: values of which only the signature is known.
type standIn struct {
	*interpreter
	caller *interpreter
	leaf   int
	held   map[heldObject]int
}

// arguments are those that stand for a call's.
func (s *standIn) arguments(receiver *Value, args arguments) (*Value, arguments) {
	var out arguments
	if receiver != nil {
		receiver = s.value(receiver)
	}
	for _, v := range args.positional {
		out.positional = append(out.positional, s.value(v))
	}
	for _, k := range args.keyword {
		out.keyword = append(out.keyword, keywordArgument{name: k.name, value: s.value(k.value)})
	}
	if args.star != nil {
		out.star = s.value(args.star)
	}
	return receiver, out
}

// value goes through a value in the order in which describe does.
func (s *standIn) value(v *Value) *Value {
	if v == nil {
		s.leaf++
		return nil
	}
	c := &Value{kinds: v.kinds, size: v.size, structural: v.structural, shown: v.shown, variadic: v.variadic, literal: telling(v)}
	for _, e := range v.elements {
		c.elements = append(c.elements, s.value(e))
	}
	leaf := s.leaf
	s.leaf++
	p := Place{argumentLeaves, Symbol(leaf)}
	if len(v.atoms) > 0 {
		if s.caller.areParameters(v.atoms) {
			c.atoms = atoms{s.origin(site{slot: parameterLeaf - int32(leaf)}, nil, recorded{parameter: true, sure: Certain})}
		} else {
			s.making.entry.back[p] = carry{sure: s.caller.sure(v.atoms)}
			c.atoms = atoms{s.header(atomCarried, s.making.entry, p)}
		}
	}
	for _, id := range v.objects {
		if mine := s.object(id, leaf); mine != 0 {
			c.objects = unionSorted(c.objects, []ObjectID{mine})
		}
	}
	return c
}

// parameterLeaf starts the slots of sites that stand for arguments that are
// parameters of a module.
const parameterLeaf = -1 << 24

// object stands for an object of the value that is a leaf.
func (s *standIn) object(id ObjectID, leaf int) ObjectID {
	info := s.caller.objects[id]
	if kind, m, name, ok := s.caller.named(id); ok {
		mine, _ := s.referent(kind, m, info.at.node, name)
		return mine
	}
	if t := info.template; t != nil && !t.copy.changed {
		return s.copied(t)
	}
	if info.kind == objectContainer {
		return s.container(id)
	}
	mine, unknown := s.newObject(objectKey{kind: objectUnknown, parent: argumentLeaves, field: Symbol(leaf), name: info.name})
	unknown.model, unknown.optimizer = info.model, info.optimizer
	if s.caller.frozen(id) {
		s.freeze(mine, true)
	}
	return mine
}

// hold numbers what is held, and reports whether it was there before.
func (s *standIn) hold(h heldObject) (number int, known bool) {
	if number, known = s.held[h]; !known {
		number = len(s.held)
		s.held[h] = number
	}
	return number, known
}

func (s *standIn) container(id ObjectID) ObjectID {
	number, known := s.hold(heldObject{id: id})
	info := s.caller.objects[id]
	mine, own := s.newObject(objectKey{at: site{slot: int32(number) + 1}, kind: objectContainer, container: info.container})
	if known {
		return mine
	}
	s.making.held[mine] = number
	own.bounded = info.bounded
	for _, f := range info.fields {
		if v := s.caller.state.get(Place{id, f}); v != nil {
			s.write(Place{mine, s.symbol(s.caller.symbolNames[f])}, s.value(v))
		}
	}
	if info.factory != nil {
		own.factory = s.value(info.factory)
	}
	return mine
}

func (s *standIn) copied(t *template) ObjectID {
	number, known := s.hold(heldObject{copy: t.copy})
	key := copyKey{summary: t.copy.summary, number: number}
	c := s.copies[key]
	if !known {
		c = s.copyOf(key, site{slot: int32(number) + 1})
		c.given = true
		s.making.copies[c] = number
		for _, v := range t.copy.leaves {
			c.leaves = append(c.leaves, s.value(v))
		}
	}
	return c.object(s.interpreter, reference{number: t.number})[0]
}
