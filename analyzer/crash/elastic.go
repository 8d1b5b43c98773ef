package crash

import (
	"regexp"
	"strings"
)

// worker is what torchrun's closing report says about one process.
type worker struct {
	line      int
	root      bool // named as the root cause
	rank      int
	localRank int
	host      string
	time      string
	exitCode  int
	hasExit   bool
	pid       int
	note      string // instead of a traceback
}

// elastic reads the report that torchrun ends with: a rule, "Failures:" and
// "Root Cause (first observed failure):", and for each process its fields. With
// a record of the error the traceback of the worker is part of it.
type elastic struct {
	root    bool
	current *worker
	inTrace bool
	done    func(worker)
	// traceback gets the lines of a recorded traceback.
	traceback func(w worker, l Line)
}

var (
	elasticPart  = regexp.MustCompile(`^\s*(Failures|Root Cause \(first observed failure\)):`)
	elasticEntry = regexp.MustCompile(`^\s*\[(\d+)\]:`)
	elasticField = regexp.MustCompile(`\b(time|host|rank|exitcode|error_file|traceback)\s*:\s`)
	elasticEnd   = regexp.MustCompile(`^\s*={10,}\s*$`)
	elasticRule  = regexp.MustCompile(`^\s*-{10,}\s*$`)
	elasticRank  = regexp.MustCompile(`^(\d+) \(local_rank: (\d+)\)`)
	elasticExit  = regexp.MustCompile(`^(-?\d+) \(pid: (\d+)\)`)
)

// feed reads a line and reports whether it belongs to the report.
func (e *elastic) feed(l Line, open *bool) bool {
	text := l.Text
	if m := elasticPart.FindStringSubmatch(text); m != nil {
		e.finish()
		*open = true
		e.root = m[1] != "Failures"
		return true
	}
	switch {
	case !*open:
		return false
	case elasticEnd.MatchString(text):
		e.finish()
		*open = false
		return true
	case elasticRule.MatchString(text):
		e.finish()
		return true
	case strings.TrimSpace(text) == "<NO_OTHER_FAILURES>":
		return true
	}
	if m := elasticEntry.FindString(text); m != "" {
		e.finish()
		e.current = &worker{line: l.No, root: e.root, rank: -1, localRank: -1, pid: -1}
		text = text[len(m):]
	}
	if e.current == nil {
		return strings.TrimSpace(text) == ""
	}
	if e.inTrace {
		inside := text == "" || strings.HasPrefix(text, "  ")
		if inside {
			e.trace(l)
		} else {
			e.finish()
		}
		return inside
	}
	starts := elasticField.FindAllStringSubmatchIndex(text+" ", -1)
	if len(starts) == 0 && strings.TrimSpace(text) != "" {
		e.finish() // the report is cut off
		return false
	}
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		value := ""
		if s[1] < end {
			value = strings.TrimSpace(text[s[1]:end])
		}
		e.set(text[s[2]:s[3]], value, l)
		if e.inTrace {
			break
		}
	}
	return true
}

func (e *elastic) set(name, value string, l Line) {
	w := e.current
	switch name {
	case "time":
		w.time = value
	case "host":
		w.host = value
	case "rank":
		if m := elasticRank.FindStringSubmatch(value); m != nil {
			w.rank, w.localRank = number(m[1]), number(m[2])
		}
	case "exitcode":
		if m := elasticExit.FindStringSubmatch(value); m != nil {
			w.exitCode, w.hasExit = signed(m[1]), true
			w.pid = number(m[2])
		}
	case "traceback":
		if strings.Contains(value, headerText) {
			e.inTrace = true
			e.traceback(*w, Line{No: l.No, Text: value, Origin: l.Origin})
			return
		}
		w.note = value
	}
}

func signed(s string) int {
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		return -number(rest)
	}
	return number(s)
}

// trace passes on a line of a recorded traceback, which is indented by two.
func (e *elastic) trace(l Line) {
	l.Text = strings.TrimPrefix(l.Text, "  ")
	e.traceback(*e.current, l)
}

// finish ends the entry of a process.
func (e *elastic) finish() {
	if e.current != nil {
		e.done(*e.current)
	}
	e.current, e.inTrace = nil, false
}
