package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Runners are objects of a library that call functions of the program once a
// step and at events. The functions are fields of the object, by when they are
// called; what is called runs when the code that made the runner has run, for
// then all of it is known.

// newRunner is an object that calls the first argument once a step.
func (in *interpreter) newRunner(n syntax.NodeID, name string, args arguments) *Value {
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
	in.renew(id)
	info.runner = torch.RunnerOf(name)
	if step := args.at(0, "process_function"); step != nil {
		in.write(Place{id, in.eventField(torch.Step)}, step)
	}
	if !slices.Contains(in.runners, id) {
		in.runners = append(in.runners, id)
	}
	return object(id)
}

// eventField is where a runner keeps what it calls at a point of the training.
func (a *analysis) eventField(when torch.When) Symbol {
	return a.symbol("at()" + string(rune('a'+when)))
}

// register has a runner call a function at an event. Without a function the
// result is a decorator that does so.
func (in *interpreter) register(n syntax.NodeID, id ObjectID, args arguments) *Value {
	runner := in.objects[id].runner
	event := args.at(0, "event_name")
	if runner == nil || event == nil {
		return noValue
	}
	if handler := args.at(1, "handler"); handler != nil {
		in.callAt(runner, id, event, handler)
		return noValue
	}
	decorator, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: registration, parent: id})
	info.call = event
	return object(decorator)
}

// registration is the name of a decorator that registers a function.
const registration = "registration"

// registered applies such a decorator.
func (in *interpreter) registered(decorator ObjectID, f *Value) {
	info := in.objects[decorator]
	in.callAt(in.objects[info.parent].runner, info.parent, info.call, f)
}

// callAt notes what a runner calls at an event.
func (in *interpreter) callAt(runner *torch.Runner, id ObjectID, event, handler *Value) {
	for _, e := range event.objects {
		name := in.objects[e].name
		if when, ok := runner.When(name[strings.LastIndexByte(name, '.')+1:]); ok {
			p := Place{id, in.eventField(when)}
			in.write(p, join(in.state.get(p), handler))
		}
	}
}

// runRunners runs the runners that were made since the last time.
func (in *interpreter) runRunners() {
	for len(in.runners) > 0 && in.state != nil && !in.stopped {
		id := in.runners[0]
		in.runners = in.runners[1:]
		if info := in.objects[id]; info.runner != nil && info.at.module == in.main {
			in.runRunner(id, info)
		}
	}
}

// runRunner runs a training of a runner.
func (in *interpreter) runRunner(id ObjectID, info *objectInfo) {
	steps := in.calledAt(id, torch.Step, torch.StepStart, torch.StepEnd)
	at := info.at.node
	if steps < 0 {
		steps = in.calledAt(id, torch.EpochStart, torch.EpochEnd)
		if steps < 0 {
			return
		}
	}
	in.at(id, torch.Before)
	in.iterate(at, extent{}, calledLoop, func() {
		in.at(id, torch.EpochStart)
		in.iterate(steps, extent{}, calledLoop, func() {
			in.at(id, torch.StepStart)
			if out := in.at(id, torch.Step, in.stranger(at, "batch", 0)); out != nil && in.state != nil {
				holder := in.unknownField(id, in.symbol(info.runner.Output[0]))
				in.write(Place{id, in.symbol(info.runner.Output[0])}, holder)
				in.write(Place{holder.objects[0], in.symbol(info.runner.Output[1])}, out)
			}
			in.at(id, torch.StepEnd)
		})
		in.at(id, torch.EpochEnd)
	})
	in.at(id, torch.After)
}

// at calls what a runner calls at a point of the training.
func (in *interpreter) at(id ObjectID, when torch.When, more ...*Value) *Value {
	if in.state == nil {
		return nil
	}
	f := in.state.get(Place{id, in.eventField(when)})
	if f == nil {
		return nil
	}
	return in.apply(in.objects[id].at.node, f, arguments{positional: append([]*Value{object(id)}, more...)})
}

// calledAt is the text of a function that a runner calls at one of some points:
// it stands for the loop. It is NoNode when there is none.
func (in *interpreter) calledAt(id ObjectID, points ...torch.When) syntax.NodeID {
	for _, when := range points {
		f := in.state.get(Place{id, in.eventField(when)})
		if f == nil {
			continue
		}
		for _, o := range f.objects {
			c := in.objects[o].code
			if in.objects[o].kind == objectBound {
				c = in.objects[in.objects[o].class].code
			}
			if c != nil && c.module == in.main {
				return c.node
			}
		}
	}
	return syntax.NoNode
}
