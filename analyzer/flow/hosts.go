package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// hosted is a class of the program whose methods a library calls: what happens
// between them is what the library does, and the loops are its own.
type hosted struct {
	host *torch.Host
	at   syntax.NodeID // the class
	self ObjectID
	// loss and output are what the library has of the running step.
	loss, output *Value
	// result is what Step returned, as later hooks see it; returned, what the last
	// hook of the running phase did.
	result, returned *Value
}

// hostOf is what is known of the library class that a class derives from, if
// the library calls its methods.
func (a *analysis) hostOf(class ObjectID) *torch.Host {
	for _, name := range a.libraryBases(class) {
		if host := torch.HostOf(name); host != nil {
			return host
		}
	}
	return nil
}

// runHost runs a training with an instance of a class, as the library would
// that calls its methods.
func (in *interpreter) runHost(class ObjectID, host *torch.Host) {
	h := &hosted{host: host, at: in.objects[class].at.node}
	steps, evaluations, tests := in.loopOf(h, class, torch.StepStart, torch.StepEnd), in.loopOf(h, class, torch.EvalStep, torch.EvalStep), in.loopOf(h, class, torch.TestStep, torch.TestStep)
	if steps < 0 && evaluations < 0 && tests < 0 {
		return
	}
	instance := in.instantiate(h.at, class, arguments{})
	if in.state == nil || len(instance.objects) == 0 {
		return
	}
	h.self = instance.objects[0]
	in.phase(h, torch.Before)
	in.iterate(in.tree().Child(h.at, syntax.FieldName), extent{}, calledLoop, func() {
		in.phase(h, torch.EpochStart)
		if steps >= 0 {
			in.iterate(steps, extent{}, calledLoop, func() { in.step(h) })
		}
		in.runEvaluation(h, evaluations, torch.EvalStart, torch.EvalStep, torch.EvalEnd)
		in.phase(h, torch.EpochEnd)
	})
	in.phase(h, torch.After)
	in.runEvaluation(h, tests, torch.TestStart, torch.TestStep, torch.TestEnd)
}

// loopOf is the method of a class that stands for the loop in which the hooks
// of some points run, NoNode when it has none of them.
func (in *interpreter) loopOf(h *hosted, class ObjectID, from, to torch.When) syntax.NodeID {
	found := syntax.NoNode
	for when := from; when <= to; when++ {
		for _, hook := range h.host.At(when) {
			v, _ := in.classAttribute(class, in.symbol(hook.Name))
			if v == nil {
				continue
			}
			for _, id := range v.objects {
				info := in.objects[id]
				if info.kind != objectFunction {
					continue
				}
				if info.code.module == in.main && (found < 0 || when == torch.Step) {
					found = info.code.node
				}
			}
		}
	}
	return found
}

// step runs one step of a training.
func (in *interpreter) step(h *hosted) {
	h.loss, h.output, h.result = nil, nil, nil
	in.give(h, "", h.self)
	in.phase(h, torch.StepStart)
	for _, hook := range h.host.At(torch.Step) {
		v := in.callHook(h, hook)
		if v == nil || in.state == nil {
			continue
		}
		h.result = join(h.result, v)
		if h.host.Returns == torch.Backwarded && !in.runsBackwardItself(h) {
			in.backward(in.hookNode(h, hook), in.hookNode(h, hook), in.lossOf(v), arguments{})
			in.optimizerSteps()
		}
	}
	if in.state == nil {
		return
	}
	for path, given := range h.host.Gives {
		if name, own := strings.CutPrefix(path, "."); own && given == torch.Losses {
			if v := in.state.get(Place{h.self, in.symbol(name)}); v != nil {
				in.backward(h.at, h.at, in.lossOf(v), arguments{})
			}
		}
	}
	in.phase(h, torch.StepEnd)
}

// runEvaluation runs the hooks of an evaluation, which records no graph.
func (in *interpreter) runEvaluation(h *hosted, loop syntax.NodeID, start, step, end torch.When) {
	if in.state == nil {
		return
	}
	off := in.off
	in.off = true
	in.phase(h, start)
	if loop >= 0 {
		in.iterate(loop, extent{}, calledLoop, func() { in.phase(h, step) })
	}
	in.phase(h, end)
	in.off = off
}

// phase runs the hooks of one point of the training.
func (in *interpreter) phase(h *hosted, when torch.When) {
	h.returned = nil
	for _, hook := range h.host.At(when) {
		h.returned = in.callHook(h, hook)
	}
}

// callHook calls a method that the library calls, nil when the program does not
// define it.
func (in *interpreter) callHook(h *hosted, hook torch.Hook) *Value {
	if in.state == nil {
		return nil
	}
	method := in.methodOf(h.at, h.self, hook.Name)
	if method == nil || !in.callable(method) {
		return nil
	}
	args := arguments{}
	for _, name := range hook.Arguments {
		args.positional = append(args.positional, in.passed(h, name))
	}
	for _, name := range hook.Keywords {
		args.keyword = append(args.keyword, keywordArgument{name, in.passed(h, name), h.at})
	}
	return in.apply(h.at, method, args)
}

// hookNode is the definition of a hook, for telling where something happens.
func (in *interpreter) hookNode(h *hosted, hook torch.Hook) syntax.NodeID {
	v, _ := in.classAttribute(in.objects[h.self].class, in.symbol(hook.Name))
	for _, id := range v.objects {
		if c := in.objects[id].code; c != nil && c.module == in.main {
			return c.node
		}
	}
	return h.at
}

// runsBackwardItself reports whether the program said that it does not leave
// the backward pass to the library.
func (in *interpreter) runsBackwardItself(h *hosted) bool {
	if h.host.Unless == "" {
		return false
	}
	v := in.state.get(Place{h.self, in.symbol(h.host.Unless)})
	return v != nil && v.literal == false
}

// lossOf is the loss in what a step returned: itself, the first of a tuple, or
// what a mapping has under that name.
func (in *interpreter) lossOf(v *Value) *Value {
	if v.elements != nil {
		return join(v.element(0), &Value{atoms: v.atoms})
	}
	out := &Value{kinds: v.kinds &^ KindObject, atoms: v.atoms}
	for _, id := range v.objects {
		if in.objects[id].kind != objectContainer {
			out = join(out, object(id))
			continue
		}
		loss := in.state.get(Place{id, in.index("loss")})
		if loss == nil {
			loss = in.contents(id)
		}
		out = join(out, loss)
	}
	return out
}

// passed is an argument that the library passes to a hook, by the name it has
// in the documentation.
func (in *interpreter) passed(h *hosted, name string) *Value {
	given := h.host.Gives[name]
	switch {
	case given == torch.TheResult:
		return in.resultGiven(h)
	case given == torch.TheReturned && h.returned != nil:
		return h.returned
	}
	if v := in.stateGiven(h, given); v != nil {
		return v
	}
	v := in.stranger(h.at, name, given)
	in.give(h, name, v.objects[0])
	return v
}

// give sets what the library gives to attributes of an object: of self, whose
// name is empty, or of an argument.
func (in *interpreter) give(h *hosted, name string, id ObjectID) {
	for _, path := range slices.Sorted(maps.Keys(h.host.Gives)) {
		attribute, found := strings.CutPrefix(path, name+".")
		if !found {
			continue
		}
		given := h.host.Gives[path]
		v := in.stateGiven(h, given)
		holder := id
		if owner, field, nested := strings.Cut(attribute, "."); nested {
			parent := in.unknownField(id, in.symbol(owner))
			in.write(Place{id, in.symbol(owner)}, parent)
			holder, attribute = parent.objects[0], field
		}
		p := Place{holder, in.symbol(attribute)}
		switch {
		case v != nil:
			in.write(p, v)
		case in.state.get(p) == nil:
			in.write(p, in.stranger(h.at, path, given))
		}
	}
}

// stateGiven is what the library has of the running step: the loss, with the
// graph that its backward pass frees, and what the model gave. It is nil for
// anything else.
func (in *interpreter) stateGiven(h *hosted, given torch.Given) *Value {
	if given != torch.TheLoss && given != torch.TheOutput && given != torch.Losses {
		return nil
	}
	if h.loss == nil {
		h.loss, h.output = in.backwarded(h.at)
	}
	switch given {
	case torch.TheOutput:
		return h.output
	case torch.Losses:
		id := in.allocateContainer(h.at, torch.Dict)
		if len(h.host.At(torch.Step)) == 0 { // else the program fills it
			in.write(Place{id, anyElement}, h.loss)
		}
		return object(id)
	}
	return h.loss
}

// backwarded is a loss that a library computes and backwards, and the output of
// the model that it is made from.
func (in *interpreter) backwarded(n syntax.NodeID) (loss, output *Value) {
	output = &Value{kinds: KindTensor, memory: &memory{extent: Output, made: in.loop}}
	loss = &Value{kinds: KindTensor, size: torch.Scalar}
	if in.off {
		return loss, output
	}
	at := in.site(n)
	output.atoms = atoms{in.newOrigin(at, recorded{saves: true, sure: Likely})}
	at.slot = 1
	loss.atoms = output.atoms.union(atoms{in.newOrigin(at, recorded{saves: true, sure: Likely})})
	in.free(n, loss.atoms, map[Atom]bool{})
	in.trains()
	return loss, output
}

// resultGiven is what later hooks see of what Step returned: a mapping in which
// the loss has no graph.
func (in *interpreter) resultGiven(h *hosted) *Value {
	id := in.allocateContainer(h.at, torch.Dict)
	if h.result != nil {
		for _, src := range h.result.objects {
			if in.objects[src].kind != objectContainer {
				continue
			}
			for _, f := range in.objects[src].fields {
				in.write(Place{id, f}, in.state.get(Place{src, f}))
			}
		}
	}
	in.write(Place{id, in.index("loss")}, &Value{kinds: KindTensor, size: torch.Scalar, memory: &memory{made: in.loop}})
	return object(id)
}

// stranger is something that unseen code passes or provides: nothing is known of
// it but what it is given as. It is another thing each time.
func (in *interpreter) stranger(n syntax.NodeID, name string, given torch.Given) *Value {
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, field: in.symbol(name)})
	in.renew(id)
	info.model = given == torch.AModel
	info.optimizer = given == torch.AnOptimizer
	v := &Value{kinds: KindUnknown, objects: []ObjectID{id}}
	if given == torch.AResult {
		v.memory = &memory{made: in.loop}
	}
	return v
}
