package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Extent is how much there is of a tensor for each sample of a batch.
type Extent uint8

// What an operation does to the number of elements decides; shapes are not
// computed.
const (
	UnknownExtent Extent = iota // of data, or of what was made of numbers
	Index                       // positions, truth values, counts: one per sample
	Reduced                     // what is left when a dimension is reduced
	Result                      // something that a model gives, perhaps a number
	Output                      // what a model is for: logits, embeddings, maps
	Weights                     // all parameters of a model
)

// memory is what is known of the memory of a tensor, whatever its graph is. A
// value that is not known to be a tensor has one if it comes from tensors.
type memory struct {
	device torch.Device
	extent Extent
	// made is the innermost loop that ran when the memory was taken, nil
	// outside of loops.
	made *loop
	// part says that it is a small view of a tensor of this extent, whose
	// storage it keeps; whole is that tensor.
	part  bool
	whole site
	// at is where a model gave it or where it was moved to its device.
	at site
}

// measured is the value v of the expression n with what is known of its memory.
func (in *interpreter) measured(n syntax.NodeID, v *Value) *Value {
	t := in.tree()
	if !v.is(KindTensor | KindUnknown | KindObject) {
		if v.is(KindPlain) && t.Kind(n) == syntax.Call {
			return in.measuredDevice(n, v)
		}
		return v
	}
	switch t.Kind(n) {
	case syntax.Call:
		return in.measuredCall(n, v)
	case syntax.BinaryOperator:
		if v.is(KindTensor | KindUnknown) {
			return v.in(in.operated(in.memoryOf(t.Child(n, syntax.FieldLeft)), in.memoryOf(t.Child(n, syntax.FieldRight))))
		}
	case syntax.UnaryOperator:
		return v.in(in.operated(in.memoryOf(t.Child(n, syntax.FieldArgument))))
	case syntax.ComparisonOperator:
		if v.is(KindTensor) {
			return v.in(in.counted(in.memoryOf(t.First(n))))
		}
	case syntax.Subscript:
		if v.memory == nil && v.is(KindTensor|KindUnknown) {
			return v.in(in.indexed(n))
		}
	case syntax.Attribute: // outputs.logits, x.data
		if v.memory == nil && v.is(KindTensor|KindUnknown) {
			return v.in(field(in.memoryOf(t.Child(n, syntax.FieldObject)), t.Text(t.Child(n, syntax.FieldAttribute))))
		}
	}
	return v
}

// field is the memory of a named part of what a model gave, or of another form of
// a tensor.
func field(m *memory, name string) *memory {
	if m == nil || m.extent != Output {
		return m
	}
	part := *m
	switch {
	case torch.TensorForms[name] || torch.OutputFields[name]:
	case soundsLike(torch.LossNames, name):
		part.extent = Index
	default:
		part.extent = Result
	}
	return &part
}

// in is v with the memory m, if there is any.
func (v *Value) in(m *memory) *Value {
	if m == nil || v.memory != nil && *v.memory == *m {
		return v
	}
	c := *v
	c.memory = m
	return &c
}

func (in *interpreter) memoryOf(n syntax.NodeID) *memory {
	if v := in.valueOf(n); v != nil {
		return v.memory
	}
	return nil
}

// joinMemory is what is known of a tensor that is one of two.
func joinMemory(a, b *memory) *memory {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	m := *a
	m.extent, m.made, m.part = max(a.extent, b.extent), outermost(a.made, b.made), a.part && b.part
	switch {
	case a.device == torch.UnknownDevice:
		m.device = b.device
	case b.device != torch.UnknownDevice && a.device != b.device:
		m.device = torch.UnknownDevice
	}
	return &m
}

// outermost is the innermost loop that runs both, nil when none does.
func outermost(a, b *loop) *loop {
	for a != nil && !a.encloses(b) {
		a = a.parent
	}
	return a
}

// operated is the memory of the result of an operation: new, and where its
// operands are. Numbers on the host may be operands of any operation.
func (in *interpreter) operated(operands ...*memory) *memory {
	var out *memory
	for _, m := range operands {
		if m == nil {
			continue
		}
		if out == nil {
			out = &memory{made: in.loop}
		}
		if m.device == torch.OnAccelerator && out.device != m.device || out.device == torch.UnknownDevice || m.extent > out.extent {
			out.at = m.at
		}
		if m.device == torch.OnAccelerator || out.device == torch.UnknownDevice {
			out.device = m.device
		}
		out.extent = max(out.extent, m.own())
	}
	return out
}

// own is the extent of a copy: of a small part a part is left.
func (m *memory) own() Extent {
	if m.part {
		return min(m.extent, Reduced)
	}
	return m.extent
}

// weightsOf is the memory of the parameters of a model. Who only asks for them
// gets no copy.
func (in *interpreter) weightsOf(model *Value) *memory {
	m := &memory{extent: Weights}
	if model.memory != nil {
		m.device = model.memory.device
	}
	return m
}

// copiedMemory is the memory of a copy that is made now.
func (in *interpreter) copiedMemory(m *memory) *memory {
	if m == nil {
		return nil
	}
	c := *m
	c.extent, c.part, c.made = m.own(), false, in.loop
	return &c
}

// counted is the memory of positions or truth values of a tensor.
func (in *interpreter) counted(m *memory) *memory {
	if m == nil {
		return nil
	}
	return &memory{device: m.device, extent: Index, made: in.loop, at: m.at}
}

// measuredCall is measured for a call.
func (in *interpreter) measuredCall(n syntax.NodeID, v *Value) *Value {
	t := in.tree()
	f := t.Child(n, syntax.FieldFunction)
	callee := in.valueOf(f)
	name := in.calleeName(n)
	args := in.given(t.Child(n, syntax.FieldArguments))
	if t.Kind(f) == syntax.Attribute {
		receiver := t.Child(f, syntax.FieldObject)
		obj := in.valueOf(receiver)
		if moved, ok := in.moved(n, receiver, obj, name, v); ok {
			return moved
		}
		if obj != nil && obj.memory != nil && v.is(KindTensor|KindUnknown|KindObject) && !in.definesMethod(obj, name) {
			if c, ok := torch.Method(name); ok {
				return in.endow(v, in.contracted(name, c, obj.memory, len(args) == 0))
			}
		}
		gathers := func(class string) bool { return torch.Gathers[class+"."+name] }
		if obj != nil && len(obj.objects) == 1 && slices.ContainsFunc(in.libraryClasses(obj.objects[0]), gathers) {
			return in.gathered(n, v, args)
		}
		if !in.isModule(callee) && in.isModule(obj) && v.is(KindTensor|KindUnknown) && !torch.ModuleMethods[name] {
			return v.in(in.fromModel(n, obj, args, Result))
		}
	}
	if in.isModule(callee) {
		return in.endow(v, in.fromModel(n, callee, args, Output))
	}
	if model := in.modelBehind(callee); model != nil && v.is(KindTensor|KindUnknown) {
		return v.in(in.fromModel(n, model, args, Result))
	}
	if callee == nil || len(callee.objects) != 1 || in.objects[callee.objects[0]].kind != objectLibrary {
		return v
	}
	return in.measuredLibrary(n, v, in.objects[callee.objects[0]].name, args)
}

// measuredLibrary is measured for a call of a library's function.
func (in *interpreter) measuredLibrary(n syntax.NodeID, v *Value, dotted string, args []*Value) *Value {
	name := dotted[strings.LastIndexByte(dotted, '.')+1:]
	c, known := torch.Function(dotted)
	switch {
	case !known || !v.is(KindTensor|KindUnknown|KindObject):
		return v
	case torch.Creations[name]:
		m := &memory{device: torch.OnHost, made: in.loop}
		if device := in.keyword(n, "device"); device >= 0 {
			m.device = in.deviceOf(device, in.valueOf(device))
		}
		return v.in(m)
	}
	var all *memory
	whole := len(args) <= 1
	for _, arg := range args {
		all = in.operated(all, in.heldMemory(arg, 0))
	}
	return in.endow(v, in.contracted(name, c, all, whole))
}

// contracted is the memory of the result of an operation on a tensor.
func (in *interpreter) contracted(name string, c torch.Contract, m *memory, whole bool) *memory {
	if m == nil {
		return nil
	}
	switch {
	case torch.Creations[name]:
		return nil
	case torch.LikeTheirs[name]:
		return &memory{device: m.device, made: in.loop}
	case c.Effect == torch.NoGraph:
		return in.counted(m)
	case torch.Duplicates[name]:
		return in.copiedMemory(m)
	case c.View || c.Effect == torch.Detaches || c.Effect == torch.Pieces:
		return m
	case c.Alone && !c.Reduces: // x.float(), x.contiguous(): perhaps x itself
		return m
	}
	out := in.operated(m)
	if (c.Reduces || c.Effect == torch.Splits && name != "sort") && !whole {
		out.extent = min(out.extent, Reduced)
	}
	return out
}

// endow gives a memory to a value or to the parts of a tuple. The second part of a
// pair of values and indices has positions.
func (in *interpreter) endow(v *Value, m *memory) *Value {
	if m == nil {
		return v
	}
	if len(v.elements) == 0 {
		if v.is(KindTensor | KindUnknown) {
			return v.in(m)
		}
		return v
	}
	c := *v
	c.elements = slices.Clone(v.elements)
	for i, e := range c.elements {
		switch {
		case e == nil:
		case e == freshData:
			c.elements[i] = e.in(in.counted(m))
		default:
			c.elements[i] = in.endow(e, m)
		}
	}
	return &c
}

// given are the values of the arguments below n.
func (in *interpreter) given(n syntax.NodeID) []*Value {
	if n < 0 {
		return nil
	}
	var out []*Value
	for c := range in.tree().Children(n) {
		if v := in.valueOf(c); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// fromModel is the memory of what a model called at n gives for some arguments.
func (in *interpreter) fromModel(n syntax.NodeID, model *Value, args []*Value, extent Extent) *memory {
	m := &memory{extent: extent, made: in.loop, at: in.site(n)}
	if model.memory != nil {
		m.device = model.memory.device
	}
	for _, arg := range args {
		if held := in.heldMemory(arg, 0); held != nil && held.device == torch.OnAccelerator {
			m.device = held.device
		}
	}
	return m
}

// modelBehind is the model by which an abstract method computes what it gives: the
// one that its object holds and evaluates without gradients when it is called. It
// is nil for other methods.
func (in *interpreter) modelBehind(callee *Value) *Value {
	if callee == nil || len(callee.objects) != 1 || !in.off || !in.evaluation() {
		return nil
	}
	bound := in.objects[callee.objects[0]]
	if bound.kind != objectBound || in.objects[bound.parent].kind != objectInstance || !in.isAbstract(in.objects[bound.class].code) {
		return nil
	}
	for _, f := range in.objects[bound.parent].fields {
		if v := in.state.get(Place{bound.parent, f}); in.isModel(v) {
			return v
		}
	}
	return nil
}

// heldMemory is the memory of a value, or of what a tuple or collection holds.
func (in *interpreter) heldMemory(v *Value, depth int) *memory {
	if v == nil || depth > 2 {
		return nil
	}
	m := v.memory
	for _, e := range v.elements {
		m = joinMemory(m, in.heldMemory(e, depth+1))
	}
	for _, id := range v.objects {
		if in.objects[id].kind == objectContainer {
			m = joinMemory(m, in.heldMemory(in.contents(id), depth+1))
		}
	}
	return m
}

// gathered is a call that returns the tensors that it is given from all processes.
func (in *interpreter) gathered(n syntax.NodeID, v *Value, args []*Value) *Value {
	if len(args) != 1 || args[0] == nil {
		return v
	}
	if len(args[0].elements) == 0 || args[0].variadic {
		return v.in(in.operated(in.heldMemory(args[0], 0)))
	}
	c := *v
	for i, e := range args[0].elements {
		c.elements = append(c.elements, in.item(n, v, i).in(in.operated(in.heldMemory(e, 0))))
	}
	return &c
}

// indexed is the memory of x[…]: a view where the index is made of positions and
// slices, a copy where it is a tensor or a list.
func (in *interpreter) indexed(n syntax.NodeID) *memory {
	t := in.tree()
	m := in.memoryOf(t.Child(n, syntax.FieldValue))
	if m == nil {
		return nil
	}
	if key, ok := in.valueOf(t.Child(n, syntax.FieldSubscript)).literalOf().(string); ok {
		return field(m, key)
	}
	position, few := 0, false
	for c := range t.Children(n) {
		if t.Role(c) != syntax.FieldSubscript {
			continue
		}
		v := in.valueOf(c)
		switch {
		case t.Kind(c) == syntax.Slice:
			few = few || position > 0 && in.takesFew(c)
		case t.Kind(c) == syntax.Ellipsis:
		case v == nil || !v.only(KindPlain|KindNone):
			return in.operated(m) // chosen by a tensor or a list: copied
		default:
			_, literal := v.literal.(int)
			few = few || position > 0 && literal
		}
		position++
	}
	if few && !m.part {
		part := *m
		part.part, part.whole = true, in.site(t.Child(n, syntax.FieldValue))
		return &part
	}
	return m
}
