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
