package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// libraryClasses are the dotted names of the library's classes that an object is
// an instance of, or whose methods it inherits.
func (a *analysis) libraryClasses(id ObjectID) []string {
	switch info := a.objects[id]; info.kind {
	case objectUnknown:
		if info.name != "" {
			return []string{info.name}
		}
	case objectInstance, objectSuper:
		return a.libraryBases(info.class)
	case objectModule:
		class := strings.TrimSuffix(info.name, ".from_config")
		return []string{strings.TrimSuffix(class, ".from_pretrained")}
	}
	return nil
}

// libraryMethod is a method that a library defines and whose role is known. It
// returns nil for others.
func (in *interpreter) libraryMethod(n, receiver syntax.NodeID, obj *Value, name string, args arguments) *Value {
	if v := in.useMetric(n, receiver, obj, name, args); v != nil {
		return v
	}
	for _, id := range obj.objects {
		for _, class := range in.libraryClasses(id) {
			role, ok := in.workspace.claims.RoleOf(class + "." + name)
			if !ok || !role.OfMethods() {
				continue
			}
			if in.objects[id].kind == objectSuper {
				id = in.objects[id].parent
			}
			return in.playRole(n, receiver, id, role, args)
		}
	}
	return nil
}

// libraryCall is a call of a function or class of a library that has a role. It
// returns nil for models, which are made as modules.
func (in *interpreter) libraryCall(n syntax.NodeID, name string, role torch.Role, args arguments) *Value {
	switch role {
	case torch.MakesModel, torch.MakesReporter:
		return nil
	case torch.MakesHelper:
		id, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
		in.renew(id)
		in.newMetric(info, args)
		return object(id)
	case torch.MakesRunner:
		return in.newRunner(n, name, args)
	case torch.NamesEvent: // one with a condition: Events.ITERATION_COMPLETED(every=100)
		return in.library(name)
	}
	return in.playRole(n, n, 0, role, args)
}

// playRole is a call of a function, class or method of a library that has a
// role. id is the object whose method it is, 0 for others.
func (in *interpreter) playRole(n, receiver syntax.NodeID, id ObjectID, role torch.Role, args arguments) *Value {
	first := args.at(0, "")
	if first == nil && len(args.keyword) > 0 {
		first = args.keyword[0].value
	}
	switch role {
	case torch.Prepares:
		return in.prepared(args)
	case torch.Backwards:
		in.backward(n, args.expr(0, n), first, args)
		in.createsGraph(n, first, args)
		return noValue
	case torch.Trains:
		in.backward(n, args.expr(0, n), first, args)
		in.optimizerSteps()
		return noValue
	case torch.Steps:
		in.optimizerSteps()
		return noValue
	case torch.Collects:
		if first != nil && id != 0 {
			in.collect(id, collected, first, n, args.expr(0, n), receiver, nil)
		}
		return noValue
	case torch.Resets:
		if id != 0 {
			in.write(Place{id, collected}, plain)
		}
		return noValue
	case torch.Registers:
		return in.register(n, id, args)
	case torch.Passes:
		return in.operate(n, false, args.values()...)
	case torch.Scales:
		if first == nil {
			return plain
		}
		return in.operate(n, false, first)
	case torch.Cuts:
		return freshData
	case torch.MakesLoss:
		return in.madeLoss(n, args)
	case torch.MakesEngine:
		model := args.at(1, "model")
		if model == nil {
			model = &Value{kinds: KindUnknown}
		}
		optimizer := args.named("optimizer")
		if optimizer == nil {
			optimizer = in.stranger(n, "optimizer", torch.AnOptimizer)
		}
		return tuple(model, optimizer, &Value{kinds: KindUnknown}, &Value{kinds: KindUnknown})
	}
	return noValue // it shows what it is given
}

// prepared is what is handed back made ready: one thing, or a tuple of several.
func (in *interpreter) prepared(args arguments) *Value {
	given := args.positional
	for _, name := range []string{"models", "optimizers"} {
		if v := args.named(name); v != nil {
			given = append(given[:len(given):len(given)], v)
		}
	}
	switch {
	case args.star != nil || len(given) == 0:
		return &Value{kinds: KindUnknown}
	case len(given) == 1:
		return given[0]
	}
	return tuple(given...)
}

// madeLoss is a loss that a library computes with the model of the program.
func (in *interpreter) madeLoss(n syntax.NodeID, args arguments) *Value {
	loss := &Value{kinds: KindTensor, size: torch.Scalar}
	outputs := &Value{kinds: KindUnknown}
	if !in.off {
		loss.atoms = atoms{in.newOrigin(in.site(n), recorded{saves: true, sure: Likely})}
		outputs.atoms = loss.atoms
	}
	several := args.at(2, "return_outputs")
	if several == nil {
		return loss
	}
	if truth, known := several.truth(); known {
		if truth {
			return tuple(loss, outputs)
		}
		return loss
	}
	return join(loss, tuple(loss, outputs))
}

// optimizerSteps notes that an optimizer steps.
func (in *interpreter) optimizerSteps() {
	in.state.set(Place{modes, stepped}, plainTrue)
	in.optimizes = in.optimizes || !in.repeats()
	in.trains()
}
