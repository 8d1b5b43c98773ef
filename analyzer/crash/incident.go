package crash

import (
	"fmt"
	"slices"
)

// Strengths that the attribution itself refers to.
const (
	confirmed    = 5 // what hardware, kernel or scheduler say
	ownException = 4 // what a program did itself
	fatalSignal  = 3
	hearsay      = 2 // an exception that somebody else tells of
	reported     = 1 // what may only repeat another failure
)

// standing is what an incident's events mean together.
type standing struct {
	initiating   *Event
	simultaneous []*Event // as good as the initiating one, on other ranks
	byOrder      bool     // only the order of lines says that it was the first
	ended        []*Event // those of the episode that the run did not survive
	collateral   []*Event
	recovered    []*Event
	absent       *absent // the process that the initiating event only reports
	notes        []Evidence
	processes    bool // several processes took part
}

// attribute finds the event that started the incident: of what the run did not
// survive the strongest, of these the earliest. What a launcher names as the
// root cause is one vote only, because it compares times in whole seconds and
// prefers low ranks.
func (in *incident) attribute() standing {
	var s standing
	slices.SortStableFunc(in.events, compareEvents)
	in.attachCalls()
	in.mergeListed()
	in.inferRanks()
	in.census.count(in.events, in.listed)

	s.ended = in.episodes(&s)
	in.confirm(s.ended)
	if top := in.strongest(s.ended); len(top) > 0 {
		s.initiating, s.simultaneous, s.byOrder = in.earliest(top)
	}
	if s.initiating != nil {
		in.borrowRank(s.initiating)
	}
	if e := s.initiating; e != nil && e.Role == RoleCollateral {
		s.absent = in.findAbsent(e, s.ended)
	}
	s.collateral = in.followed(&s)
	s.processes = in.severalProcesses()
	return s
}

// severalProcesses reports whether the run had more than one process that a
// rank could tell apart.
func (in *incident) severalProcesses() bool {
	return len(in.listed) > 1 || len(in.inputs) > 1 || len(in.census.ended) > 0 || slices.ContainsFunc(in.events, func(e *Event) bool {
		return e.rank() > 0 || e.Page.Family == distributedFamily && e.Role == RoleCollateral
	})
}

// strongest are the events that explain a failure best. Advice counts only
// where there is nothing else.
func (in *incident) strongest(events []*Event) []*Event {
	// Of equal strength, who reports another's failure comes last.
	weight := func(e *Event) int {
		w := 2 * in.strength(e)
		if e.Role == RoleCollateral && w > 0 {
			w--
		}
		return w
	}
	var top []*Event
	advice := !in.hasCandidate(events)
	for _, e := range events {
		switch w := weight(e); {
		case w == 0 || e.Role == RoleAdvice && !advice:
		case len(top) == 0 || w > weight(top[0]):
			top = []*Event{e}
		case w == weight(top[0]):
			top = append(top, e)
		}
	}
	return top
}

// strength is how well an event explains a failure by itself.
func (in *incident) strength(e *Event) int {
	switch {
	case in.forced[e.Origin.PID] && e.Strength == fatalSignal:
		return 0 // the launcher killed the process itself
	case in.follows(e):
		return 0
	case e.Page.ID == pythonExceptionID && e.Traceback != nil && e.Traceback.Bare:
		return hearsay
	}
	return e.Strength
}

// follows reports whether e is how its process ended after another failure.
func (in *incident) follows(e *Event) bool {
	return len(e.Page.Follows) > 0 && slices.ContainsFunc(in.events, func(o *Event) bool {
		return slices.Contains(e.Page.Follows, o.Page.ID) && o.Recovered == nil && o.Strength >= reported && o.Role != RoleAdvice &&
			(o.rank() == e.rank() || e.Origin.Rank < 0) && in.before(o, e) < 0
	})
}

// followed are the events that the initiating one explains.
func (in *incident) followed(s *standing) []*Event {
	var list, details []*Event
	if s.initiating != nil {
		details = in.details(s.initiating)
	}
	for _, e := range in.events {
		switch {
		case e == s.initiating, e.Recovered != nil, e.Page.ID == unknownID, e.Role == RoleAdvice, slices.Contains(details, e):
		case s.initiating != nil && e.sameAs(s.initiating):
		default:
			list = append(list, e)
		}
	}
	return list
}

// sameAs reports whether e says again what o says: the same process of the same
// failure, or the death that o explains.
func (e *Event) sameAs(o *Event) bool {
	death := o.explains != nil && slices.Contains(o.Page.Confirms, e.Page.ID) && sameProcess(e, o)
	return e == o.explains || death || e.Page == o.Page && (e.key == o.key || o.Role == RoleConfirmation && sameProcess(e, o))
}

// earliest picks the first of events of equal strength, and those on other ranks
// that nothing puts after it. It reports whether only the order of lines does.
func (in *incident) earliest(top []*Event) (first *Event, others []*Event, byOrder bool) {
	first = top[0]
	for _, e := range top[1:] {
		if in.before(e, first) < 0 {
			first = e
		}
	}
	first = withTraceback(first, top)
	for _, e := range top {
		if e == first || e.rank() == first.rank() {
			continue
		}
		switch _, timed := apart(first, e); {
		case in.before(first, e) == 0, first.Page.Everywhere && e.Page == first.Page:
			others = append(others, e)
		case !timed:
			byOrder = true
		}
	}
	return first, others, byOrder
}

// withTraceback prefers, to a line that somebody else wrote about a failure (a
// logger, or the GPU, which knows no ranks), the traceback of the same failure
// that follows it.
func withTraceback(first *Event, top []*Event) *Event {
	const near = 200 // lines
	if first.Traceback != nil && !first.Traceback.Bare {
		return first
	}
	for _, e := range top {
		same := e.Page == first.Page && (e.key == first.key || first.rank() < 0 && first.Origin.Input == e.Origin.Input)
		if same && e.Traceback != nil && !e.Traceback.Bare && e.Line > first.Line && e.Line-first.last() < near {
			return e
		}
	}
	return first
}

// attachCalls gives a fatal signal the calls that Python's fault handler prints
// after it.
func (in *incident) attachCalls() {
	const near = 100 // lines
	var signal *Event
	in.events = slices.DeleteFunc(in.events, func(e *Event) bool {
		switch {
		case e.Traceback == nil:
			signal = nil
			if e.Strength == fatalSignal {
				signal = e
			}
		case signal != nil && e.key == signal.key && e.Page.ID == unknownID && e.Line-signal.Line < near:
			signal.Traceback = e.Traceback
			signal = nil
			return true
		}
		return false
	})
}

// mergeListed drops the copies that a launcher's report has of what a process
// printed itself, after taking the rank from them.
func (in *incident) mergeListed() {
	in.events = slices.DeleteFunc(in.events, func(e *Event) bool {
		if !e.Listed {
			return false
		}
		if e.Traceback == nil {
			return in.saidWhy(e)
		}
		for _, own := range in.events {
			if own.Listed || own.Traceback == nil || own.Page != e.Page || own.Text != e.Text {
				continue
			}
			if own.rank() < 0 {
				own.Origin.Rank, own.Origin.LocalRank, own.Origin.Host = e.Origin.Rank, e.Origin.LocalRank, e.Origin.Host
				return true
			}
			if own.rank() == e.rank() {
				return true
			}
		}
		return false
	})
}

// saidWhy reports whether the process that a launcher saw abort printed the C++
// exception that made it, which then has its rank. Of several of either kind
// nothing tells which belong together.
func (in *incident) saidWhy(aborted *Event) bool {
	if aborted.Page.ID != abortID {
		return false
	}
	var why *Event
	for _, e := range in.events {
		switch {
		case e == aborted || e.Page != aborted.Page:
		case e.Listed || why != nil || e.rank() >= 0:
			return false
		case e.Traceback != nil && e.Traceback.Native:
			why = e
		}
	}
	if why == nil {
		return false
	}
	why.Origin.Rank, why.Origin.LocalRank, why.Origin.Host = aborted.Origin.Rank, aborted.Origin.LocalRank, aborted.Origin.Host
	return true
}

// inferRanks finds the rank of an out-of-memory event without one from the
// device it names, where the launcher's report has a process of that number:
// launchers give each process the device of its local rank.
func (in *incident) inferRanks() {
	for _, e := range in.events {
		if e.rank() >= 0 || e.Fields["gpu"] == "" {
			continue
		}
		gpu := number(e.Fields["gpu"])
		var match *listedWorker
		several := false
		for i := range in.listed {
			w := &in.listed[i]
			if w.localRank == gpu {
				several = several || match != nil && match.rank != w.rank
				match = w
			}
		}
		if match != nil && !several && len(in.listed) > 1 {
			e.Origin.Rank, e.Origin.Host = match.rank, match.host
			e.rankInferred = true
		}
	}
}

// vote compares the launcher's choice with the diagnosis.
func (in *incident) vote(initiating *Initiating) (Evidence, bool) {
	for _, w := range in.listed {
		if !w.root || w.rank < 0 {
			continue
		}
		note := Evidence{Line: w.line, Input: in.inputName(w.input), Text: fmt.Sprintf("Root Cause (first observed failure): rank %d", w.rank)}
		switch {
		case initiating == nil:
			note.Why = "the launcher saw this rank end first; its own error is not in the text"
		case initiating.Rank == nil:
			note.Why = "the launcher's choice: the first process it saw end, by whole seconds; not proof of who failed first"
		case *initiating.Rank == w.rank:
			note.Why = "the launcher names the same rank"
		default:
			note.Why = fmt.Sprintf("overruled: the launcher names the first process it saw end, by whole seconds, but rank %d has the failure that explains the others", *initiating.Rank)
		}
		return note, true
	}
	return Evidence{}, false
}

// inputName is the name of an input where there are several.
func (in *incident) inputName(i int) string {
	if len(in.inputs) < 2 {
		return ""
	}
	return in.inputs[i].Name
}
