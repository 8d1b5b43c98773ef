package crash

import (
	"regexp"
	"strings"
)

// What calls look like in the dialects that Python itself and debuggers write.
var (
	fileFrame = regexp.MustCompile(`^(\s*)(?:> )?File ["“]([^"“”]+)["”], line (\d+)(?:,? ?in ?(.*))?$`)
	// A call whose line was wrapped, and what is left of its second part where
	// the first one could be read by itself.
	cutFrame  = regexp.MustCompile(`^\s*File(?: ["“][^"“”]*(?:["”](?:,(?: l(?:i(?:n(?:e ?)?)?)?)?)?)?)?$`)
	restFrame = regexp.MustCompile(`^(\d*),? ?in (\S.*)$`)
	// The calls of pdb: "> /app/train.py(31)main()", then "-> loss.backward()".
	debuggerFrame = regexp.MustCompile(`^(?:> )?(\S.*)\((\d+)\)([\w<>]+)\(.*\)$`)
	spyFrame      = regexp.MustCompile(`^\s+(\S.*) \(([^()]+?)(?::(\d+))?\)$`)

	caretLine = regexp.MustCompile(`^\s*[~^][~^ ]*$`)
	elision   = regexp.MustCompile(`^\s*(?:\[Previous line repeated \d+ more times?\]|\.\.\.<\d+ lines?>\.\.\.|\.\.\.|<no Python frame>)$`)
	// Values of variables that some libraries draw below the source line.
	annotation = regexp.MustCompile(`^\s*(?:[│├└][│├└ ]*|\.{10,}$)`)
	// Source lines with their numbers, the current one marked.
	numbered = regexp.MustCompile(`^\s*(-+>|❱|>)?\s*(\d+)(?:[ |│]\s*(.*))?$`)
	// Ray tells how often it left out a line of other workers.
	repeated = regexp.MustCompile(` \[repeated \d+x across cluster\](?: \(.*\))?$`)
	// What comes between a message and calls of code that Python does not see.
	quotedCode = regexp.MustCompile(`^(?:from user code:?|Traceback of TorchScript, .*\(most recent call last\):?)$`)
)

// isCall reports whether text is a call as Python writes it.
func isCall(text string) bool { return strings.Contains(text, "File ") && fileFrame.MatchString(text) }

// isDecoration reports whether text only marks or shortens what is around it.
func isDecoration(text string) bool {
	switch first := strings.TrimLeft(text, " \t"); first[0] {
	case '~', '^':
		return caretLine.MatchString(text)
	case '[', '.', '<':
		return elision.MatchString(text) || annotation.MatchString(text)
	case boxByte:
		return annotation.MatchString(text)
	}
	return false
}

// boxByte starts the encoding of characters that draw boxes.
const boxByte = 0xe2

// quotesCode reports whether calls of other code follow on text.
func quotesCode(text string) bool {
	return (strings.HasPrefix(text, "from user code") || strings.HasPrefix(text, "Traceback of TorchScript")) && quotedCode.MatchString(text)
}

// frame reads a line in the list of calls.
func (p *tracebacks) frame(l Line) bool {
	t := p.cur
	text := l.Text
	if strings.Contains(text, "[repeated ") {
		text = repeated.ReplaceAllString(text, "")
		l.Text = text
	}
	if p.style == rich {
		if taken, open := p.richFrame(l); taken {
			if !open {
				p.style = standard
			}
			return true
		}
	}
	if p.call(l) {
		p.blank, p.stray = 0, 0
		return true
	}
	if p.style == ipython && p.ipythonLine(l) {
		p.blank = 0
		return true
	}
	if strings.TrimSpace(text) == "" {
		p.blank++
		if t.Dump && len(t.Frames) > 0 || p.blank > patience {
			return p.stop(l)
		}
		return true
	}
	if isDecoration(text) {
		t.Last = l.No
		return true
	}
	if p.exception(l) {
		return true
	}
	if p.code(l) {
		t.Last = l.No
		p.blank = 0
		return true
	}
	return p.strange(l)
}

// call reads a line that names a call.
func (p *tracebacks) call(l Line) bool {
	t, text := p.cur, l.Text
	if p.split != "" {
		for _, space := range []string{"", " "} {
			if m := fileFrame.FindStringSubmatch(p.split + space + strings.TrimSpace(text)); m != nil {
				p.split = ""
				t.addFrame(Frame{Path: m[2], Line: number(m[3]), Func: m[4], At: l.No})
				return true
			}
		}
		p.split = ""
	}
	if strings.Contains(text, "File ") {
		if m := fileFrame.FindStringSubmatch(text); m != nil {
			t.addFrame(Frame{Path: m[2], Line: number(m[3]), Func: m[4], At: l.No})
			return true
		}
	}
	if f := t.last(); f != nil && f.Func == "" && f.Code == "" && f.At == l.No-1 {
		if m := restFrame.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
			for _, digit := range m[1] {
				f.Line = f.Line*10 + int(digit-'0')
			}
			f.Func = m[2]
			t.Last = l.No
			return true
		}
	}
	if strings.Contains(text, "File") && cutFrame.MatchString(text) {
		p.split = strings.TrimSpace(text)
		t.Last = l.No
		return true
	}
	if p.style == pySpy {
		if m := spyFrame.FindStringSubmatch(text); m != nil {
			t.addFrame(Frame{Path: m[2], Line: max(0, number(m[3])), Func: m[1], At: l.No})
			return true
		}
	}
	if p.style == standard && strings.Contains(text, ".py(") {
		if m := debuggerFrame.FindStringSubmatch(text); m != nil {
			t.addFrame(Frame{Path: m[1], Line: number(m[2]), Func: m[3], At: l.No})
			return true
		}
	}
	if code, ok := strings.CutPrefix(text, "-> "); ok {
		if f := t.last(); f != nil && f.Code == "" {
			f.Code = strings.TrimSpace(code)
			t.Last = l.No
			return true
		}
	}
	return false
}

// exception reads the line that ends the calls.
func (p *tracebacks) exception(l Line) bool {
	t := p.cur
	if t.newestFirst() {
		return false
	}
	m := exceptionLine.FindStringSubmatch(strings.TrimSpace(l.Text))
	if m == nil {
		return false
	}
	indented := l.Text[0] == ' ' || l.Text[0] == '\t'
	if exceptionName.MatchString(m[1]) || m[1] == p.named || !indented && p.awaitsException() {
		p.raised(l, m)
		return true
	}
	return false
}

// awaitsException reports whether a class name at the start of a line can be
// the exception: the last call has its source line.
func (p *tracebacks) awaitsException() bool {
	f := p.cur.last()
	return f != nil && f.Code != ""
}

// code reads the source line of the last call, or more of the statement.
func (p *tracebacks) code(l Line) bool {
	t, f, text := p.cur, p.cur.last(), l.Text
	indented := text[0] == ' ' || text[0] == '\t'
	if f == nil {
		// What is between the header and the first call, such as the box that
		// some draw.
		return l.No <= t.First+2 && (p.style != standard || indented)
	}
	if l.recordAfter(t) || t.Dump && !indented {
		return false
	}
	if first := strings.TrimLeft(text, " \t")[0]; isDigit(first) || first == '-' || first == '>' || first == boxByte {
		if m := numbered.FindStringSubmatch(text); m != nil && near(number(m[2]), f.Line) {
			if number(m[2]) == f.Line && (f.Code == "" || m[1] != "") {
				f.Code = strings.TrimSpace(strings.TrimLeft(m[3], "│ "))
			}
			return true
		}
	}
	adjacent := l.No <= t.Last+1+p.blank
	switch {
	case f.Code == "" && (indented || adjacent) && !isProgress(text):
		f.Code = strings.TrimSpace(text)
		return true
	case indented && p.blank == 0:
		return true // further lines of the same statement
	}
	return false
}

// near reports whether a line number can be of the source around a call.
func near(n, line int) bool {
	const context = 12
	return n >= 0 && n-line <= context && line-n <= context
}

// strange is a line within the calls that is none: other processes and threads
// write at the same time. A few of them are let pass.
func (p *tracebacks) strange(l Line) bool {
	p.stray++
	if len(p.cur.Frames) == 0 || p.stray > tolerance || p.cur.newestFirst() || p.blank > 0 && !isProgress(l.Text) || isForeign(l.Text) {
		return p.stop(l)
	}
	return false
}

// quote reads, after a message, the calls of code that a compiler runs.
func (p *tracebacks) quote(l Line) bool {
	t, text := p.cur, l.Text
	trimmed := strings.TrimSpace(text)
	if m := fileFrame.FindStringSubmatch(text); m != nil {
		// TorchScript shows its own translation before the source.
		if p.mute = strings.HasPrefix(m[2], "code/"); p.mute {
			t.Last = l.No
			return true
		}
		t.addFrame(Frame{Path: m[2], Line: number(m[3]), Func: m[4], At: l.No})
		p.blank = 0
		return true
	}
	f := t.last()
	switch {
	case trimmed == "":
		p.blank++
		if p.blank > patience {
			return p.stop(l)
		}
		return true
	case strings.HasSuffix(trimmed, "<--- HERE"):
		return true // below the source line that the last one was
	case isException(trimmed) && text[0] != ' ':
		p.raised(l, exceptionLine.FindStringSubmatch(trimmed))
		return true
	case text[0] == ' ':
		// Of several lines the one before the mark counts, which is the last.
		if f != nil && !p.mute {
			f.Code = trimmed
		}
		t.Last = l.No
		return true
	}
	return p.stop(l)
}
