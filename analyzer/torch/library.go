package torch

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Library is what is known of one package on top of PyTorch: what its calls do
// with the tensors they are given, and when it calls the methods of classes that
// programs derive from its own.
type Library struct {
	// Packages are the names under which it is imported.
	Packages []string
	// Source is where that is documented, by title.
	Source string
	// Calls are its functions ("initialize"), classes ("Fabric") and methods
	// ("Fabric.backward") by what they do. A * stands for any part of a name; a
	// name with dots may be the whole path below the package ("models.*").
	Calls map[Role]string
	// Hosts are the classes that programs derive from.
	Hosts []Host
	// Runners are the classes that call functions of the program.
	Runners []Runner
}

// Role is what a call of a library does with the values it is given.
type Role uint8

// The roles of calls.
const (
	// Prepares: returns what it is given, made ready; a tuple of several things.
	Prepares Role = iota + 1
	// Backwards: runs a backward pass on its first argument.
	Backwards
	// Trains: does so and steps an optimizer.
	Trains
	// Steps: an optimizer steps.
	Steps
	// Shows: shows, writes or adds up its arguments and keeps no graph of them.
	Shows
	// Collects: keeps what it is given, its graph too, from call to call.
	Collects
	// Resets: drops what was collected.
	Resets
	// Passes: the result carries the graph of the arguments.
	Passes
	// Scales: the result is the first argument times a number.
	Scales
	// Cuts: the result is a tensor without a graph.
	Cuts
	// MakesLoss: the result is a scalar with a graph; with return_outputs a
	// tuple of it and what the model gave.
	MakesLoss
	// MakesModel: the result is a model.
	MakesModel
	// MakesReporter: the result is a model whose calls give an object of several
	// tensors.
	MakesReporter
	// MakesEngine: the result is a tuple of the argument model, now an engine
	// that runs its backward pass, an optimizer, a loader and a scheduler.
	MakesEngine
	// MakesHelper: the result is an object whose methods are known.
	MakesHelper
	// MakesRunner: the result is an object that calls the first argument once a
	// step.
	MakesRunner
	// Registers: has a runner call a function at an event: the arguments are the
	// event and the function, or the call is a decorator of the function.
	Registers
	// NamesEvent: an event, or part of its occurrences.
	NamesEvent
)

// OfMethods reports whether a method may have the role, not only a function or
// a class.
func (r Role) OfMethods() bool { return r < MakesModel || r == Registers }

// When says at which point of a training a library calls a method.
type When uint8

// The points of a training, in their order. Those from EpochStart to EpochEnd
// come once an epoch; those from StepStart to StepEnd once a step of it, and
// EvalStep once a step of its evaluation. Evaluation records no graph.
const (
	Before When = iota
	EpochStart
	StepStart
	// Step makes the loss: what it returns is backwarded, if the host says so.
	Step
	StepEnd
	EvalStart
	EvalStep
	EvalEnd
	EpochEnd
	After
	TestStart
	TestStep
	TestEnd
)

// Host is a class of a library whose methods the library calls.
type Host struct {
	// Class is its name.
	Class string
	// Module says that it is a neural network module.
	Module bool
	// Hooks are the methods that it calls, each with the names of its
	// arguments: "on_epoch_end(trainer epoch)". Arguments after a * are passed
	// by name.
	Hooks map[When]string
	// Gives are arguments and attributes that are more than data, by name; an
	// attribute begins with a dot.
	Gives map[string]Given
	// Returns says what the library does with what a Step returns.
	Returns Returned
	// Unless is an attribute that is false when the program runs the backward
	// pass itself.
	Unless string
	// Unrecorded are methods that run without recording a graph, whoever calls
	// them.
	Unrecorded string
	// Calls is the method that a call of an instance runs before it gives a value
	// that has the graph of the arguments.
	Calls string
}

// Given is what a library passes to a method that it calls.
type Given uint8

// What is passed. Anything else is data: it may be a tensor, but has no graph.
const (
	// AModel is the model being trained.
	AModel Given = iota + 1
	// AnOptimizer is its optimizer.
	AnOptimizer
	// TheLoss is the loss of the step, with its graph.
	TheLoss
	// TheOutput is what the model gave in this step, with its graph.
	TheOutput
	// TheResult is what Step returned, its loss without a graph.
	TheResult
	// AResult is what the step of a model returned that is not seen: tensors, as a
	// rule, without a graph.
	AResult
	// TheReturned is what the hook before returned.
	TheReturned
	// Losses is a mapping from names to losses with their graphs, of which the
	// library backwards one.
	Losses
)

// Returned is what a library does with what a Step returns.
type Returned uint8

// What happens to what a Step returns.
const (
	// Dropped: nothing.
	Dropped Returned = iota
	// Backwarded: it is a loss, or holds one, and a backward pass runs on it.
	Backwarded
)

// Runner is a class of a library whose objects call functions of the program.
// Those take the object as their first argument.
type Runner struct {
	// Class is its name.
	Class string
	// Events are the names of the events at which functions are called.
	Events map[When]string
	// Output is where the object keeps what the step returned: two attributes.
	Output [2]string
}

// When is the point of a training at which an event occurs.
func (r *Runner) When(event string) (When, bool) {
	for when := Before; when <= After; when++ {
		if slices.Contains(strings.Fields(r.Events[when]), event) {
			return when, true
		}
	}
	return 0, false
}

// Hook is a method that a library calls.
type Hook struct {
	Name string
	// Arguments are the names of what it is given by position, Keywords of what
	// it is given by name.
	Arguments, Keywords []string
}

// At are the hooks of one point of a training, in their order.
func (h *Host) At(when When) []Hook {
	var out []Hook
	for text := range strings.SplitSeq(h.Hooks[when], ")") {
		name, list, found := strings.Cut(text, "(")
		if !found {
			continue
		}
		hook := Hook{Name: strings.TrimSpace(name)}
		for _, argument := range strings.Fields(list) {
			switch {
			case argument == "*":
				hook.Keywords = []string{}
			case hook.Keywords != nil:
				hook.Keywords = append(hook.Keywords, argument)
			default:
				hook.Arguments = append(hook.Arguments, argument)
			}
		}
		out = append(out, hook)
	}
	return out
}

// libraries are the packages that are known, the most used first.
var libraries = []Library{lightning, transformers, accelerate, torchmetrics, ignite, fastai, catalyst, skorch,
	deepspeed, apex, horovod, mmengine, timm, peft, diffusers, geometric, dgl, torchvision, hub, segmentation, efficientnet, openCLIP}

// index finds in the libraries what a dotted name stands for.
var index = func() map[string]*indexed {
	out := map[string]*indexed{}
	for i := range libraries {
		l := &libraries[i]
		ix := &indexed{roles: map[string]Role{}, hosts: map[string]*Host{}, runners: l.Runners}
		for _, role := range slices.Sorted(maps.Keys(l.Calls)) {
			for _, name := range strings.Fields(l.Calls[role]) {
				if strings.ContainsAny(name, "*[") {
					ix.patterns = append(ix.patterns, pattern{name, role})
				} else {
					ix.roles[name] = role
				}
			}
		}
		for j := range l.Hosts {
			ix.hosts[l.Hosts[j].Class] = &l.Hosts[j]
		}
		for _, p := range l.Packages {
			out[p] = ix
		}
	}
	return out
}()

// indexed is one library, for looking things up in it.
type indexed struct {
	roles    map[string]Role
	patterns []pattern
	hosts    map[string]*Host
	runners  []Runner
}

// pattern is names of calls and what they do.
type pattern struct {
	names string
	role  Role
}

// RoleOf is what the function, class or method of a dotted name does. Where in
// its package something is found plays no part unless an entry says so: packages
// hand on names from where they are defined.
func RoleOf(dotted string) (Role, bool) {
	ix, length := libraryOf(dotted)
	if ix == nil {
		return 0, false
	}
	prefix, last := cutLast(dotted)
	_, class := cutLast(prefix)
	name := last
	if class != "" && class[0] >= 'A' && class[0] <= 'Z' {
		name = class + "." + last
	}
	if role, ok := ix.roles[name]; ok {
		return role, true
	}
	below := dotted[length+1:]
	for _, p := range ix.patterns {
		for _, candidate := range []string{name, below} {
			if ok, _ := path.Match(p.names, candidate); ok {
				return p.role, true
			}
		}
	}
	return 0, false
}

// HostOf is the class of a dotted name if a library calls the methods of what
// derives from it, else nil.
func HostOf(dotted string) *Host {
	ix, _ := libraryOf(dotted)
	if ix == nil {
		return nil
	}
	_, last := cutLast(dotted)
	return ix.hosts[last]
}

// RunnerOf is what calls functions of the program for the class or function of a
// dotted name that makes it, else nil.
func RunnerOf(dotted string) *Runner {
	ix, _ := libraryOf(dotted)
	if ix == nil || len(ix.runners) == 0 {
		return nil
	}
	return &ix.runners[0]
}

// libraryOf finds the library with the longest package name that a dotted name
// begins with, and the length of that name.
func libraryOf(dotted string) (*indexed, int) {
	for prefix, _ := cutLast(dotted); prefix != ""; prefix, _ = cutLast(prefix) {
		if ix := index[prefix]; ix != nil {
			return ix, len(prefix)
		}
	}
	return nil, 0
}
