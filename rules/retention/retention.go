// Package retention tells people about a place that keeps an autograd graph of
// every iteration: what stays, in which memory, and the steps of the argument.
package retention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
)

// Wording is how a rule speaks of a growth.
type Wording struct {
	Keeper string // "`total`", "This call"
	Verb   string // of the advice: "Add", "Store", "Pass"
	// Advice is one sentence on what to do, where it is another one than to
	// keep the value without its graph.
	Advice string
}

// Finding is the finding of a growth.
func Finding(p *rules.Pass, g flow.Growth, w Wording) rules.Finding {
	f := rules.Finding{
		Span:       g.Kept.Span(),
		Severity:   rules.Warning,
		Memory:     rules.Host,
		Keeps:      rules.Nodes,
		Confidence: rules.Medium,
		Evidence:   evidence(g),
		Fixes:      fixes.Detach(p, g),
	}
	if g.Sure == flow.Certain {
		f.Confidence = rules.High
	}
	if g.Activations {
		f.Severity, f.Memory, f.Keeps = rules.Error, rules.Device, rules.Graph
	}
	f.Message = message(g, w) + ". " + advice(g, w) + "."
	return f
}

// message is one sentence on what is kept and where.
func message(g flow.Growth, w Wording) string {
	kept, each := Code(g.Kept), "iteration"
	if g.Implicit {
		each = "call"
	}
	if !g.Activations {
		why := ""
		switch {
		case g.Returned:
			why = " (a backward on the result frees the activations)"
		case len(g.Freed) > 0:
			why = " (backward has already freed the activations)"
		}
		return fmt.Sprintf("%s keeps about one graph node per operation behind %s for every %s, in host memory%s", w.Keeper, kept, each, why)
	}
	why := "nothing in this loop runs backward on it"
	switch {
	case g.Implicit && g.SideOutput:
		why = "the backward of the step does not run through all of it"
	case g.Implicit:
		why = "no backward frees it"
	case g.Retained != nil:
		why = "its backward keeps the graph on request"
	case g.SideOutput:
		why = "the backward in this loop does not run through all of it"
	}
	return fmt.Sprintf("%s keeps the autograd graph of every %s: %s, so each %s's activations stay in device memory", w.Keeper, kept, why, each)
}

// advice is one sentence on what to do.
func advice(g flow.Growth, w Wording) string {
	if w.Advice != "" {
		return w.Advice
	}
	if instead := fixes.Advice(g); instead != "" {
		return fmt.Sprintf("%s %s instead", w.Verb, instead)
	}
	return fmt.Sprintf("%s it without its graph", w.Verb)
}

// Code is the source of a location, in backquotes, shortened to be read in one
// glance.
func Code(l flow.Location) string {
	return fixes.Quote(l, 40)
}

// evidence is the chain of a growth: created, kept, in this loop, backwarded.
func evidence(g flow.Growth) []rules.Evidence {
	var out []rules.Evidence
	add := func(steps ...rules.Evidence) { out = append(out, steps...) }
	add(Made(g.Made)...)
	keeps := "is kept here"
	if g.Collects {
		keeps = "is stored here"
	}
	add(Step(g.Store, Code(g.Store)+" "+keeps))
	switch {
	case g.Implicit && g.Loop.Kind() == syntax.Identifier: // the name of a class
		add(Step(g.Loop, "each epoch adds to it"))
	case g.Implicit:
		add(LoopStep(g.Loop, "each call of this adds to it"))
	default:
		add(LoopStep(g.Loop, "each iteration of this loop adds to it"))
	}
	if g.Retained != nil {
		add(Step(*g.Retained, "this backward keeps the graph: retain_graph or create_graph"))
	}
	for _, l := range g.Freed {
		m := "this backward frees the activations, not the nodes"
		if g.Activations {
			m = "this backward does not free what stays"
		}
		if k := l.Kind(); k == syntax.FunctionDefinition || k == syntax.ClassDefinition {
			add(LoopStep(l, strings.Replace(m, "this", "the library's", 1)))
			continue
		}
		add(Step(l, m))
	}
	return out
}

// Step is a step of the argument about a statement or an expression.
func Step(l flow.Location, message string) rules.Evidence {
	return rules.Evidence{Path: l.Module.Path, Span: firstLine(l), Message: message}
}

// LoopStep is a step of the argument about a loop: its first line.
func LoopStep(l flow.Location, message string) rules.Evidence {
	return rules.Evidence{Path: l.Module.Path, Span: Header(l), Message: message}
}

const maxMade = 3

// outermost are the locations not within another one, a few of them.
func outermost(ls []flow.Location) []flow.Location {
	var out []flow.Location
	for _, l := range ls {
		if slices.ContainsFunc(ls, func(o flow.Location) bool {
			return o != l && o.Module == l.Module && o.Span() != l.Span() && o.Span().Covers(l.Span())
		}) || slices.Contains(out, l) {
			continue
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b flow.Location) int {
		if a.Module != b.Module {
			return strings.Compare(a.Module.Path, b.Module.Path)
		}
		return int(a.Node - b.Node)
	})
	return out[:min(len(out), maxMade)]
}

// Header is the line of a loop or function that starts it.
func Header(l flow.Location) text.Span {
	t := l.Module.Tree
	s := l.Span()
	if body := t.Child(l.Node, syntax.FieldBody); body >= 0 && t.Kind(l.Node) != syntax.ListComprehension {
		if b := t.Span(body); b.Start > s.Start {
			s.End = b.Start
			for s.End > s.Start && strings.ContainsRune(" \t\r\n:", rune(t.Source()[s.End-1])) {
				s.End--
			}
		}
	}
	return s
}

func firstLine(l flow.Location) text.Span {
	s := l.Span()
	if i := strings.IndexByte(l.Text(), '\n'); i >= 0 {
		s.End = s.Start + i
	}
	return s
}
