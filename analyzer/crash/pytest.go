package crash

import (
	"regexp"
	"strings"
)

// pytest prints the exception after "E" in the margin, with the source before
// it, and the place of the innermost call last.
var (
	pytestMargin  = regexp.MustCompile(`^E {3,}(.*)$`)
	pytestCall    = regexp.MustCompile(`^(\S.*\.py):(\d+): (?:in (\S+))?$`)
	pytestPlace   = regexp.MustCompile(`^(\S.*\.py):(\d+): ([A-Za-z_][\w.]*)$`)
	pytestSummary = regexp.MustCompile(`^(?:FAILED|ERROR) \S+\.py\S* - (.*)$`)
	pytestTitle   = regexp.MustCompile(`^(?:_{3,} .+ _{3,}|={5,}.*)$`)
)

// maxTest bounds the lines of one test that are looked back at.
const maxTest = 400

// pytestError reports whether text is an exception in the margin.
func pytestError(text string) bool {
	m := pytestMargin.FindStringSubmatch(text)
	return m != nil && isException(m[1])
}

// pytestLast is the exception in a line of the summary at the end, empty if text
// is none. Where the tests' own output is there, it says nothing new.
func (p *tracebacks) pytestLast(text string) string {
	if m := pytestSummary.FindStringSubmatch(text); m != nil && !p.tests && isException(m[1]) {
		return m[1]
	}
	return ""
}

// pytestBegin opens the traceback of a test with the exception in l.
func (p *tracebacks) pytestBegin(l Line) {
	p.tests = true
	m := pytestMargin.FindStringSubmatch(l.Text)
	l.Text = m[1]
	p.raised(l, exceptionLine.FindStringSubmatch(strings.TrimSpace(l.Text)))
	if p.before == nil {
		return
	}
	var lines []Line
	p.before(func(earlier Line) bool {
		lines = append(lines, earlier)
		return len(lines) < maxTest && !pytestTitle.MatchString(earlier.Text)
	})
	current := "" // the source line of the call whose place follows
	t := p.cur
	for i := len(lines) - 1; i >= 0; i-- {
		text := lines[i].Text
		if lines[i].Origin.Quoted && !l.Origin.Quoted { // marked as the current one
			current = strings.TrimSpace(text)
		} else if m := pytestCall.FindStringSubmatch(text + " "); m != nil {
			t.addFrame(Frame{Path: m[1], Line: number(m[2]), Code: current, At: l.No})
			current = ""
		} else if m := pytestCall.FindStringSubmatch(text); m != nil {
			t.addFrame(Frame{Path: m[1], Line: number(m[2]), Func: m[3], At: l.No})
		} else if f := t.last(); f != nil && f.Func != "" && f.Code == "" && strings.HasPrefix(text, "    ") {
			f.Code = strings.TrimSpace(text)
		}
	}
	p.split = current
}

// pytestMessage reads a line after the exception.
func (p *tracebacks) pytestMessage(l Line) bool {
	t := p.cur
	if m := pytestMargin.FindStringSubmatch(l.Text); m != nil {
		if len(t.Message) < maxMessage {
			t.Message = append(t.Message, Line{No: l.No, Text: m[1], Origin: l.Origin})
		}
		t.Last = l.No
		return true
	}
	if strings.TrimSpace(l.Text) == "" {
		return true
	}
	if m := pytestPlace.FindStringSubmatch(l.Text); m != nil {
		if f := t.last(); f == nil || f.Path != m[1] || f.Line != number(m[2]) {
			t.addFrame(Frame{Path: m[1], Line: number(m[2]), Code: p.split, At: l.No})
		}
		p.finish()
		p.flush()
		return true
	}
	return p.stop(l)
}
