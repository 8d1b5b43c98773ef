package crash

import (
	"regexp"
	"strings"
)

// The library rich draws tracebacks in a box, with lines or in ASCII.
var (
	richHeader = regexp.MustCompile(`^\s*(?:╭|\+-|┌).*Traceback \(most recent call last\)`)
	richEnd    = regexp.MustCompile(`^\s*(?:╰|└|\+-{10})`)
	richCall   = regexp.MustCompile(`^(\S.*?):(\d+) in ?(\S+)?$`)
	richArrow  = regexp.MustCompile(`^[❱>]\s*(\d+)\s?(.*)$`)
	richInner  = regexp.MustCompile(`^(?:[╭╰│┌└]|\+-|\|)`)
)

// richFrame reads a line of the box. It reports whether the line is one, and
// whether the box is still open.
func (p *tracebacks) richFrame(l Line) (taken, open bool) {
	text := strings.TrimSpace(l.Text)
	if richEnd.MatchString(text) {
		return true, false
	}
	inside, ok := strings.CutPrefix(text, "│")
	if !ok {
		if inside, ok = strings.CutPrefix(text, "|"); !ok {
			return false, true
		}
	}
	inside = strings.TrimRight(strings.TrimRight(inside, "│|"), " ")
	inside = strings.TrimPrefix(inside, " ")
	t := p.cur
	t.Last = l.No
	wrapped := p.split
	p.split = ""
	switch m := richArrow.FindStringSubmatch(inside); {
	case inside == "" || richInner.MatchString(inside): // the box of local variables
	case m != nil:
		if f := t.last(); f != nil {
			f.Code = strings.TrimSpace(strings.TrimLeft(m[2], "│| "))
		}
	case inside[0] != ' ':
		for _, joined := range []string{inside, wrapped + inside, wrapped + " " + inside} {
			if m := richCall.FindStringSubmatch(joined); m != nil && m[3] != "" {
				t.addFrame(Frame{Path: m[1], Line: number(m[2]), Func: m[3], At: l.No})
				return true, true
			}
		}
		p.split = wrapped + inside
	}
	return true, true
}

// richBegin opens a traceback of rich whose top is cut off, at the first line of
// code that it points at. The call that this is in is a few lines above.
func (p *tracebacks) richBegin(l Line, next *Traceback) bool {
	const near = 12 // lines of code around the call
	if !strings.HasPrefix(strings.TrimSpace(l.Text), "│") || p.before == nil {
		return false
	}
	var call Line
	n := 0
	p.before(func(earlier Line) bool {
		inside, ok := strings.CutPrefix(strings.TrimSpace(earlier.Text), "│")
		if !ok {
			return false
		}
		if richCall.MatchString(strings.TrimSpace(strings.TrimRight(inside, "│ "))) {
			call = earlier
			return false
		}
		n++
		return n < near
	})
	if call.Text == "" {
		return false
	}
	next.First, next.Headless = call.No, true
	p.finish()
	p.take(next, rich, "")
	p.richFrame(call)
	p.richFrame(l)
	return true
}
