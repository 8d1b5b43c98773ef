package crash

import (
	"fmt"
	"slices"
)

// nameInitiator says where the failure started, and what speaks against knowing
// that.
func (in *incident) nameInitiator(diag *Diagnosis, s *standing, a *absent) {
	e := s.initiating
	if e.Role == RoleConfirmation && in.rankOf(e) == nil {
		in.askRanks(e, s)
	}
	diag.Initiating = &Initiating{Rank: in.rankOf(e), Host: e.Origin.Host, Line: e.Line, When: e.when(), Input: in.inputName(e.Origin.Input)}
	switch {
	case a != nil:
		diag.Initiating = &Initiating{Rank: &a.rank, Host: a.host, Line: a.line, When: a.when, Input: in.inputName(a.input)}
		if a.proof != nil {
			proof := *a.proof
			proof.Input = in.inputName(a.input)
			s.notes = append(s.notes, proof)
		}
		s.simultaneous, s.byOrder = nil, false
	case e.Role == RoleCollateral || diag.Failure == desyncID:
		// Who reports it is a victim. Who started it is not in the text.
		diag.Initiating.Rank, diag.Initiating.Host = nil, ""
		s.simultaneous, s.byOrder = nil, false
	}
	if len(s.simultaneous) > 0 {
		diag.Initiating.Rank, diag.Initiating.Host = nil, ""
		diag.Cause += fmt.Sprintf(" It failed on ranks %s; %s.", numbers(in.ranksOf(append([]*Event{e}, s.simultaneous...))), s.together())
	}
	if s.byOrder {
		diag.Missing = append(diag.Missing, "times of the lines: that this rank was the first is known from their order only")
	}
	if s.processes && diag.Initiating.Rank == nil && len(s.simultaneous) == 0 {
		diag.Confidence = diag.Confidence.atMost(Medium)
		diag.Missing = append(diag.Missing, in.lacksRank(e))
	}
	if c := e.explains; c != nil {
		s.notes = append(s.notes, in.confirmation(e))
	}
	if e.late {
		diag.Confidence = diag.Confidence.atMost(Medium)
		diag.Missing = append(diag.Missing, "whether the steps printed after the error are older than it: standard output waits in a buffer, errors do not")
	}
	if note, ok := in.vote(diag.Initiating); ok {
		s.notes = append(s.notes, note)
	}
}

// askRanks gives what the system reports of a machine the rank that was on it,
// where the others tell: it is the one that they waited for.
func (in *incident) askRanks(e *Event, s *standing) {
	if a := in.silent(e, s.ended); a != nil {
		e.Origin.Rank = a.rank
		s.notes = append(s.notes, Evidence{Line: e.Line, Input: in.inputName(e.Origin.Input), Text: shorten(e.Text), Why: a.because})
	}
}

// together says why none of several ranks is named as the first.
func (s *standing) together() string {
	if s.initiating.Page.Everywhere {
		return "all ranks raise it together, so none of them is the first"
	}
	return "nothing in the text tells on which first"
}

// lacksRank says why no rank is named.
func (in *incident) lacksRank(e *Event) string {
	switch {
	case e.Role == RoleCollateral:
		return "which rank started it: only ranks that waited for it are in the text"
	case e.Origin.LocalRank >= 0:
		return fmt.Sprintf("the global rank: the lines have only the local rank (%d), and there are several machines", e.Origin.LocalRank)
	}
	return "which rank it was: the lines carry no rank"
}

// rankOf is the rank that e happened on, or nil. A local rank stands for it
// where there is one machine only.
func (in *incident) rankOf(e *Event) *int {
	if e.Origin.Rank < 0 && in.census.severalHosts() {
		return nil
	}
	if r := e.rank(); r >= 0 {
		return &r
	}
	return nil
}

func (in *incident) ranksOf(events []*Event) []int {
	var ranks []int
	for _, e := range events {
		if r := in.rankOf(e); r != nil && !slices.Contains(ranks, *r) {
			ranks = append(ranks, *r)
		}
	}
	slices.Sort(ranks)
	return ranks
}

// when is the time of the event as printed, else the step.
func (e *Event) when() string {
	if e.Origin.Time != "" {
		return e.Origin.Time
	}
	return e.Step.String()
}
