package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const memoryFamily = "memory"

// Bounds on the lists of a diagnosis.
const (
	maxCollateral = 24
	maxEvidence   = 12
)

// conclude makes the diagnosis of what was found.
func (d *Diagnoser) conclude(ctx context.Context, in *incident) (*Diagnosis, error) {
	s := in.attribute()
	diag := &Diagnosis{Version: 1}
	if s.initiating == nil {
		in.unknown(diag, s)
		return diag, nil
	}
	e := s.initiating
	in.borrowStep(e)
	course := in.courseOf(e)
	var suspects []Suspect
	var missing []string
	if e.Page.Family == memoryFamily || e.Page.ID == inplaceID || slices.ContainsFunc(e.Page.Related, isRule) {
		// A leak is no suspect for a failure that has nothing to do with one.
		var err error
		if suspects, missing, err = d.findSuspects(ctx, e, course); err != nil {
			return nil, err
		}
	}
	page, v := e.Page, verdict{}
	if refine := refiners[page.ID]; refine != nil {
		v = refine(&inquiry{
			event: e, suspects: suspects, course: course, expandable: in.expandable, cudaBroken: in.brokenBefore(e),
			cycle: in.warnsOfCycle(), ended: s.ended, absent: s.absent,
		})
		page = in.knowledge.byID[v.failure]
	} else {
		v = in.plainVerdict(e)
	}
	v.alternatives = append(v.alternatives, in.alternatives(e, s.ended)...)
	if course != nil && (page.Family == memoryFamily || course.grows()) {
		diag.Growth = course.growth()
		s.notes = append(course.evidence(in.inputName(course.input)), s.notes...)
	}
	diag.Failure, diag.Family, diag.Title = page.ID, page.Family, page.Title
	diag.Cause, diag.Confidence, diag.Arithmetic, diag.Memory = strings.TrimSpace(v.cause), v.confidence, v.arithmetic, v.memory
	diag.Alternatives, diag.Suspects = v.alternatives, suspects
	diag.Fix = slices.Concat(suspectFixes(suspects, page), e.ownFixes(in.details(e), v.fields), filled(page.Fixes, v.fields))
	if page.Family != memoryFamily && len(suspects) > 0 {
		diag.Cause += fmt.Sprintf(" In the code that is %s.", suspects[0].named())
	}
	diag.Verify = page.Verify.filled(v.fields)
	diag.Missing = distinct(slices.Concat(v.missing, missing, page.Missing))

	in.nameInitiator(diag, &s, v.absent)
	if e.Traceback != nil && e.Traceback.Woven {
		diag.Confidence = diag.Confidence.atMost(Medium)
		diag.Missing = append(diag.Missing, "the output of each process by itself: here the tracebacks of several are interleaved, line by line")
	}
	diag.Evidence = in.evidence(e, s)
	diag.Collateral = in.collateral(e, s)
	return diag, nil
}

// borrowStep gives an event whose input prints no step the newest step of the
// others: files of other ranks may have what this one does not print.
func (in *incident) borrowStep(e *Event) {
	if e.Step.known() {
		return
	}
	for _, p := range in.progress {
		if p.newest.after(e.Step) {
			e.Step = p.newest
			e.Step.Line, e.Step.Borrowed = 0, true // a line of another input
		}
	}
}

// isRule reports whether a related page is that of a rule of the static
// analysis.
func isRule(id string) bool { return strings.HasPrefix(id, "GL") }

// advice is the last sentence of a finding's message, which says what to do. The
// others are shown with the suspect.
func advice(message string) string {
	return strings.TrimSpace(message[strings.LastIndex(message, ". ")+1:])
}

// warnsOfCycle reports whether PyTorch warned that gradients with a graph were
// left on the parameters.
func (in *incident) warnsOfCycle() bool {
	return slices.ContainsFunc(in.events, func(e *Event) bool { return e.Page.ID == createGraphID })
}

// brokenBefore reports whether CUDA or NCCL had failed before e.
func (in *incident) brokenBefore(e *Event) bool {
	return slices.ContainsFunc(in.events, func(o *Event) bool {
		return compareEvents(o, e) < 0 && (o.Page.ID == "distributed.nccl-error" || strings.Contains(o.Text, "CUDA error") && o.Page != e.Page)
	})
}

// evidence lists the lines of the log that the diagnosis rests on.
func (in *incident) evidence(e *Event, s standing) []Evidence {
	var list []Evidence
	input := in.inputName(e.Origin.Input)
	note := func(n Evidence) {
		// A line that shows two things is shown once.
		if i := slices.IndexFunc(list, func(e Evidence) bool { return e.Line == n.Line && e.Input == n.Input && e.Text == n.Text }); i >= 0 {
			list[i].Why += "; " + n.Why
		} else if len(list) < maxEvidence {
			list = append(list, n)
		}
	}
	add := func(line int, text, why string) {
		note(Evidence{Line: line, Text: shorten(text), Why: why, Input: input})
	}
	why := "the first failure that the run did not survive"
	switch {
	case e.rankInferred:
		why = fmt.Sprintf("the failure; the line has no rank, but GPU %s is that of rank %d in the launcher's report", e.Fields["gpu"], e.rank())
	case e.Listed:
		why = "as the launcher reports it"
	case len(in.events) == 1:
		why = "the failure"
	}
	text := e.Text
	if t := e.Traceback; t != nil && len(t.Message) > 0 && t.Message[0].No == e.Line {
		text = t.text()
	}
	add(e.Line, text, why)
	if t := e.Traceback; t != nil {
		if f, ok := t.innermost(userFrame); ok {
			add(f.At, f.String(), "the innermost call in your own code")
		}
		if t.Forward != nil {
			if f, ok := t.Forward.innermost(userFrame); ok {
				add(f.At, f.String(), "where the forward pass made what the backward pass failed on")
			}
		}
	}
	for i, o := range in.details(e) {
		if i < 3 {
			add(o.Line, o.Text, "says more about the same failure")
		}
	}
	if e.Step.known() && e.Step.Line > 0 {
		add(e.Step.Line, e.Step.Text, "how far the run had come: "+e.Step.String())
	}
	for _, n := range s.notes {
		note(n)
	}
	for _, r := range s.recovered {
		add(r.Line, r.Text, fmt.Sprintf("an earlier failure that the run survived: it went on to %v", *r.Recovered))
		if len(list) > 6 {
			break
		}
	}
	return list
}

// shorten keeps a line of the log readable.
func shorten(text string) string {
	const most = 1000
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// collateral lists what followed, once for each rank and kind.
func (in *incident) collateral(e *Event, s standing) []Collateral {
	var list []Collateral
	type kind struct {
		page  *Page
		rank  int
		input int
	}
	seen := make(map[kind]bool)
	for _, c := range s.collateral {
		k := kind{c.Page, c.rank(), c.Origin.Input}
		if seen[k] || len(list) >= maxCollateral {
			continue
		}
		seen[k] = true
		event := c.Page.Title
		switch {
		case c.Page.ID == e.Page.ID && c.rank() >= 0 && c.rank() != e.rank():
			event = "the same failure: " + shorten(c.Text)
		case c.Page.ID == pythonExceptionID, c.Page.ID == e.Page.ID:
			event = shorten(c.Text)
		}
		followed := Collateral{Rank: in.rankOf(c), Host: c.Origin.Host, Line: c.Line, Event: event, Input: in.inputName(c.Origin.Input)}
		if apart, ok := apart(c, e); ok {
			after := apart.Seconds()
			followed.After = &after
		}
		list = append(list, followed)
	}
	return list
}

// distinct drops repeated and empty strings.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
