package crash

import "strings"

// A run goes through episodes: a fault that it survives, by a retry, a restart
// or a handler, and the one that ends it. Only the last one is the failure.

// lateOutput is how many lines may come after an error only because standard
// output is buffered while errors are not.
const lateOutput = 200

// episodes marks the events that the run survived and returns the others.
func (in *incident) episodes(s *standing) []*Event {
	var ended []*Event
	for _, e := range in.events {
		if step, ok := in.survived(e); ok {
			e.Recovered = &step
			s.recovered = append(s.recovered, e)
		} else {
			ended = append(ended, e)
		}
	}
	if in.hasCandidate(ended) {
		return ended
	}
	return in.restore(ended, s)
}

// survived reports whether the run went on after e, and how far.
func (in *incident) survived(e *Event) (Step, bool) {
	p := in.progress[e.Origin.Input]
	if e.Signature != nil && e.Signature.Lasting {
		// A state lasts until a later step shows that it is over.
		last, ok := p.latest[e.key]
		over := ok && last.Line > e.last() && readStep(e.Text).known() && e.Signature.match(last.Text) == nil
		return last, over
	}
	after := e.last()
	if e.Signature != nil && e.Signature.Fatal {
		// The process has ended. Only another one, started in its place, goes on.
		after += lateOutput
	}
	if _, own := p.latest[e.key]; own && !e.Listed {
		return p.wentOn(e.key, after)
	}
	if e.Listed || e.rank() < 0 {
		// What a launcher or the kernel writes belongs to no stream of steps.
		return p.anyWentOn(after)
	}
	// A rank that prints no steps: others may be late to notice that it is gone,
	// unless a launcher has ended them all and started them again.
	if end := in.endedAfter(e); end > 0 {
		return p.anyWentOn(end)
	}
	return p.anyWentOn(after + lateOutput)
}

// endedAfter is the first line after e on which a launcher reports that the run
// ended, or 0.
func (in *incident) endedAfter(e *Event) int {
	for _, o := range in.events {
		if o.Origin.Input == e.Origin.Input && o.Line > e.last() && o.Page.ID == childFailedID {
			return o.Line
		}
	}
	for _, w := range in.listed {
		if w.input == e.Origin.Input && w.line > e.last() {
			return w.line
		}
	}
	return 0
}

// childFailedID is the page of what launchers say when a worker has failed.
const childFailedID = "distributed.child-failed"

// restore finds the end of a run whose faults all seem survived although a
// launcher reports that it failed: errors are written at once, but steps may
// wait in a buffer until the process ends.
func (in *incident) restore(ended []*Event, s *standing) []*Event {
	end := 0
	for _, e := range ended {
		if e.Role == RoleTeardown {
			end = max(end, e.Line)
		}
	}
	if end == 0 {
		return ended
	}
	var kept []*Event
	for _, e := range s.recovered {
		if e.Strength >= reported && e.Line < end && end-e.last() <= lateOutput {
			e.Recovered, e.late = nil, true
			ended = append(ended, e)
		} else {
			kept = append(kept, e)
		}
	}
	s.recovered = kept
	return ended
}

// hasCandidate reports whether one of the events can have started the failure.
func (in *incident) hasCandidate(events []*Event) bool {
	for _, e := range events {
		if in.strength(e) >= reported && e.Role != RoleAdvice {
			return true
		}
	}
	return false
}

// anyWentOn reports whether any stream made steps after the given line.
func (p *progress) anyWentOn(line int) (Step, bool) {
	var furthest Step
	found := false
	for key := range p.recent {
		if step, ok := p.wentOn(key, line); ok && (!found || step.Line > furthest.Line || step.Line == furthest.Line && strings.Compare(step.Text, furthest.Text) < 0) {
			furthest, found = step, true
		}
	}
	return furthest, found
}
