package crash

import (
	"regexp"
	"strings"
)

// IPython and notebooks show each call with the source around it.
var (
	ipythonFile = regexp.MustCompile(`^File (\S.*?|<[\w -]+>):(\d+)(?:, in (.+?)(?:\(.*)?)?$`)
	ipythonCell = regexp.MustCompile(`^((?:Cell )?In ?\[\d+\]|Input In ?\[\d+\])(?:, line (\d+))?(?:, in (.+?)(?:\(.*)?)?$`)
	ipythonPath = regexp.MustCompile(`^(\S.*?(?:\.py|>)) in (<cell line: \d+>|[\w.<>]+)(?:\(.*\))?$`)

	ipythonArrow = regexp.MustCompile(`^-+> ?(\d+)\s?(.*)$`)
	ipythonCode  = regexp.MustCompile(`^\s*(?:\d+(?:\s|$)|\(\.\.\.\)$)`)
)

// cellFrame reports whether text is a call in a cell of a notebook.
func cellFrame(text string) bool {
	return (strings.HasPrefix(text, "Cell In") || strings.HasPrefix(text, "Input In") || strings.HasPrefix(text, "<ipython-input-")) &&
		(ipythonCell.MatchString(text) || ipythonPath.MatchString(text))
}

// ipythonCall reads a line that names a call.
func ipythonCall(text string) (Frame, bool) {
	if m := ipythonFile.FindStringSubmatch(text); m != nil {
		return Frame{Path: m[1], Line: number(m[2]), Func: ipythonFunc(m[3])}, true
	}
	if m := ipythonCell.FindStringSubmatch(text); m != nil {
		return Frame{Path: m[1], Line: number(m[2]), Func: ipythonFunc(m[3])}, true
	}
	if m := ipythonPath.FindStringSubmatch(text); m != nil {
		return Frame{Path: m[1], Func: ipythonFunc(m[2])}, true
	}
	return Frame{}, false
}

// ipythonFunc is the name of a function, which for the top of a cell is not
// one.
func ipythonFunc(name string) string {
	if name == "" || strings.HasPrefix(name, "<cell line") {
		return "<module>"
	}
	return name
}

// ipythonLine reads what IPython writes between header and exception.
func (p *tracebacks) ipythonLine(l Line) bool {
	t, text := p.cur, l.Text
	if m := ipythonArrow.FindStringSubmatch(text); m != nil {
		if f := t.last(); f != nil {
			if f.Line <= 0 {
				f.Line = number(m[1])
			}
			f.Code = strings.TrimSpace(m[2])
		}
		t.Last = l.No
		return true
	}
	if m := exceptionLine.FindStringSubmatch(text); m != nil && (m[1] == p.named || strings.HasSuffix(m[1], "."+p.named)) {
		return false
	}
	if f, ok := ipythonCall(text); ok {
		f.At = l.No
		t.addFrame(f)
		return true
	}
	return ipythonCode.MatchString(text) || strings.Trim(text, "- ") == "" && text != ""
}
