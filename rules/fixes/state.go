package fixes

import (
	"fmt"
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
	s := state{module: p.Module, target: g.Target, store: g.Store, loop: g.Loop, shape: g.Shape}
	u := uses{module: p.Module, target: g.Target}
	switch {
	case g.ThroughCall || g.Implicit:
		return nil
	case g.Retained != nil:
		return s.detach(rules.Unsafe, " (gradients then stop there)")
	case u.needGraph():
		return s.detach(rules.Unsafe, " (its graph is used later: check that)")
	case g.Escapes || !u.local():
		return s.detach(rules.Unsafe, " (check that nothing runs backward on it later)")
	}
	return s.detach(rules.Safe, "")
}

// TruncateState are the fixes of a state through whose graph a later backward
// cannot run.
func TruncateState(p *rules.Pass, r flow.Reuse) []rules.Fix {
	s := state{module: p.Module, target: r.Target, store: r.Store, loop: r.Loop, shape: r.Shape}
	return s.detach(rules.Unsafe, " (gradients then stop there)")
}

// state is a variable that a loop hands from one iteration to the next.
type state struct {
	module              *names.Module
	target, store, loop flow.Location
	shape               flow.Shape
}

// detach adds a statement to the end of the loop's body. It needs to be sure
// that every iteration gets there, and of what the state is made.
func (s state) detach(safety rules.Safety, caution string) []rules.Fix {
	code := s.detached()
	at, indent, ok := s.end()
	if code == "" || !ok {
		return nil
	}
	edit := text.Edit{Span: text.Span{Start: at, End: at}, New: "\n" + indent + s.target.Text() + " = " + code}
	return []rules.Fix{{
		Title: fmt.Sprintf("Detach %s at the end of each iteration%s", source(s.target), caution), Safety: safety,
		Edits: []rules.FileEdit{{Path: s.module.Path, Edit: edit}},
	}}
}

// detached is the expression of the state without its graph.
func (s state) detached() string {
	name := s.target.Text()
	switch s.shape {
	case flow.OneTensor:
		return name + ".detach()"
	case flow.TupleOfTensors:
		return "tuple(part.detach() for part in " + name + ")"
	case flow.ListOfTensors:
		return "[part.detach() for part in " + name + "]"
	}
	return ""
}

// end is where a statement can be added to the body of the loop, with its
// indentation.
func (s state) end() (at int, indent string, ok bool) {
	t := s.module.Tree
	if s.target.Module != s.module || s.loop.Module != s.module {
		return 0, "", false
	}
	if k := s.target.Kind(); k != syntax.Identifier && k != syntax.Attribute && k != syntax.Subscript {
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

// skips reports whether an iteration may end before the end of the body.
func (s state) skips(body syntax.NodeID) bool {
	t := s.module.Tree
	for n := body; n < t.End(body); n++ {
		if t.Kind(n) == syntax.ContinueStatement {
			return true
		}
	}
	return false
}
