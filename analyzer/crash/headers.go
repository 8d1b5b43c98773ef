package crash

import (
	"regexp"
	"strings"
)

// How tracebacks begin.
var (
	// The header of a Ray task stands where Python writes its own.
	rayHeader = regexp.MustCompile(`\bray::[\w.<>]+(?:\(\))? \(pid=(\d+)`)
	// Distributed checkpoints report the failures of all ranks in one exception.
	rankHeader    = regexp.MustCompile(`^Traceback \(most recent call last\): \(RANK (\d+)\)`)
	ipythonHeader = regexp.MustCompile(`^([A-Za-z_][\w.]*)\s+Traceback \(most recent call last\)`)
	debugHeader   = regexp.MustCompile(`^Exception has occurred: ([A-Za-z_][\w.]*)`)
	faultHeader   = regexp.MustCompile(`^(?:Current thread|Thread) 0x[0-9a-fA-F]+.*\(most recent call first\)`)
	gdbHeader     = regexp.MustCompile(`^Traceback \(most recent call first\)`)
	spyHeader     = regexp.MustCompile(`^Thread (?:0x[0-9A-Fa-f]+|(\d+)) \((?:active|idle)(?:\+gil)?\)(?:: .*)?$`)
	ignoredHeader = regexp.MustCompile(`^Exception ignored in\b`)
	forwardHeader = regexp.MustCompile(`Traceback of forward call that (?:caused|induced) the (?:error|previous calculation)`)
	nativeHeader  = regexp.MustCompile(`^(?:terminate called after throwing an instance of '([\w:]+)'|libc\+\+abi: terminating (?:due to|with) uncaught exception of type ([\w:]+)(?:: (.*))?)$`)
	whatLine      = regexp.MustCompile(`^\s*what\(\):\s*(.*)$`)
	nativeFrame   = regexp.MustCompile(`^(?:Exception raised from .* at |C\+\+ CapturedTraceback:|frame #\d+: |#\d+ .* from \S+:\d+$)`)
)

// isNative reports whether text is one of the calls of C++ that messages end
// with.
func isNative(text string) bool {
	return (text[0] == 'E' || text[0] == 'C' || text[0] == 'f' || text[0] == '#') && nativeFrame.MatchString(text)
}

// coreLiterals are the strings without which no traceback begins.
var coreLiterals = []string{
	"Traceback", `File "`, `File \"`, "File “", "Exception has occurred: ", "(most recent call first)",
	"Cell In[", "Input In [", "<ipython-input-", "Error: ", "Exception: ", "Exception ignored in",
	"terminate called after", "libc++abi: terminating", "(active): ", "(active)", "(active+gil)", "(idle): ", ")<module>()", "): ray::", "│ ❱ ",
}

// mayBegin is the cheap part of the question whether text opens a traceback.
func mayBegin(text string) bool {
	if text == "" {
		return false
	}
	switch text[0] {
	case 'E', 'C', 'I', 'T', 't', 'l', '<':
		return true
	case ' ', '\t':
	default:
		if strings.Contains(text, ": ") {
			return true
		}
	}
	return strings.Contains(text, "File ") || strings.Contains(text, "Traceback") || strings.Contains(text, "ray::") || strings.Contains(text, ")<module>()") || strings.Contains(text, "❱")
}

// begin opens a traceback if l is the header of one, or the first line that is
// left of one.
func (p *tracebacks) begin(l Line) bool {
	text := l.Text
	if !mayBegin(text) {
		return false
	}
	next := &Traceback{First: l.No, Last: l.No, Origin: l.Origin}
	opened, named := standard, ""
	switch {
	case (p.cur != nil || p.done != nil) && quotesCode(strings.TrimSpace(text)):
		return false
	case text[0] == 'E' && ignoredHeader.MatchString(text):
		p.finish()
		p.flush()
		p.unseen = true
		return true
	case strings.Contains(text, "Traceback of forward call") && forwardHeader.MatchString(text):
		if isException(text) {
			p.feed(Line{No: l.No, Text: text[:strings.Index(text, "Traceback of forward call")], Origin: l.Origin})
		}
		p.finish()
		p.flush()
		p.take(next, standard, "")
		p.aside = true
		return true
	case p.cur != nil && strings.Contains(text, "Original "+headerText):
		next.Outer = p.cur
		p.cur = nil
	case p.done != nil && strings.Contains(text, "Original "+headerText):
		p.link, p.process = reportsOn, -1
	case strings.Contains(text, "Exception Group ") && groupHeader.MatchString(text):
		p.finish()
		p.group.open = true
	case strings.Contains(text, "(RANK ") && rankHeader.MatchString(text):
		next.Origin.Rank = number(rankHeader.FindStringSubmatch(text)[1])
		if p.state == inMessage && strings.HasSuffix(p.cur.Type, "CheckpointException") {
			next.Outer, p.cur = p.cur, nil
		} else {
			p.finish()
		}
	case strings.Contains(text, headerText):
		if m := ipythonHeader.FindStringSubmatch(strings.TrimSpace(text)); m != nil && exceptionName.MatchString(m[1]) {
			opened, named = ipython, m[1]
		} else if richHeader.MatchString(text) {
			opened = rich
		} else if p.state == inMessage && quotesHeader(text) {
			return false // a message that quotes a header
		}
		p.finish()
	case text[0] == 'E' && debugHeader.MatchString(text):
		p.finish()
		next.pasted = true
		p.take(next, standard, "")
		next.Type = debugHeader.FindStringSubmatch(text)[1]
		p.state = inMessage
		return true
	case strings.Contains(text, "(most recent call first)") && (faultHeader.MatchString(text) || gdbHeader.MatchString(text)):
		p.finish()
		next.Dump = true
	case text[0] == 'T' && spyHeader.MatchString(text):
		p.finish()
		next.Dump, opened = true, pySpy
		if id := number(spyHeader.FindStringSubmatch(text)[1]); id >= 0 {
			next.Origin.PID = id
		}
	case strings.Contains(text, "ray::") && rayHeader.MatchString(text):
		m := exceptionLine.FindStringSubmatch(strings.TrimSpace(text))
		if m != nil && p.state == outside {
			p.take(&Traceback{First: l.No, Last: l.No, Origin: l.Origin}, standard, "")
		}
		if m != nil && p.state == inFrames {
			p.raised(l, m)
		}
		if p.state == inMessage {
			next.Outer, p.cur = p.cur, nil
		} else {
			p.finish()
		}
		next.Origin.PID = number(rayHeader.FindStringSubmatch(text)[1])
	case (text[0] == 't' || text[0] == 'l') && nativeHeader.MatchString(text):
		p.finish()
		m := nativeHeader.FindStringSubmatch(text)
		next.Native, next.Bare = true, true
		p.take(next, standard, "")
		next.Type = m[1] + m[2]
		if m[3] != "" {
			next.Message = []Line{{No: l.No, Text: m[3], Origin: l.Origin}}
		}
		p.state = inMessage
		return true
	case p.state == outside:
		return p.beginWithoutHeader(l, next)
	default:
		return false
	}
	p.take(next, opened, named)
	return true
}

// beginWithoutHeader opens a traceback whose top is cut off, and those that
// have none.
func (p *tracebacks) beginWithoutHeader(l Line, next *Traceback) bool {
	text := l.Text
	switch {
	case isCall(text):
		next.Headless = true
		p.finish()
		p.take(next, standard, "")
		return p.frame(l)
	case cellFrame(text):
		next.Headless = true
		p.finish()
		p.take(next, ipython, "")
		return p.frame(l)
	case strings.Contains(text, ")<module>()") && debuggerFrame.MatchString(text):
		next.Headless = true
		p.finish()
		p.take(next, standard, "")
		return p.frame(l)
	case strings.Contains(text, "❱"):
		return p.richBegin(l, next)
	case pytestError(text):
		p.finish()
		p.take(next, pytest, "")
		p.pytestBegin(l)
		return true
	}
	if last := p.pytestLast(text); last != "" {
		l.Text = last
	}
	if !isException(l.Text) {
		return false
	}
	next.Bare = true
	p.finish()
	p.take(next, standard, "")
	p.raised(l, exceptionLine.FindStringSubmatch(strings.TrimSpace(l.Text)))
	return true
}

// quotesHeader reports whether a header stands within quotes: Python writes its
// own after nothing but space, a bar, or what a progress bar left on the line.
func quotesHeader(text string) bool {
	at := strings.Index(text, "Traceback")
	return strings.ContainsAny(text[:at], "'\"`")
}

// newestFirst reports whether the calls of t were printed innermost first.
func (t *Traceback) newestFirst() bool { return t.Dump || t.pasted }
