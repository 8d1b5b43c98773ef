package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// measuredDevice gives torch.device(…) the device that it names.
func (in *interpreter) measuredDevice(n syntax.NodeID, v *Value) *Value {
	t := in.tree()
	callee := in.valueOf(t.Child(n, syntax.FieldFunction))
	if callee == nil || len(callee.objects) != 1 || in.objects[callee.objects[0]].name != "torch.device" {
		return v
	}
	args := in.given(t.Child(n, syntax.FieldArguments))
	if len(args) == 0 {
		return v
	}
	return v.in(&memory{device: in.deviceOf(syntax.NoNode, args[0])})
}

// moved is x.to(…), x.cuda() and the like.
func (in *interpreter) moved(n, receiver syntax.NodeID, obj *Value, name string, v *Value) (*Value, bool) {
	t := in.tree()
	device, ok := torch.Moves[name], true
	if device == torch.UnknownDevice {
		if name != "to" {
			return nil, false
		}
		device, ok = in.target(t.Child(n, syntax.FieldArguments))
	}
	m := &memory{made: in.loop}
	if obj != nil && obj.memory != nil {
		*m = *obj.memory
	}
	switch {
	case !ok: // a type only
		return v.in(m), obj != nil && obj.memory != nil
	case m.device != device:
		// Copied to another device, a view is a tensor of its own. On the host it
		// may have been there all along.
		if m.part && (m.device != torch.UnknownDevice || device != torch.OnHost) {
			m.extent, m.part = m.own(), false
		}
		m.device, m.made = device, in.loop
		if m.extent != Output {
			m.at = in.site(n)
		}
	}
	if t.Kind(t.Parent(in.chainOf(n))) == syntax.ExpressionStatement { // a module is moved in place
		if p := in.placeOf(receiver); p != nil && obj != nil {
			in.state.set(*p, obj.in(m))
		}
	}
	out := v.in(m)
	if obj != nil && obj.is(KindUnknown) && len(out.objects) == 0 { // a module is the same one elsewhere
		c := *out
		c.objects = obj.objects
		out = &c
	}
	return out, true
}

// chainOf is the call at the end of a chain of method calls: x.to(d).eval() of
// x.to(d).
func (in *interpreter) chainOf(n syntax.NodeID) syntax.NodeID {
	t := in.tree()
	for {
		f := t.Parent(n)
		call := t.Parent(f)
		if t.Kind(f) != syntax.Attribute || t.Role(n) != syntax.FieldObject || t.Kind(call) != syntax.Call || t.Role(f) != syntax.FieldFunction {
			return n
		}
		n = call
	}
}

// target is the device among the arguments of x.to; ok is false when they name
// none.
func (in *interpreter) target(arguments syntax.NodeID) (device torch.Device, ok bool) {
	t := in.tree()
	for c := range t.Children(arguments) {
		arg := c
		if t.Kind(c) == syntax.KeywordArgument {
			if t.Text(t.Child(c, syntax.FieldName)) != "device" {
				continue
			}
			arg = t.Child(c, syntax.FieldValue)
		} else if in.isType(c) {
			continue
		}
		return in.deviceOf(arg, in.valueOf(arg)), true
	}
	return torch.UnknownDevice, false
}

// isType reports whether an argument of x.to is a type of numbers. Of one that is
// not known its name says so.
func (in *interpreter) isType(n syntax.NodeID) bool {
	v := in.valueOf(n)
	if v == nil {
		return true
	}
	for _, id := range v.objects {
		if info := in.objects[id]; info.kind == objectLibrary && torch.IsType(info.name) {
			return true
		}
	}
	if v.literal != nil {
		return v.literal == true || v.literal == false
	}
	return strings.HasSuffix(in.tree().Text(n), "type")
}

// deviceOf is the device that an expression names. One that is not known is chosen
// when the program runs: an accelerator, where there is one.
func (in *interpreter) deviceOf(n syntax.NodeID, v *Value) torch.Device {
	if n >= 0 && in.tree().Kind(n) == syntax.Attribute { // like.device
		if m := in.memoryOf(in.tree().Child(n, syntax.FieldObject)); m != nil {
			return m.device
		}
	}
	switch {
	case v == nil:
		return torch.OnAccelerator
	case v.memory != nil:
		return v.memory.device
	case v.kinds == KindNone || v.is(KindTensor):
		return torch.UnknownDevice
	}
	if name, ok := v.literal.(string); ok {
		return torch.DeviceNamed(name)
	}
	return torch.OnAccelerator
}

// keyword is the value of a keyword argument of a call, NoNode when it is not
// given.
func (in *interpreter) keyword(call syntax.NodeID, name string) syntax.NodeID {
	t := in.tree()
	for c := range t.Children(t.Child(call, syntax.FieldArguments)) {
		if t.Kind(c) == syntax.KeywordArgument && t.Text(t.Child(c, syntax.FieldName)) == name {
			return t.Child(c, syntax.FieldValue)
		}
	}
	return syntax.NoNode
}
