package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// enter enters a context manager at n: it applies what that does to grad mode,
// and returns what the as clause of a with statement binds.
func (in *interpreter) enter(n syntax.NodeID, manager *Value) *Value {
	mode := torch.GradUnchanged
	var entered *Value
	if manager.is(KindTensor) { // with scale_loss(loss, optimizer) as scaled
		entered = manager
	}
	for _, id := range manager.objects {
		m, v := in.enterObject(n, id)
		entered = join(entered, v)
		if m != torch.GradUnchanged && mode != torch.GradOff {
			mode = m
		}
	}
	switch mode {
	case torch.GradOff:
		in.off = true
	case torch.GradOn:
		in.off = false
		in.differentiate(n)
	case torch.GradByFlag:
		if on, known := manager.truth(); known {
			in.off = !on
			if on {
				in.differentiate(n)
			}
		}
	}
	return orPlain(entered)
}

// enterObject enters one object that a context manager may be.
func (in *interpreter) enterObject(n syntax.NodeID, id ObjectID) (torch.GradMode, *Value) {
	info := in.objects[id]
	switch info.kind {
	case objectGuard:
		return torch.GradContext(info.name), object(id)
	case objectInstance:
		enter := in.methodOf(n, id, "__enter__")
		if enter == nil {
			return torch.GradUnchanged, object(id)
		}
		return torch.GradUnchanged, in.apply(n, enter, arguments{}) // what it enters stays entered
	case objectGenerator:
		v := in.resume(n, id)
		if info.code != nil && info.code.context {
			return info.yieldGrad, v
		}
		return torch.GradUnchanged, v
	}
	if torch.Executors[info.name] {
		return torch.GradUnchanged, object(id)
	}
	unknown, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: "entered"})
	return torch.GradUnchanged, object(unknown)
}

// exit leaves a context manager: its __exit__ may clear what was kept.
func (in *interpreter) exit(n syntax.NodeID, manager *Value) {
	for _, id := range manager.objects {
		if in.state == nil || in.objects[id].kind != objectInstance {
			continue
		}
		if exit := in.methodOf(n, id, "__exit__"); exit != nil {
			off := in.off
			in.apply(n, exit, arguments{positional: []*Value{noValue, noValue, noValue}})
			in.off = off
		}
	}
}

// newGuard is a call of one of PyTorch's grad-mode contexts: a context manager
// that is a decorator too. Without parentheses it is given the function itself.
func (in *interpreter) newGuard(n syntax.NodeID, name string, mode torch.GradMode, first *Value) *Value {
	if mode != torch.GradByFlag && first != nil && in.callable(first) {
		return in.guarded(n, first, mode)
	}
	id, _ := in.newObject(objectKey{kind: objectGuard, name: name})
	v := object(id)
	if mode != torch.GradByFlag {
		in.unentered(n)
	} else {
		v.literal = first.literalOf()
		t := in.tree()
		if on, known := v.truth(); known && t.Kind(t.Parent(n)) == syntax.ExpressionStatement {
			in.off = !on // set_grad_enabled(False) works as a statement as well
		}
	}
	return v
}

// guarded is a function decorated with a grad-mode context.
func (in *interpreter) guarded(n syntax.NodeID, f *Value, mode torch.GradMode) *Value {
	var out *Value
	for _, id := range f.objects {
		info := in.objects[id]
		if info.kind != objectFunction {
			out = join(out, object(id))
			continue
		}
		g, ginfo := in.newObject(objectKey{at: in.site(n), kind: objectFunction, class: id})
		c := *info.code
		if !c.scope.Async { // else it is left before the body runs
			c.grad = mode
		}
		ginfo.code = &c
		out = join(out, object(g))
	}
	return orPlain(out)
}

// isGuard reports whether a value is one of PyTorch's grad-mode contexts.
func (in *interpreter) isGuard(v *Value) bool {
	return in.anyIs(v, objectGuard)
}
