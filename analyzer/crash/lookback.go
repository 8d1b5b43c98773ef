package crash

import (
	"slices"
	"strings"
)

// stepOf is how far a stream has come. Often only one rank prints that.
func (s *inputState) stepOf(key string) Step {
	if step, ok := s.prog.latest[key]; ok {
		return step
	}
	step := s.prog.newest
	step.Borrowed = step.known()
	return step
}

// lookBack reads the steps of the output up to line end that it has not read
// yet.
func (s *inputState) lookBack(end int) {
	if s.prog.until == s.reader.line && s.dropped > 0 {
		return // very many events on one line
	}
	// A process that ran well is asked for its last steps only.
	brief := !slices.ContainsFunc(s.events, func(e *Event) bool { return e.Origin.Input == s.number })
	var lines []Line
	found, idle := 0, 0
	s.reader.history.tail(func(no int, text []byte) bool {
		if no < s.prog.until || len(lines) >= maxLookBack || brief && found > recentSteps && idle > idleLookBack {
			return false
		}
		if no > end {
			return true
		}
		line := s.earlier(no, text)
		lines = append(lines, line)
		if idle++; brief && found <= recentSteps && readStep(line.Text).known() {
			found++
			idle = 0
		}
		return true
	})
	for _, line := range slices.Backward(lines) {
		s.census.read(line)
		s.noteStep(line)
	}
	// What follows the event is looked at with the next one.
	until := s.reader.line
	if end < until {
		until = end + 1
	}
	s.prog.until = max(s.prog.until, until)
}

// Bounds on the lines that are looked back at: in all, and after enough steps.
const (
	maxLookBack  = 2000
	idleLookBack = 100
)

// noteStep records the step that a line of output tells.
func (s *inputState) noteStep(l Line) {
	step := readStep(l.Text)
	// The code and the messages of tracebacks mention steps too.
	if !step.known() || strings.HasPrefix(l.Text, "    ") || strings.Contains(l.Text, `File "`) || isException(l.Text) {
		return
	}
	step.Line, step.Text = l.No, l.Text
	s.prog.note(l.Origin.key(), step)
}
