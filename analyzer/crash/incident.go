package crash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Strengths that the attribution itself refers to.
const (
	confirmed    = 5 // what hardware, kernel or scheduler say
	ownException = 4 // what a program did itself
	fatalSignal  = 3
	reported     = 1 // what may only repeat another failure
)

// standing is what an incident's events mean together.
type standing struct {
	initiating   *Event
	simultaneous []*Event // as good as the initiating one, on other ranks
	collateral   []*Event
	recovered    []*Event
	notes        []Evidence
	processes    bool          // several processes took part
	gone         *listedWorker // the process that the initiating event only reports
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

	var candidates []*Event
	for _, e := range in.events {
		if step, ok := in.progress[e.Origin.Input].wentOn(e.key, e.last()); ok && !e.Listed {
			e.Recovered = &step
			s.recovered = append(s.recovered, e)
			continue
		}
		if in.strength(e) >= reported {
			candidates = append(candidates, e)
		}
	}
	slices.SortStableFunc(candidates, func(a, b *Event) int { return in.strength(b) - in.strength(a) })
	if len(candidates) > 0 {
		top := candidates[:1]
		for len(top) < len(candidates) && in.strength(candidates[len(top)]) == in.strength(candidates[0]) {
			top = candidates[:len(top)+1]
		}
		s.initiating, s.simultaneous = in.earliest(top)
	}
	for _, e := range in.events {
		if s.initiating != nil && e.Page == s.initiating.Page && e.key == s.initiating.key {
			continue // the same process says it again
		}
		if e != s.initiating && e.Recovered == nil && e.Page.ID != unknownID && e.Role != RoleAdvice {
			s.collateral = append(s.collateral, e)
		}
	}
	s.processes = len(in.listed) > 1 || len(in.inputs) > 1
	for _, e := range in.events {
		s.processes = s.processes || e.rank() > 0 || e.Page.Family == "distributed"
	}
	in.vote(&s)
	in.survivors(&s)
	return s
}

// strength is how well an event explains a failure by itself.
func (in *incident) strength(e *Event) int {
	switch {
	case in.forced[e.Origin.PID] && e.Strength == fatalSignal:
		return 0 // the launcher killed the process itself
	case e.Page.ID == pythonExceptionID && e.Traceback != nil && e.Traceback.Bare:
		return 2
	}
	return e.Strength
}

// earliest picks the first of events of equal strength. Within one input the
// order of lines counts, between inputs times of the same host do. If neither
// tells, the events are simultaneous as far as anyone can know.
func (in *incident) earliest(top []*Event) (first *Event, others []*Event) {
	first = top[0]
	for _, e := range top[1:] {
		if in.before(e, first) < 0 {
			first = e
		}
	}
	first = withTraceback(first, top)
	for _, e := range top {
		if e != first && e.rank() != first.rank() && in.before(first, e) == 0 {
			others = append(others, e)
		}
	}
	return first, others
}

// withTraceback prefers, to a line that a logger wrote about a failure, the
// traceback of the same failure that follows it.
func withTraceback(first *Event, top []*Event) *Event {
	const near = 200 // lines
	if first.Traceback != nil && !first.Traceback.Bare {
		return first
	}
	for _, e := range top {
		if e.Page == first.Page && e.key == first.key && e.Traceback != nil && !e.Traceback.Bare && e.Line > first.Line && e.Line-first.Line < near {
			return e
		}
	}
	return first
}

// before orders two events in time: negative if a came first, zero if nothing
// tells.
func (in *incident) before(a, b *Event) int {
	ta, oka := parseTime(a.Origin.Time)
	tb, okb := parseTime(b.Origin.Time)
	if oka && okb && ta.layout == tb.layout {
		apart := ta.at.Sub(tb.at)
		least := time.Duration(0)
		if a.Origin.Host != b.Origin.Host {
			least = 2 * time.Second // clocks of two machines
		}
		if apart.Abs() > least {
			return cmp.Compare(apart, 0)
		}
	}
	if a.Origin.Input == b.Origin.Input {
		return cmp.Compare(a.Line, b.Line)
	}
	return 0
}

type stamp struct {
	at     time.Time
	layout string
}

var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006/01/02 15:04:05.999999999", "2006-01-02_15:04:05", "0102 15:04:05.999999999", "102 15:04:05.999999999", "01-02 15:04:05",
	"Jan _2 15:04:05", "15:04:05.999999999",
}

func parseTime(s string) (stamp, bool) {
	if s == "" {
		return stamp{}, false
	}
	s = strings.Replace(s, ",", ".", 1)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return stamp{t, layout}, true
		}
	}
	return stamp{}, false
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

// vote compares the launcher's choice with the event found.
func (in *incident) vote(s *standing) {
	for _, w := range in.listed {
		if !w.root || w.rank < 0 {
			continue
		}
		note := Evidence{Line: w.line, Input: in.inputName(w.input), Text: fmt.Sprintf("Root Cause (first observed failure): rank %d", w.rank)}
		switch {
		case s.initiating == nil:
			note.Why = "the launcher saw this rank end first; its own error is not in the text"
		case s.initiating.rank() < 0:
			note.Why = "the launcher's choice: the first process it saw end, by whole seconds; not proof of who failed first"
		case s.initiating.rank() == w.rank:
			note.Why = "the launcher names the same rank"
		default:
			note.Why = fmt.Sprintf("overruled: the launcher names the first process it saw end, by whole seconds, but rank %d has the failure that explains the others", s.initiating.rank())
		}
		s.notes = append(s.notes, note)
		return
	}
}

// survivors finds the process that the others lost, where they only say that
// they lost one: the only one that ended with a code of its own.
func (in *incident) survivors(s *standing) {
	if s.initiating == nil || in.strength(s.initiating) > reported {
		return
	}
	var gone *listedWorker
	for i := range in.listed {
		w := &in.listed[i]
		if !w.hasExit || w.exitCode == 0 || w.exitCode == 1 || in.knowledge.byExit[w.exitCode] != nil {
			continue
		}
		if gone != nil && gone.rank != w.rank {
			return
		}
		gone = w
	}
	if gone != nil {
		s.gone = gone
		s.notes = append(s.notes, Evidence{
			Line: gone.line, Input: in.inputName(gone.input), Text: fmt.Sprintf("rank %d: exit code %d", gone.rank, gone.exitCode),
			Why: "the only process that ended with a code of its own; the others report that they lost a connection",
		})
	}
}

// inputName is the name of an input where there are several.
func (in *incident) inputName(i int) string {
	if len(in.inputs) < 2 {
		return ""
	}
	return in.inputs[i].Name
}

func rankOf(e *Event) *int {
	if r := e.rank(); r >= 0 {
		return &r
	}
	return nil
}
