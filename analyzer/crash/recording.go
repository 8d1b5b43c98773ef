package crash

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
)

// lineEvent recognises a message that stands on one line by itself.
func (s *inputState) lineEvent(l Line, st *stream) bool {
	if isException(l.Text) {
		return false // the parser of tracebacks takes it with the lines that follow
	}
	scope, strength := InLine, math.MaxInt
	page, sig, fields := s.knowledge.recognise(l.Text, scope)
	if page == nil {
		m := toldException.FindStringSubmatch(l.Text)
		if m == nil {
			return false
		}
		scope, strength = InException, hearsay
		if page, sig, fields = s.knowledge.recognise("Exception: "+m[1], scope); page == nil {
			return false
		}
	}
	st.traces.close()
	s.knowledge.complete(page, l.Text, scope, fields)
	s.add(&Event{
		Page: page, Signature: sig, Strength: min(sig.Strength, strength), Role: sig.Role, Fields: fields, Origin: l.Origin, Line: l.No, Text: l.Text,
	}, st.key, l.No)
	return true
}

// toldException is how programs report the message of an exception that they
// caught, without its type.
var toldException = regexp.MustCompile(`^\W{0,8}(?i:(?:an )?(?:error|exception)[\w ]{0,40}|[\w ]{0,30}(?:failed|crashed)(?: with(?: error)?)?)\s?(?:!!!|:) (.+)$`)

// worker takes an entry of a launcher's report.
func (s *inputState) worker(w worker, key string) {
	if len(s.listed) < maxEvents {
		s.listed = append(s.listed, listedWorker{w, s.number})
	}
	page := s.knowledge.byExit[w.exitCode]
	if !w.hasExit || page == nil {
		return
	}
	origin := noOrigin(s.number)
	origin.Rank, origin.LocalRank, origin.Host, origin.Time, origin.PID = w.rank, w.localRank, w.host, w.time, w.pid
	s.add(&Event{
		Page: page, Strength: page.Strength, Role: page.Role, Fields: map[string]string{"exit_code": fmt.Sprint(w.exitCode), "pid": fmt.Sprint(w.pid)},
		Origin: origin, Line: w.line, Text: fmt.Sprintf("rank %d: exit code %d (pid %d)", w.rank, w.exitCode, w.pid),
		Listed: true, NamedRoot: w.root,
	}, key, w.line)
}

// add records an event, whose text starts at line first, with the step that its
// stream had reached. Of very many events the first and the last ones are kept.
func (s *inputState) add(e *Event, key string, first int) {
	s.lookBack(first)
	e.key = key
	if e.Origin.LocalRank < 0 && e.Fields["local_rank"] != "" {
		e.Origin.LocalRank = number(e.Fields["local_rank"])
	}
	if e.Origin.PID < 0 && e.Fields["pid"] != "" {
		e.Origin.PID = number(e.Fields["pid"])
	}
	if e.Origin.Rank < 0 && e.Fields["rank"] != "" {
		e.Origin.Rank = number(e.Fields["rank"])
	}
	if e.Origin.Host == "" {
		e.Origin.Host = e.Fields["host"]
	}
	e.Step = s.stepOf(key)
	if st := s.streams[key]; st != nil && e.Traceback != nil && st.beganAt > 0 && first >= st.beganAt {
		e.Step = st.began
	}
	if n := len(s.events); n > 0 && e.repeats(s.events[n-1]) {
		s.events[n-1].until = e.Line
		return
	}
	s.incident.order++
	e.order = s.incident.order
	if len(s.events) >= maxEvents {
		half := maxEvents / 2
		s.events = append(s.events[:half], s.events[half+1:]...)
		s.dropped++
	}
	s.events = append(s.events, e)
}

// compareEvents orders events by where they stand in the log.
func compareEvents(a, b *Event) int {
	return cmp.Or(cmp.Compare(a.Origin.Input, b.Origin.Input), cmp.Compare(a.Line, b.Line), cmp.Compare(a.order, b.order))
}
