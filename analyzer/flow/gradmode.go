package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// enter applies what entering a context manager does to grad mode.
func (in *interpreter) enter(n syntax.NodeID, manager *Value) {
	switch mode, flag := in.gradMode(n, manager); mode {
	case torch.GradOff:
		in.off = true
	case torch.GradOn:
		in.off = false
	case torch.GradByFlag:
		if on, known := flag.truth(); known {
			in.off = !on
		}
	}
}

// gradMode is what entering a context manager at n does to grad mode, with its
// flag.
func (in *interpreter) gradMode(n syntax.NodeID, manager *Value) (torch.GradMode, *Value) {
	mode := torch.GradUnchanged
	for _, id := range manager.objects {
		info := in.objects[id]
		switch info.kind {
		case objectGuard:
			if mode = torch.GradContext(info.name); mode == torch.GradOff {
				return mode, manager
			}
		case objectInstance: // its __enter__ may enter another one
			enter := in.methodOf(n, id, "__enter__")
			if enter == nil {
				continue
			}
			in.entering = torch.GradUnchanged
			in.apply(n, enter, arguments{})
			if in.entering != torch.GradUnchanged {
				mode = in.entering
			}
		case objectGenerator:
			if info.code != nil && info.code.context {
				in.resume(in.frame.module.Tree.Root(), id)
				if m := info.yieldGrad; m != torch.GradUnchanged {
					mode = m
				}
			}
		}
	}
	return mode, manager
}

// recording is the grad mode that runs.
func (in *interpreter) recording() torch.GradMode {
	if in.off {
		return torch.GradOff
	}
	return torch.GradOn
}

// newGuard is a call of one of PyTorch's grad-mode contexts: a context manager
// that is a decorator too. Without parentheses it is given the function itself.
func (in *interpreter) newGuard(n syntax.NodeID, name string, mode torch.GradMode, first *Value) *Value {
	if mode != torch.GradByFlag && first != nil && in.callable(first) {
		return in.guarded(n, first, mode)
	}
	id, _ := in.newObject(objectKey{kind: objectGuard, name: name})
	v := object(id)
	if mode == torch.GradByFlag {
		v.literal = first.literalOf()
		t := in.tree()
		if on, known := v.truth(); known && t.Kind(t.Parent(n)) == syntax.ExpressionStatement {
			in.off = !on // set_grad_enabled(False) works as a statement as well
			in.entering = in.recording()
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
		c.grad = mode
		ginfo.code = &c
		out = join(out, object(g))
	}
	return orPlain(out)
}

// isGuard reports whether a value is one of PyTorch's grad-mode contexts.
func (in *interpreter) isGuard(v *Value) bool {
	return in.anyIs(v, objectGuard)
}
