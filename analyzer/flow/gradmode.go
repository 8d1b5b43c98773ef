package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// enter applies what entering a context manager does to grad mode.
func (in *interpreter) enter(n syntax.NodeID, manager *Value) {
	switch mode, flag := in.gradMode(manager); mode {
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

// gradMode is what entering a context manager does to grad mode, with its flag.
func (in *interpreter) gradMode(manager *Value) (torch.GradMode, *Value) {
	mode := torch.GradUnchanged
	for _, id := range manager.objects {
		info := in.objects[id]
		switch info.kind {
		case objectLibrary:
			if name, ok := strings.CutSuffix(info.name, "()"); ok {
				if m := torch.GradContext(name); m != torch.GradUnchanged {
					if m == torch.GradOff {
						return m, manager
					}
					mode = m
				}
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
