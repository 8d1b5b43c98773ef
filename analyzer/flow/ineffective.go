package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// IneffectiveGuard is code that looks as if it ran under no_grad and does not.
type IneffectiveGuard struct {
	// Guard is what makes the guard: torch.no_grad().
	Guard Location
	Why   GuardFailure
	// Runs is what runs unguarded: the definition of a function or class, the
	// expression that makes a generator or starts a thread.
	Runs Location
	// Target is the function that a thread runs, if it is one of the program.
	Target *Location
}

// GuardFailure says why a guard has no effect.
type GuardFailure uint8

const (
	// NeverEntered guards are statements of their own: nothing enters what they
	// make.
	NeverEntered GuardFailure = iota
	// CoroutineLater guards decorate an async function: they are left before its
	// body runs.
	CoroutineLater
	// ConstructorOnly guards decorate a class.
	ConstructorOnly
	// GeneratorLater guards surround what makes a generator, which runs where it
	// is consumed.
	GeneratorLater
	// OtherThread guards surround what starts a thread: grad mode is a thread's
	// own.
	OtherThread
)

// ineffective notes that a guard has no effect on code.
func (in *interpreter) ineffective(guard syntax.NodeID, m *names.Module, why GuardFailure, runs syntax.NodeID, target *Location) {
	if m != in.main || in.main == nil {
		return
	}
	in.guards[codeKey{m, runs}] = IneffectiveGuard{
		Guard: Location{m, guard}, Why: why, Runs: Location{m, runs}, Target: target,
	}
}

// ineffectiveGuards are the guards without effect, by position.
func (in *interpreter) ineffectiveGuards() []IneffectiveGuard {
	var out []IneffectiveGuard
	for _, g := range in.guards {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b IneffectiveGuard) int { return cmp.Compare(a.Runs.Node, b.Runs.Node) })
	return out
}

// unentered notes a guard at n that is made by a statement of its own.
func (in *interpreter) unentered(n syntax.NodeID) {
	if in.tree().Kind(in.tree().Parent(n)) == syntax.ExpressionStatement {
		in.ineffective(n, in.frame.module, NeverEntered, n, nil)
	}
}

// decoratedInVain notes a guard at n that decorates a class or an async
// function, and reports whether that is so.
func (in *interpreter) decoratedInVain(n syntax.NodeID, decorated *objectInfo) bool {
	why := ConstructorOnly
	switch {
	case decorated.kind == objectClass:
	case decorated.code != nil && decorated.code.scope.Async:
		why = CoroutineLater
	default:
		return false
	}
	in.ineffective(n, in.frame.module, why, decorated.at.node, nil)
	return true
}

// guardAround is the call that makes the guard under which the code at n runs,
// as far as its function shows.
func (in *interpreter) guardAround(m *names.Module, n syntax.NodeID) (syntax.NodeID, bool) {
	t := m.Tree
	for n = t.Parent(n); n >= 0; n = t.Parent(n) {
		switch t.Kind(n) {
		case syntax.WithStatement:
			for item := range t.Children(t.First(n)) {
				if guard := t.Child(item, syntax.FieldValue); in.switchesOff(m, guard) {
					return guard, true
				}
			}
		case syntax.DecoratedDefinition:
			if t.Kind(t.Child(n, syntax.FieldDefinition)) != syntax.FunctionDefinition {
				return syntax.NoNode, false
			}
			for d := range t.Children(n) {
				if t.Kind(d) == syntax.Decorator && in.switchesOff(m, t.First(d)) {
					return t.First(d), true
				}
			}
			return syntax.NoNode, false
		case syntax.Lambda:
			return syntax.NoNode, false
		case syntax.FunctionDefinition:
			if t.Kind(t.Parent(n)) != syntax.DecoratedDefinition {
				return syntax.NoNode, false
			}
		}
	}
	return syntax.NoNode, false
}

// switchesOff reports whether an expression made a guard that switches the
// recording off.
func (in *interpreter) switchesOff(m *names.Module, n syntax.NodeID) bool {
	v := in.values[m].at(n)
	return v != nil && slices.ContainsFunc(v.objects, func(id ObjectID) bool {
		info := in.objects[id]
		return info.kind == objectGuard && torch.GradContext(info.name) == torch.GradOff
	})
}

// resumedUnguarded notes that a step of a generator recorded operations, when
// what made the generator stands under a guard. recordings is how many there were
// before the step.
func (in *interpreter) resumedUnguarded(info *objectInfo, recordings int) {
	if in.off || in.dry || in.recordings == recordings || info.at.module != in.main || info.code != nil && info.code.context {
		return
	}
	if guard, ok := in.guardAround(info.at.module, info.at.node); ok {
		in.ineffective(guard, info.at.module, GeneratorLater, info.at.node, nil)
	}
}

// startedUnguarded notes that what a thread runs recorded operations, when what
// starts it at n stands under a guard.
func (in *interpreter) startedUnguarded(n syntax.NodeID, f *Value, recordings int) {
	if in.dry || in.recordings == recordings {
		return
	}
	guard, ok := in.guardAround(in.frame.module, n)
	if !ok {
		return
	}
	var target *Location
	for _, id := range f.objects {
		info := in.objects[id]
		if info.kind == objectBound {
			info = in.objects[info.class]
		}
		if c := info.code; c != nil && c.module == in.main && c.module.Tree.Kind(c.node) == syntax.FunctionDefinition {
			target = &Location{c.module, c.node}
		}
	}
	in.ineffective(guard, in.frame.module, OtherThread, n, target)
}
