package crash

import (
	"fmt"
	"slices"
)

// unknown is the diagnosis of a log in which nothing explains a failure.
func (in *incident) unknown(diag *Diagnosis, s standing) {
	in.fillFrom(diag, unknownID)
	cut, dump := in.unfinished()
	switch {
	case in.bytes == 0:
		diag.Cause = "The text is empty."
	case cut != nil:
		diag.Cause = "There is a traceback without its last line: the exception itself is cut off, so what failed is not in the text."
		diag.Missing = append([]string{"the end of the traceback: the line with the exception and its message"}, diag.Missing...)
		diag.Evidence = append(diag.Evidence, Evidence{Line: cut.Traceback.First, Text: "Traceback (most recent call last):", Why: "starts here and has no exception line", Input: in.inputName(cut.Origin.Input)})
		in.showInnermost(diag, cut, "the innermost call in your own code")
		diag.Collateral = in.collateral(&Event{Page: in.knowledge.byID[unknownID]}, s)
	case dump != nil && len(s.collateral) == 0:
		diag.Cause = "Here is what a process was doing at one moment, but no failure: calls without an exception."
		in.showInnermost(diag, dump, "where it was in your own code")
	case len(s.collateral) > 0 || len(in.listed) > 0:
		diag.Cause = "Something failed, but what is here only reports it: the failing process's own error is not in the text. The exception of a launcher (such as ChildFailedError) is never the bug itself."
		diag.Missing = append([]string{"the output of the process that failed first; torchrun writes one file for each rank with --log-dir and --redirects 3"}, diag.Missing...)
		diag.Collateral = in.collateral(&Event{Page: in.knowledge.byID[unknownID]}, s)
	case in.rising() != nil:
		in.tellGrowth(diag, in.rising())
	case len(s.recovered) > 0:
		last := s.recovered[len(s.recovered)-1]
		diag.Cause = fmt.Sprintf("No failure ends this log. There was one at line %d that the run survived: it went on to %v.", last.Line, *last.Recovered)
		diag.Alternatives = append(diag.Alternatives, Alternative{
			Failure: last.Page.ID, Confidence: Low,
			Why: fmt.Sprintf("the run went on to %v after it; but where standard output is buffered, steps that are older than an error are written after it", *last.Recovered),
		})
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
	if note, ok := in.vote(nil); ok {
		diag.Evidence = append(diag.Evidence, note)
	}
}

// fillFrom takes from a page what does not depend on an event.
func (in *incident) fillFrom(diag *Diagnosis, id string) {
	page := in.knowledge.byID[id]
	diag.Failure, diag.Family, diag.Title = page.ID, page.Family, page.Title
	diag.Confidence = Low
	diag.Fix = filled(page.Fixes, nil)
	diag.Verify = page.Verify.filled(nil)
	diag.Missing = slices.Clone(page.Missing)
}

// unfinished are the last traceback whose end is cut off, and the last dump of
// calls without an exception.
func (in *incident) unfinished() (cut, dump *Event) {
	for _, e := range in.events {
		switch {
		case e.Page.ID != unknownID || e.Recovered != nil:
		case e.Traceback.Dump:
			dump = e
		default:
			cut = e
		}
	}
	return cut, dump
}

// showInnermost adds the innermost call of the user's code to the evidence.
func (in *incident) showInnermost(diag *Diagnosis, e *Event, why string) {
	if f, ok := e.Traceback.innermost(userFrame); ok {
		diag.Evidence = append(diag.Evidence, Evidence{Line: f.At, Text: fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.inFunc()), Why: why, Input: in.inputName(e.Origin.Input)})
	}
}
