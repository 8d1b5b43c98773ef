package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// HookCycle is a hook on a tensor that refers to the tensor, or to what was
// computed from it: the tensor's node holds the hook, and the hook holds the
// tensor, by a reference that Python's garbage collector does not see.
type HookCycle struct {
	Call     Location // the registration
	Tensor   Location // on which it is registered
	Function Location // the hook, where the text shows it, else its expression
	// Captured is the variable, argument or object by which the hook refers to
	// the tensor; Itself says that it is the tensor's own variable.
	Captured string
	Itself   bool
	// Loop is what makes cycle after cycle, its Module nil when nothing in view
	// does.
	Loop Location
	Sure Certainty
}

// LastingHook is a hook that is registered again and again on something that
// outlives it, with a handle that nobody keeps: it is never removed.
type LastingHook struct {
	Call Location
	// Repeats is the loop, or the function whose every call registers another.
	Repeats Location
	// Captured is what each hook keeps of its own, empty when it keeps nothing
	// but itself.
	Captured string
	// Runs is where the hooks run, in the same iteration or call, its Module nil
	// for hooks on parameters, which run in a backward.
	Runs Location
}

// attachment is a hook at one place of the program.
type attachment struct {
	at       site
	frame    *frame
	loop     *loop
	receiver syntax.NodeID
	hook     *Value
	called   []codeKey
	removed  bool
	cycle    *HookCycle
	lasting  *LastingHook
	repeats  *loop // in whose iterations the lasting hook is registered
	holders  []holder
}

// hookTensor registers a hook on a tensor, or on the node that made it.
func (in *interpreter) hookTensor(n, receiver syntax.NodeID, obj *Value, args arguments) *Value {
	hook := args.at(0, "hook")
	handle, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: hookHandle})
	info.parent, info.call = 0, hook
	r := in.attach(n, receiver, handle, hook)
	if hook == nil || in.dry {
		return object(handle)
	}
	in.noteHolders(r)
	if in.areParameters(in.shallow(obj)) {
		in.lasts(r, obj)
	} else if in.sure(obj.atoms) >= Likely && !in.allLeaves(in.originsOf(obj.atoms)) {
		in.closesCycle(r, obj, args.source(0, "hook", n))
	}
	return object(handle)
}

// isNode reports whether an expression is the node of the graph that made a
// tensor.
func isNode(t *syntax.Tree, n syntax.NodeID) bool {
	return t.Kind(n) == syntax.Attribute && t.Text(t.Child(n, syntax.FieldAttribute)) == "grad_fn"
}

// attach is the attachment that made a handle.
func (in *interpreter) attach(n, receiver syntax.NodeID, handle ObjectID, hook *Value) *attachment {
	r := in.attachments[handle]
	if r == nil {
		r = &attachment{at: in.site(n), called: in.calledFunctions()}
		in.attachments[handle] = r
	}
	r.frame, r.loop, r.receiver, r.hook = in.frame, in.loop, receiver, hook
	if hook != nil {
		for _, id := range hook.objects {
			if c := in.hookCode(id); c != nil {
				in.hookCodes[codeKey{c.module, c.node}] = Location{in.frame.module, n}
			}
		}
	}
	return r
}

// hookCode is the function that a hook is, nil when it is not known.
func (in *interpreter) hookCode(id ObjectID) *code {
	switch info := in.objects[id]; info.kind {
	case objectFunction:
		return info.code
	case objectBound:
		return in.objects[info.class].code
	case objectPartial:
		if info.call != nil && len(info.call.objects) == 1 {
			return in.hookCode(info.call.objects[0])
		}
	case objectInstance:
		if v, _ := in.classAttribute(info.class, in.symbol("__call__")); v != nil && len(v.objects) == 1 {
			return in.objects[v.objects[0]].code
		}
	}
	return nil
}

// hookOf is where the hook in which code runs was registered, its Module nil
// when the code is in none.
func (a *analysis) hookOf(f, until *frame) Location {
	for ; f != nil && f != until; f = f.caller {
		if f.code == nil {
			continue
		}
		if at, ok := a.hookCodes[codeKey{f.code.module, f.code.node}]; ok {
			return at
		}
	}
	return Location{}
}

// originsOf are the origins among atoms.
func (a *analysis) originsOf(as atoms) []Atom {
	var out []Atom
	for _, x := range as {
		if a.atoms[x].kind == atomOrigin {
			out = append(out, x)
		}
	}
	return out
}

// captured is something that a function refers to.
type captured struct {
	name  string
	value *Value
	place Place  // of a variable
	frame *frame // whose variable it is, nil for a value that the function itself holds
}

// captures are what a hook refers to: the variables of functions around it, its
// defaults, the arguments bound to it and the object whose method it is.
func (in *interpreter) captures(hook *Value) []captured {
	var out []captured
	for _, id := range hook.objects {
		info := in.objects[id]
		switch info.kind {
		case objectBound:
			out = append(out, captured{name: "self", value: object(info.parent)})
		case objectPartial:
			t := in.tree()
			for i, v := range info.args.positional {
				if e := info.args.expr(i, syntax.NoNode); e >= 0 {
					out = append(out, captured{name: t.Text(e), value: v})
				}
			}
			for _, k := range info.args.keyword {
				out = append(out, captured{name: t.Text(k.expr), value: k.value})
			}
			out = append(out, in.captures(orPlain(info.call))...)
		case objectFunction:
			out = append(out, in.closure(info.code)...)
		}
	}
	return out
}

// closure is what a function refers to.
func (in *interpreter) closure(c *code) []captured {
	var out []captured
	t := c.module.Tree
	for p := range t.Children(t.Child(c.node, syntax.FieldParameters)) {
		if value := t.Child(p, syntax.FieldValue); value >= 0 {
			out = append(out, captured{name: t.Text(value), value: c.defaults[in.symbol(t.Text(t.Child(p, syntax.FieldName)))]})
		}
	}
	seen := map[string]bool{}
	for n := t.Child(c.node, syntax.FieldBody); n < t.End(c.node); n++ {
		name := t.Text(n)
		if t.Kind(n) != syntax.Identifier || t.Role(n) == syntax.FieldAttribute || seen[name] || c.scope == nil {
			continue
		}
		seen[name] = true
		scope := c.scope.Lookup(name)
		if scope == c.scope || scope == c.module.Scope(t.Root()) {
			continue
		}
		f := c.closure
		for f != nil && f.scope != scope {
			f = f.closure
		}
		if f == nil || f.code == nil {
			continue
		}
		p := Place{f.object, in.symbol(name)}
		if v := in.state.get(p); v != nil {
			out = append(out, captured{name: name, value: v, place: p, frame: f})
		}
	}
	return out
}

// anew is the innermost loop in each iteration of which something captured is
// another one: a variable is that of one activation of its function, a value
// belongs to the function that was made with it. It is nil where there is none.
func (in *interpreter) anew(c captured) *loop {
	for l := in.loop; l != nil; l = l.parent {
		if l.steps.few {
			continue
		}
		if c.frame == nil || !isWithin(l.frame, c.frame) {
			return l
		}
	}
	return nil
}

// isWithin reports whether f is outer or was called by it.
func isWithin(f, outer *frame) bool {
	for ; f != nil; f = f.caller {
		if f == outer || f.object == outer.object {
			return true
		}
	}
	return false
}

// closesCycle looks whether a hook on a tensor refers to the tensor.
func (in *interpreter) closesCycle(r *attachment, obj *Value, expr syntax.NodeID) {
	t := in.tree()
	receiver := r.receiver
	if isNode(t, receiver) {
		receiver = t.Child(receiver, syntax.FieldObject)
	}
	own := in.placeOf(receiver)
	r.cycle = nil
	for _, c := range in.captures(r.hook) {
		if c.value == nil {
			continue
		}
		itself := own != nil && c.frame != nil && c.place == *own || c.frame == nil && c.name == t.Text(receiver)
		if !itself && !in.reachesBack(c, obj, receiver) {
			continue
		}
		cycle := &HookCycle{
			Call: Location{r.at.module, r.at.node}, Tensor: Location{r.at.module, receiver}, Function: Location{r.at.module, expr},
			Captured: c.name, Itself: itself, Sure: in.sure(obj.atoms),
		}
		if code := in.hookCode(r.hook.objects[0]); code != nil {
			cycle.Function = Location{code.module, code.node}
		}
		l := in.anew(c)
		if l == nil {
			if c.frame == nil || in.loop != nil {
				continue // one tensor's worth, replaced by the next
			}
		} else {
			cycle.Loop = Location{l.at.module, l.at.node}
		}
		r.cycle = cycle
		return
	}
}

// reachesBack reports whether what a hook captured refers to the tensor that it
// is registered on: it was computed from it, or is an object that holds it and
// is made as often.
func (in *interpreter) reachesBack(c captured, obj *Value, receiver syntax.NodeID) bool {
	if !in.madeHere(receiver, obj.atoms) {
		return false
	}
	if c.value.is(KindTensor|KindUnknown) && len(c.value.atoms) > len(obj.atoms) {
		return len(c.value.atoms.intersection(obj.atoms)) == len(obj.atoms)
	}
	l := in.anew(c)
	if l == nil || !c.value.only(KindObject) {
		return false
	}
	for _, id := range c.value.objects {
		if info := in.objects[id]; info.kind == objectInstance && in.madeIn(l, info.at) && !in.isModuleClass(info.class) {
			if all := in.reach(object(id)); len(all.intersection(obj.atoms)) == len(obj.atoms) {
				return true
			}
		}
	}
	return false
}

// madeHere reports whether the operation that gave a variable its value recorded
// a graph of its own, so that what has this graph was computed from it.
func (in *interpreter) madeHere(n syntax.NodeID, as atoms) bool {
	if p := in.placeOf(n); p != nil {
		if d, ok := in.defined[*p]; ok && d.expr.Module == in.frame.module {
			return in.madeWithin(d.expr.Node, as)
		}
	}
	return in.madeWithin(n, as) || in.tree().Kind(n) == syntax.Attribute
}

// lasts looks whether a hook is registered again and again, for good, on obj.
func (in *interpreter) lasts(r *attachment, obj *Value) {
	t := in.tree()
	r.lasting, r.repeats = nil, nil
	if t.Kind(t.Parent(r.at.node)) != syntax.ExpressionStatement {
		return // somebody has the handle
	}
	for l := in.loop; l != nil; l = l.parent {
		if l.steps.few || l.implicit || in.variesIn(l, r.receiver, obj) {
			continue
		}
		r.repeats = l
		r.lasting = &LastingHook{Call: Location{r.at.module, r.at.node}, Repeats: Location{l.at.module, l.at.node}, Captured: in.keptBy(r.hook, l)}
		return
	}
	if in.loop == nil && in.frame.code != nil && in.isGiven(r.receiver) {
		r.lasting = &LastingHook{Call: Location{r.at.module, r.at.node}, Repeats: Location{in.frame.code.module, in.frame.code.node}, Captured: in.keptBy(r.hook, nil)}
	}
}

// variesIn reports whether what a hook is registered on may be another one in
// each iteration of a loop.
func (in *interpreter) variesIn(l *loop, receiver syntax.NodeID, obj *Value) bool {
	if obj.atoms.has(in.header(atomStep, l, Place{})) {
		return true
	}
	for _, id := range obj.objects {
		for range maxBases {
			info := in.objects[id]
			if in.madeIn(l, info.at) && info.name != modulePart {
				return true
			}
			if info.kind != objectUnknown && info.kind != objectModule && info.kind != objectParams || info.parent < firstObject {
				break
			}
			id = info.parent
		}
	}
	t := in.tree()
	if l.at.module != in.frame.module || l.at.frame != in.frame.call {
		return false
	}
	for n := receiver; n < t.End(receiver); n++ {
		if t.Kind(n) == syntax.Identifier && t.Role(n) != syntax.FieldAttribute && bindsWithin(t, l.at.node, t.Text(n)) {
			return true
		}
	}
	return false
}

// bindsWithin reports whether code below n gives a value to a name.
func bindsWithin(t *syntax.Tree, n syntax.NodeID, name string) bool {
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.Assignment, syntax.AugmentedAssignment, syntax.ForStatement, syntax.ForInClause:
			left := t.Child(c, syntax.FieldLeft)
			for d := left; left >= 0 && d < t.End(left); d++ {
				if t.Kind(d) == syntax.Identifier && t.Text(d) == name && t.Role(d) != syntax.FieldAttribute && t.Role(d) != syntax.FieldObject {
					return true
				}
			}
		case syntax.NamedExpression:
			if t.Text(t.Child(c, syntax.FieldName)) == name {
				return true
			}
		case syntax.AsPatternTarget:
			if t.Text(c) == name {
				return true
			}
		}
	}
	return false
}

// isGiven reports whether an expression starts at a parameter of the running
// function, which is no constructor.
func (in *interpreter) isGiven(n syntax.NodeID) bool {
	t := in.tree()
	if t.Text(t.Child(in.frame.code.node, syntax.FieldName)) == "__init__" {
		return false
	}
	for t.Kind(n) == syntax.Attribute || t.Kind(n) == syntax.Subscript {
		if t.Kind(n) == syntax.Attribute {
			n = t.Child(n, syntax.FieldObject)
		} else {
			n = t.Child(n, syntax.FieldValue)
		}
	}
	return t.Kind(n) == syntax.Identifier && slices.Contains(parameterNames(t, in.frame.code.node), t.Text(n)) &&
		!bindsWithin(t, t.Child(in.frame.code.node, syntax.FieldBody), t.Text(n))
}

// keptBy is the name of something that each hook keeps of its own: a tensor or
// a container that is made in each iteration of l, or in each call.
func (in *interpreter) keptBy(hook *Value, l *loop) string {
	for _, c := range in.captures(hook) {
		if c.value == nil || c.frame != nil && l != nil && isWithin(l.frame, c.frame) {
			continue
		}
		if c.value.is(KindTensor) {
			return c.name
		}
		for _, id := range c.value.objects {
			if info := in.objects[id]; info.kind == objectContainer && (l == nil || in.madeIn(l, info.at)) {
				return c.name
			}
		}
	}
	return ""
}

// usesHooks notes that the hooks of a module run at n, in the loop or the call
// that registered them. Where they do not run, they are set up for later, once;
// so they are by a function that then loops over data.
func (in *interpreter) usesHooks(n syntax.NodeID, id ObjectID) {
	for handle, r := range in.attachments {
		if r.lasting == nil || r.lasting.Runs.Module != nil || !slices.Contains(in.hooked(in.objects[handle].parent), id) {
			continue
		}
		if r.repeats != nil && r.repeats.encloses(in.loop) || r.repeats == nil && in.loop == r.loop && isWithin(in.frame, r.frame) {
			r.lasting.Runs = Location{in.frame.module, n}
		}
	}
}

// hookFacts are the hooks of the checked module that keep tensors.
func (in *interpreter) hookFacts() (cycles []HookCycle, lasting []LastingHook) {
	seen := map[Location]bool{}
	removed := map[Location]bool{}
	for _, r := range in.attachments {
		if at := (Location{r.at.module, r.at.node}); r.removed {
			removed[at] = true
		}
	}
	for _, handle := range slices.Sorted(maps.Keys(in.attachments)) {
		r := in.attachments[handle]
		at := Location{r.at.module, r.at.node}
		if at.Module != in.main || removed[at] || in.givenUp(r.called) {
			continue
		}
		if c := r.cycle; c != nil && (!seen[at] || c.Loop.Module != nil) {
			if seen[at] {
				cycles = slices.DeleteFunc(cycles, func(o HookCycle) bool { return o.Call == at })
			}
			seen[at] = true
			cycles = append(cycles, *c)
		}
		if l := r.lasting; l != nil && !seen[at] {
			if onParameter := in.objects[handle].parent == 0; l.Runs.Module == nil && !(onParameter && r.repeats != nil && r.repeats.trains) {
				continue
			}
			seen[at] = true
			lasting = append(lasting, *l)
		}
	}
	slices.SortFunc(cycles, func(a, b HookCycle) int { return compareLocations(a.Call, b.Call) })
	slices.SortFunc(lasting, func(a, b LastingHook) int { return compareLocations(a.Call, b.Call) })
	return cycles, lasting
}
