package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// hookHandle is the class of what registering a hook returns.
const hookHandle = "torch.utils.hooks.RemovableHandle"

// addHook has a function called whenever a module is: with the module, its
// inputs and, unless it is called before, its output. A module whose text is not
// known calls the hooks of its parts too.
func (in *interpreter) addHook(n syntax.NodeID, id ObjectID, hook *Value, when Symbol) *Value {
	handle, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: hookHandle})
	info.parent, info.field, info.call = id, when, hook
	t := in.tree()
	r := in.attach(n, t.Child(t.Child(n, syntax.FieldFunction), syntax.FieldObject), handle, hook)
	if hook != nil {
		in.lasts(r, object(id))
		for _, m := range in.hooked(id) {
			in.write(Place{m, when}, join(in.state.get(Place{m, when}), hook))
		}
	}
	return object(handle)
}

// hooked are a module and those of which it is a part whose own text says
// nothing.
func (a *analysis) hooked(id ObjectID) []ObjectID {
	var out []ObjectID
	for id != 0 && len(out) <= maxBases {
		info := a.objects[id]
		switch info.kind {
		case objectModule, objectInstance, objectUnknown:
			out = append(out, id)
		}
		if info.kind != objectUnknown && info.name != modulePart {
			break
		}
		id = info.parent
	}
	return out
}

// removeHook is handle.remove().
func (in *interpreter) removeHook(handle ObjectID) *Value {
	info := in.objects[handle]
	if r := in.attachments[handle]; r != nil {
		r.removed = true
	}
	for _, m := range in.hooked(info.parent) {
		p := Place{m, info.field}
		if v := in.state.get(p); v != nil && info.call != nil {
			left := *v
			left.objects = slices.DeleteFunc(slices.Clone(v.objects), func(id ObjectID) bool { return slices.Contains(info.call.objects, id) })
			in.write(p, &left)
		}
	}
	return noValue
}

// runHooks calls the hooks of a module that was called and gave a result.
func (in *interpreter) runHooks(n syntax.NodeID, id ObjectID, args arguments, result *Value) {
	if known := in.objects[id].known; !known[hookedInput] && !known[hookedOutput] {
		return
	}
	for _, when := range []Symbol{hookedInput, hookedOutput} {
		if in.state == nil {
			return
		}
		hooks := in.state.get(Place{id, when})
		if hooks == nil || len(hooks.objects) == 0 {
			continue
		}
		passed := arguments{positional: []*Value{object(id), tuple(args.positional...)}}
		if when == hookedOutput {
			passed.positional = append(passed.positional, result)
		}
		in.usesHooks(n, id)
		in.apply(n, hooks, passed)
	}
}
