package fixes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// DetachState are the fixes of a state that each iteration computes from the
// last one: it is detached at the end of the iteration, since a backward in it
// may need its graph.
func DetachState(p *rules.Pass, g flow.Growth) []rules.Fix {
	s := state{module: p.Module, states: append([]flow.StateAlongside{{Target: g.Target, Shape: g.Shape}}, g.Alongside...), store: g.Store, loop: g.Loop, unused: len(g.Freed) == 0 && g.Retained == nil}
	u := uses{module: p.Module, view: newView(p, p.Module, g.Target.Module), target: g.Target, loop: g.Loop}
	switch {
	case g.ThroughCall || g.Implicit:
		return nil
	case g.Retained != nil:
		return s.detach(rules.Unsafe, " (gradients then stop there)")
	case u.needGraph():
		return s.detach(rules.Unsafe, " (its graph is used later: check that)")
	case u.local() && !g.Escapes:
		return s.detach(rules.Safe, "")
	}
	if doubt := u.view.doubt("runs backward on it"); doubt != "" {
		return s.detach(rules.Unsafe, " ("+doubt+")")
	}
	return s.detach(rules.Safe, "")
}

// TruncateState are the fixes of a state through whose graph a later backward
// cannot run.
func TruncateState(p *rules.Pass, r flow.Reuse) []rules.Fix {
	s := state{module: p.Module, states: []flow.StateAlongside{{Target: r.Target, Shape: r.Shape}}, store: r.Store, loop: r.Loop}
	return s.detach(rules.Unsafe, " (gradients then stop there)")
}

// state is what a loop hands from one iteration to the next: a variable, or
// several that one statement sets.
type state struct {
	module      *names.Module
	states      []flow.StateAlongside
	store, loop flow.Location
	unused      bool // no backward runs through it within an iteration
}

// detach adds statements to the end of the loop's body, if every iteration gets
// there, else behind the one that sets the state, if nothing needs the graph until
// the end; of what the state is made it asks the program where
// it cannot know.
func (s state) detach(safety rules.Safety, caution string) []rules.Fix {
	when := "at the end of each iteration"
	at, indent, ok := s.end()
	if !ok && s.unused {
		when = "as soon as it is set"
		at, indent, ok = s.behindStore()
	}
	if !ok {
		return nil
	}
	slices.SortFunc(s.states, func(a, b flow.StateAlongside) int { return int(a.Target.Node - b.Target.Node) })
	var code strings.Builder
	var what []string
	for _, one := range s.states {
		if one.Shape == flow.UnknownShape && one.Target.Kind() == syntax.Subscript {
			return nil
		}
		if k := one.Target.Kind(); one.Target.Module != s.module || k != syntax.Identifier && k != syntax.Attribute && k != syntax.Subscript {
			return nil
		}
		name := one.Target.Text()
		if one.Shape == flow.UnknownShape {
			safety, caution = rules.Unsafe, fmt.Sprintf(" (check that `%s` is a tensor or a tuple of tensors)", name)
		}
		fmt.Fprintf(&code, "\n%s%s = %s", indent, name, detached(name, one.Shape))
		what = append(what, source(one.Target))
	}
	edit := text.Edit{Span: text.Span{Start: at, End: at}, New: code.String()}
	return []rules.Fix{{
		Title: fmt.Sprintf("Detach %s %s%s", strings.Join(what, " and "), when, caution), Safety: safety,
		Edits: []rules.FileEdit{{Path: s.module.Path, Edit: edit}},
	}}
}

// detached is the expression of a state without its graph.
func detached(name string, shape flow.Shape) string {
	const parts, pairs = "part.detach() for part in ", "tuple(part.detach() for part in pair) for pair in "
	switch shape {
	case flow.OneTensor:
		return name + ".detach()"
	case flow.TupleOfTensors:
		return "tuple(" + parts + name + ")"
	case flow.ListOfTensors:
		return "[" + parts + name + "]"
	case flow.TupleOfTuples:
		return "tuple(" + pairs + name + ")"
	case flow.ListOfTuples:
		return "[" + pairs + name + "]"
	}
	return "tuple(" + parts + name + ") if isinstance(" + name + ", tuple) else " + name + ".detach()"
}

// behindStore is where a statement can be added behind the one that sets the
// state.
func (s state) behindStore() (at int, indent string, ok bool) {
	t := s.module.Tree
	if s.store.Module != s.module {
		return 0, "", false
	}
	statement := statementOf(t, s.store.Node)
	if statement < 0 || !standsAlone(t, statement) {
		return 0, "", false
	}
	indent, ok = indentation(t, statement)
	return lineEnd(t, statement), indent, ok
}

// end is where a statement can be added to the body of the loop, with its
// indentation.
func (s state) end() (at int, indent string, ok bool) {
	t := s.module.Tree
	if s.loop.Module != s.module || s.store.Module != s.module {
		return 0, "", false
	}
	body := t.Child(s.loop.Node, syntax.FieldBody)
	if body < 0 || t.Kind(body) != syntax.Block || s.skips(body) || blockOf(t, s.store.Node) != body {
		return 0, "", false
	}
	at = t.Span(body).End
	if newline := strings.IndexByte(string(t.Source()[at:]), '\n'); newline >= 0 {
		at += len(strings.TrimRight(string(t.Source()[at:at+newline]), "\r"))
	} else {
		at = len(t.Source())
	}
	indent, ok = indentation(t, t.First(body))
	return at, indent, ok
}

// skips reports whether an iteration that sets the state may end before the end
// of the body.
func (s state) skips(body syntax.NodeID) bool {
	t := s.module.Tree
	for n := t.End(s.store.Node); n < t.End(body); n++ {
		if t.Kind(n) == syntax.ContinueStatement {
			return true
		}
	}
	return false
}
