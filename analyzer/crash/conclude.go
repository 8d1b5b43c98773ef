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
	var suspects []Suspect
	var missing []string
	if e.Page.Family == memoryFamily {
		// A leak is no suspect for a failure that is not about memory.
		var err error
		if suspects, missing, err = d.findSuspects(ctx, e.Traceback); err != nil {
			return nil, err
		}
	}
	page, v := e.Page, verdict{}
	if refine := refiners[page.ID]; refine != nil {
		v = refine(&inquiry{
			event: e, suspects: suspects, growth: in.growthOf(e), expandable: in.expandable, cudaBroken: in.brokenBefore(e),
		})
		page = in.knowledge.byID[v.failure]
		diag.Growth = in.growthOf(e)
	} else {
		v = in.plainVerdict(e)
	}
	diag.Failure, diag.Family, diag.Title = page.ID, page.Family, page.Title
	diag.Cause, diag.Confidence, diag.Arithmetic = strings.TrimSpace(v.cause), v.confidence, v.arithmetic
	diag.Alternatives, diag.Suspects = v.alternatives, suspects
	diag.Fix = slices.Concat(suspectFixes(suspects, diag.Failure), e.ownFixes(v.fields), filled(page.Fixes, v.fields))
	diag.Verify = page.Verify
	diag.Missing = distinct(slices.Concat(v.missing, missing, page.Missing))

	in.nameInitiator(diag, s)
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

// nameInitiator says where the failure started, and what speaks against knowing
// that.
func (in *incident) nameInitiator(diag *Diagnosis, s standing) {
	e := s.initiating
	diag.Initiating = &Initiating{Rank: rankOf(e), Host: e.Origin.Host, Line: e.Line, When: e.when(), Input: in.inputName(e.Origin.Input)}
	if e.Role == RoleCollateral && s.gone == nil {
		// Who reports it is a victim. Who started it is not in the text.
		diag.Initiating.Rank, diag.Initiating.Host = nil, ""
		s.simultaneous = nil
	}
	if g := s.gone; g != nil {
		diag.Initiating = &Initiating{Rank: &g.rank, Host: g.host, Line: g.line, When: g.time, Input: in.inputName(g.input)}
		diag.Cause += fmt.Sprintf(" Rank %d ended by itself with exit code %d; its own output is not in the text.", g.rank, g.exitCode)
		s.simultaneous = nil
	}
	if len(s.simultaneous) > 0 {
		diag.Initiating.Rank = nil
		diag.Cause += fmt.Sprintf(" It failed on ranks %s; nothing in the text tells on which first.", rankList(append([]*Event{e}, s.simultaneous...)))
	}
	if s.processes && diag.Initiating.Rank == nil && len(s.simultaneous) == 0 {
		diag.Confidence = diag.Confidence.atMost(Medium)
		lack := "which rank it was: the lines carry no rank"
		if e.Role == RoleCollateral {
			lack = "which rank started it: only ranks that waited for it are in the text"
		}
		diag.Missing = append(diag.Missing, lack)
	}
}

// when is the time of the event as printed, else the step.
func (e *Event) when() string {
	if e.Origin.Time != "" {
		return e.Origin.Time
	}
	return e.Step.String()
}

// suspectFixes turns the suspects that explain the failure into the first
// things to do.
func suspectFixes(suspects []Suspect, failure string) []Fix {
	var fixes []Fix
	if failure != cudaOOM+"graph-retained" && failure != cudaOOM+"eval-accumulation" {
		return nil
	}
	for _, s := range suspects {
		if len(fixes) < 3 && (s.Grows == DeviceGraph || s.Grows == DeviceValues || s.Evaluation) {
			fixes = append(fixes, Fix{Title: fmt.Sprintf("Fix %s in %s", s.Code, s.place()), Detail: advice(s.Message)})
		}
	}
	return fixes
}

// advice is the last sentence of a finding's message, which says what to do. The
// others are shown with the suspect.
func advice(message string) string {
	return strings.TrimSpace(message[strings.LastIndex(message, ". ")+1:])
}

// growthOf is the series of the stream that failed, if it rises.
func (in *incident) growthOf(e *Event) *Growth {
	series := in.series.byStream[e.key]
	if series == nil {
		if len(in.series.byStream) != 1 {
			return nil
		}
		for _, only := range in.series.byStream {
			series = only
		}
	}
	capacity := unsaid
	if total, ok := parseSize(e.Fields["total"]); ok {
		capacity = total
	}
	return series.leak(capacity)
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
	add := func(line int, text, why string) {
		if len(list) < maxEvidence {
			list = append(list, Evidence{Line: line, Text: shorten(text), Why: why, Input: input})
		}
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
	if e.Step.known() && e.Step.Line > 0 {
		add(e.Step.Line, e.Step.Text, "how far the run had come: "+e.Step.String())
	}
	for _, n := range s.notes {
		if len(list) < maxEvidence {
			list = append(list, n)
		}
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
		list = append(list, Collateral{Rank: rankOf(c), Host: c.Origin.Host, Line: c.Line, Event: event, Input: in.inputName(c.Origin.Input)})
	}
	return list
}

// unknown is the diagnosis of a log in which nothing explains a failure.
func (in *incident) unknown(diag *Diagnosis, s standing) {
	page := in.knowledge.byID[unknownID]
	diag.Failure, diag.Family, diag.Title = page.ID, page.Family, page.Title
	diag.Confidence = Low
	diag.Fix = filled(page.Fixes, nil)
	diag.Verify = page.Verify
	diag.Missing = slices.Clone(page.Missing)
	var cut, dump *Event
	for _, e := range in.events {
		switch {
		case e.Page.ID != unknownID || e.Recovered != nil:
		case e.Traceback.Dump:
			dump = e
		default:
			cut = e
		}
	}
	switch {
	case in.bytes == 0:
		diag.Cause = "The text is empty."
	case cut != nil:
		diag.Cause = "There is a traceback without its last line: the exception itself is cut off, so what failed is not in the text."
		diag.Missing = append([]string{"the end of the traceback: the line with the exception and its message"}, diag.Missing...)
		at := cut.Traceback.First
		diag.Evidence = append(diag.Evidence, Evidence{Line: at, Text: "Traceback (most recent call last):", Why: "starts here and has no exception line", Input: in.inputName(cut.Origin.Input)})
		if f, ok := cut.Traceback.innermost(userFrame); ok {
			diag.Evidence = append(diag.Evidence, Evidence{Line: f.At, Text: fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.inFunc()), Why: "the innermost call in your own code", Input: in.inputName(cut.Origin.Input)})
		}
	case dump != nil && len(s.collateral) == 0:
		diag.Cause = "Here is what a process was doing at one moment, but no failure: calls without an exception."
		if f, ok := dump.Traceback.innermost(userFrame); ok {
			diag.Evidence = append(diag.Evidence, Evidence{Line: f.At, Text: fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.inFunc()), Why: "where it was in your own code", Input: in.inputName(dump.Origin.Input)})
		}
	case len(s.collateral) > 0:
		diag.Cause = "Something failed, but what is here only reports it: the failing process's own error is not in the text. The exception of a launcher (such as ChildFailedError) is never the bug itself."
		diag.Missing = append([]string{"the output of the process that failed first; torchrun writes one file for each rank with --log-dir and --redirects 3"}, diag.Missing...)
		diag.Collateral = in.collateral(&Event{Page: page}, s)
	case len(s.recovered) > 0:
		last := s.recovered[len(s.recovered)-1]
		diag.Cause = fmt.Sprintf("No failure ends this log. There was one at line %d that the run survived: it went on to %v.", last.Line, *last.Recovered)
	case in.binary:
		diag.Cause = "This does not look like text, so it holds no log that can be read."
	default:
		diag.Cause = "No failure was found in this text: no traceback, no message of a kind known here."
	}
	for _, r := range s.recovered {
		if len(diag.Evidence) < maxEvidence {
			diag.Evidence = append(diag.Evidence, Evidence{Line: r.Line, Text: shorten(r.Text), Why: fmt.Sprintf("survived: the run went on to %v", *r.Recovered), Input: in.inputName(r.Origin.Input)})
		}
	}
	diag.Evidence = append(diag.Evidence, s.notes...)
}

func rankList(events []*Event) string {
	var ranks []int
	for _, e := range events {
		if r := e.rank(); r >= 0 && !slices.Contains(ranks, r) {
			ranks = append(ranks, r)
		}
	}
	slices.Sort(ranks)
	const most = 8
	more := ""
	if len(ranks) > most {
		more = fmt.Sprintf(" and %d more", len(ranks)-most)
		ranks = ranks[:most]
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ranks)), ", "), "[]") + more
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
