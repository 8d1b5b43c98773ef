package crash

import (
	"regexp"
	"strings"
)

// A Line is one cleaned line of a stream, its prefixes taken off.
type Line struct {
	No     int
	Text   string
	Origin Origin
}

// Frame is one call of a traceback.
type Frame struct {
	Path string
	Line int
	Func string // empty where the traceback names none
	Code string // the source line, if shown
	At   int    // line of the log
}

// Traceback is one Python exception with the calls that led to it, outermost
// first.
type Traceback struct {
	First, Last int // lines of the log
	Origin      Origin
	Frames      []Frame
	Type        string // of the exception, with its module; empty if cut off
	Message     []Line // the message; the first line follows the type

	// Cause is the exception that was being handled, or was named as the cause,
	// when this one was raised.
	Cause *Traceback
	// Outer is the exception that only reports this one: a DataLoader repeats
	// its worker's traceback, mp.spawn and Ray those of their processes.
	Outer *Traceback
	// Headless says that the top was cut off.
	Headless bool
	// Bare says that there is only the exception line.
	Bare bool
}

// innermost is the last frame that want accepts.
func (t *Traceback) innermost(want func(Frame) bool) (Frame, bool) {
	for i := len(t.Frames) - 1; i >= 0; i-- {
		if want(t.Frames[i]) {
			return t.Frames[i], true
		}
	}
	return Frame{}, false
}

// exceptions lists t and what led to it, the first exception first.
func (t *Traceback) exceptions() []*Traceback {
	var list []*Traceback
	seen := 0
	for e := t; e != nil && seen < maxChain; e, seen = e.Cause, seen+1 {
		list = append([]*Traceback{e}, list...)
	}
	return list
}

// text is the exception as one line: type, colon, message.
func (t *Traceback) text() string {
	var b strings.Builder
	b.WriteString(t.Type)
	for i, l := range t.Message {
		switch {
		case i > 0:
			b.WriteByte(' ')
		case l.Text != "":
			b.WriteString(": ")
		}
		b.WriteString(strings.TrimSpace(l.Text))
	}
	return b.String()
}

// Bounds of one traceback. Frames in the middle of a deep one are dropped.
const (
	maxFrames  = 200
	maxMessage = 60
	maxChain   = 20
)

// style is the dialect a traceback is written in.
type style int

const (
	standard style = iota
	ipython
	rich
	newestFirst // faulthandler and debuggers print the innermost call first
)

var (
	header = regexp.MustCompile(`Traceback \(most recent call last\)`)
	// The header of a Ray task stands where Python writes its own.
	rayHeader     = regexp.MustCompile(`\bray::[\w.<>]+(?:\(\))? \(pid=(\d+)`)
	ipythonHeader = regexp.MustCompile(`^([A-Za-z_][\w.]*)\s{2,}Traceback \(most recent call last\)`)
	debugHeader   = regexp.MustCompile(`^Exception has occurred: ([A-Za-z_][\w.]*)`)
	faultHeader   = regexp.MustCompile(`^(?:Current thread|Thread) 0x[0-9a-fA-F]+.*\(most recent call first\)`)

	fileFrame    = regexp.MustCompile(`^(\s*)File "([^"]+)", line (\d+)(?:,? in (.+))?$`)
	ipythonFrame = regexp.MustCompile(`^(?:File (\S.*?):(\d+), in (.+?)(?:\(.*)?|(Cell In\[\d+\]|Input In \[\d+\]), (?:line (\d+)|in (.+))|(\S.*?(?:\.py|>)) in ([\w.<>]+)(?:\(.*\))?)$`)
	ipythonArrow = regexp.MustCompile(`^-+> ?(\d+)\s?(.*)$`)
	ipythonCode  = regexp.MustCompile(`^\s*\d+(?:\s|$)`)
	richFrame    = regexp.MustCompile(`^\s*(\S.*?):(\d+) in (\S+)\s*$`)
	richArrow    = regexp.MustCompile(`^\s*❱\s*\d+\s?(.*)$`)
	caretLine    = regexp.MustCompile(`^\s*[~^][~^ ]*$`)
	elision      = regexp.MustCompile(`^\s*(?:\[Previous line repeated \d+ more times?\]|\.\.\.<\d+ lines?>\.\.\.)$`)

	// An exception line: a dotted name that looks like a class, then a colon
	// and the message or nothing.
	exceptionLine = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*|_[A-Z]\w*|error|timeout))(?:\([A-Z]\w*\))?(?::(?: (.*))?|)$`)
	exceptionName = regexp.MustCompile(`(?:Error|Exception|Warning|Interrupt|Exit|Failure|Timeout|Iteration)$|^(?:[a-z_]\w*\.)+[A-Z]\w*$|^socket\.(?:error|timeout)$`)

	duringHandling = regexp.MustCompile(`^\s*During handling of the above exception, another exception occurred:`)
	directCause    = regexp.MustCompile(`^\s*The above exception was the direct cause of the following exception:`)
	spawnedProcess = regexp.MustCompile(`^-- Process (\d+) terminated with the following error:`)
	originalTrace  = regexp.MustCompile(`Original Traceback \(most recent call last\)`)

	groupHeader = regexp.MustCompile(`^\s*[+|] Exception Group Traceback \(most recent call last\)|^\s*\+ Exception Group Traceback`)
	groupBar    = regexp.MustCompile(`^\s*(?:\| ?)+`)
	groupPart   = regexp.MustCompile(`- (?:\d+|\.\.\.) -`)
	groupRule   = regexp.MustCompile(`^\s*(?:\| )*\s*\+-[+-]*(?: (?:\d+|\.\.\.) )?-*$`)
)

// coreLiterals are the strings without which no traceback begins.
var coreLiterals = []string{
	"Traceback (most recent call", `File "`, "Exception has occurred: ", "(most recent call first)",
	"Cell In[", "Input In [", "<ipython-input-", "Error: ", "Exception: ",
}

// tracebacks reassembles the tracebacks of one stream.
type tracebacks struct {
	emit func(*Traceback) // called once for each chain, with its last exception

	cur   *Traceback
	state state
	style style
	group bool
	named string // type of the exception, if the header told

	within  *Traceback // the exception group that the next tracebacks are part of
	done    *Traceback // complete, but a chain may follow
	blank   int        // empty lines since done
	link    link       // how the next traceback belongs to done
	process int        // rank that mp.spawn named, or -1
}

type state int

const (
	outside state = iota
	inFrames
	inMessage
)

type link int

const (
	unlinked  link = iota
	follows        // done is the cause of the next one
	reportsOn      // done reports the next one
)

// active reports whether the next line may belong to a traceback.
func (p *tracebacks) active() bool { return p.cur != nil || p.done != nil || p.group }

// close ends what is open, at the end of the log.
func (p *tracebacks) close() {
	p.finish()
	p.flush()
	p.group = false
}

// flush emits the finished chain.
func (p *tracebacks) flush() {
	if p.done != nil {
		t := p.done
		p.done, p.link = nil, unlinked
		p.emit(t)
	}
}

// finish ends the open traceback.
func (p *tracebacks) finish() {
	t := p.cur
	if t == nil {
		return
	}
	p.cur, p.state = nil, outside
	if p.style == newestFirst {
		for i, j := 0, len(t.Frames)-1; i < j; i, j = i+1, j-1 {
			t.Frames[i], t.Frames[j] = t.Frames[j], t.Frames[i]
		}
	}
	for n := len(t.Message); n > 1 && t.Message[n-1].Text == ""; n-- {
		t.Message = t.Message[:n-1]
	}
	if len(t.Frames) == 0 && t.Type == "" {
		return
	}
	p.flush()
	p.done, p.blank = t, 0
}

// feed gives the parser the next line of its stream and reports whether the
// line belongs to a traceback.
func (p *tracebacks) feed(l Line) bool {
	if pieces := splitLost(l); pieces != nil {
		for _, piece := range pieces {
			p.feedOne(piece)
		}
		return true
	}
	return p.feedOne(l)
}

func (p *tracebacks) feedOne(l Line) bool {
	if p.group {
		switch {
		case groupRule.MatchString(l.Text):
			p.finish()
			if p.done != nil && strings.HasSuffix(p.done.Type, "ExceptionGroup") {
				p.within, p.done = p.done, nil
			}
			p.flush()
			p.group = groupPart.MatchString(l.Text)
			return true
		case groupBar.MatchString(l.Text):
			l.Text = groupBar.ReplaceAllString(l.Text, "")
		}
	}
	if p.begin(l) {
		return true
	}
	switch p.state {
	case inFrames:
		return p.frame(l)
	case inMessage:
		return p.message(l)
	}
	if p.done != nil {
		return p.between(l)
	}
	return false
}

// begin opens a traceback if l is the header of one.
func (p *tracebacks) begin(l Line) bool {
	if !mayBegin(l.Text) {
		return false
	}
	next := &Traceback{First: l.No, Last: l.No, Origin: l.Origin}
	opened, named := standard, ""
	switch {
	case originalTrace.MatchString(l.Text) && p.cur != nil:
		next.Outer = p.cur
		p.cur = nil
	case groupHeader.MatchString(l.Text):
		p.finish()
		p.group = true
	case strings.Contains(l.Text, "Traceback (most recent call last)"):
		if m := ipythonHeader.FindStringSubmatch(strings.TrimSpace(l.Text)); m != nil {
			opened, named = ipython, m[1]
		} else if strings.ContainsAny(l.Text, "╭─") {
			opened = rich
		} else if p.state == inMessage && !p.ownHeader(l.Text) {
			return false // a message that quotes a header
		}
		p.finish()
	case debugHeader.MatchString(l.Text):
		p.finish()
		opened, named = newestFirst, debugHeader.FindStringSubmatch(l.Text)[1]
	case faultHeader.MatchString(l.Text):
		p.finish()
		opened = newestFirst
	case rayHeader.MatchString(l.Text):
		if m := exceptionLine.FindStringSubmatch(strings.TrimSpace(l.Text)); m != nil && p.state == inFrames {
			p.raised(l, m)
		}
		if p.state == inMessage {
			next.Outer, p.cur = p.cur, nil
		} else {
			p.finish()
		}
		next.Origin.PID = number(rayHeader.FindStringSubmatch(l.Text)[1])
	case p.state == outside && fileFrame.MatchString(l.Text):
		next.Headless = true
		p.finish()
		p.take(next, opened, named)
		return p.frame(l)
	case p.state == outside && isException(l.Text):
		next.Bare = true
		p.finish()
		p.take(next, opened, named)
		p.raised(l, exceptionLine.FindStringSubmatch(strings.TrimSpace(l.Text)))
		return true
	default:
		return false
	}
	p.take(next, opened, named)
	return true
}

// mayBegin is the cheap part of the question whether text opens a traceback.
func mayBegin(text string) bool {
	return strings.Contains(text, `File "`) || strings.Contains(text, "Traceback") || strings.Contains(text, "ray::") ||
		strings.Contains(text, "most recent call first") || strings.HasPrefix(text, "Exception has occurred: ") ||
		text != "" && text[0] > ' ' && strings.Contains(text, ": ")
}

// ownHeader reports whether a header stands where Python writes one: after
// nothing but space, a bar, or what a progress bar left on the line.
func (p *tracebacks) ownHeader(text string) bool {
	at := strings.Index(text, "Traceback")
	return !strings.ContainsAny(text[:at], "'\"`")
}

// take makes next the open traceback and links it to the one before.
func (p *tracebacks) take(next *Traceback, s style, named string) {
	if p.done != nil {
		switch p.link {
		case follows:
			next.Cause, p.done = p.done, nil
		case reportsOn:
			next.Outer, p.done = p.done, nil
			if next.Origin.Rank < 0 {
				next.Origin.Rank = p.process
			}
		default:
			p.flush()
		}
		p.link = unlinked
	}
	if p.group && p.within != nil && next.Outer == nil && next.Cause == nil {
		next.Outer = p.within
	}
	p.cur, p.state, p.style, p.named = next, inFrames, s, named
	if s == newestFirst && named != "" {
		next.Type = named
		p.state = inMessage
	}
}

// frame reads a line in the list of calls.
func (p *tracebacks) frame(l Line) bool {
	t := p.cur
	text := l.Text
	if p.style == rich {
		trimmed := strings.TrimSpace(text)
		if strings.HasPrefix(trimmed, "╰") {
			p.style = standard
			return true
		}
		if strings.HasPrefix(trimmed, "│") {
			p.richLine(l, strings.TrimSpace(strings.Trim(trimmed, "│")))
			return true
		}
	}
	if m := fileFrame.FindStringSubmatch(text); m != nil {
		p.addFrame(Frame{Path: m[2], Line: number(m[3]), Func: m[4], At: l.No})
		t.Last = l.No
		return true
	}
	if p.style == ipython {
		if p.ipythonLine(l) {
			return true
		}
	}
	if strings.TrimSpace(text) == "" {
		if p.style == ipython || p.style == rich || len(t.Frames) == 0 {
			return true
		}
		if p.style == newestFirst {
			p.finish()
			return true
		}
		return p.stop(l)
	}
	if caretLine.MatchString(text) || elision.MatchString(text) {
		t.Last = l.No
		return true
	}
	indented := text[0] == ' ' || text[0] == '\t'
	m := exceptionLine.FindStringSubmatch(strings.TrimSpace(text))
	likely := m != nil && (exceptionName.MatchString(m[1]) || m[1] == p.named)
	switch {
	case m != nil && (likely || !indented && p.awaitsException()) && p.style != newestFirst:
		p.raised(l, m)
		return true
	case len(t.Frames) > 0 && t.Frames[len(t.Frames)-1].Code == "" && (indented || l.No <= t.Last+1) && !l.recordAfter(t):
		t.Frames[len(t.Frames)-1].Code = strings.TrimSpace(text)
		t.Last = l.No
		return true
	case indented && len(t.Frames) > 0 && !l.recordAfter(t):
		t.Last = l.No // further lines of the same statement
		return true
	case len(t.Frames) == 0 && l.No <= t.First+2 && (p.style != standard || indented):
		return true
	}
	return p.stop(l)
}

// raised takes the exception line, m being its match.
func (p *tracebacks) raised(l Line, m []string) {
	t := p.cur
	t.Type, t.Last = m[1], l.No
	t.Message = append(t.Message, Line{No: l.No, Text: m[2], Origin: l.Origin})
	p.state = inMessage
}

// isException reports whether a line by itself is surely an exception with its
// message, as people paste it.
func isException(text string) bool {
	m := exceptionLine.FindStringSubmatch(text)
	return m != nil && m[2] != "" && exceptionName.MatchString(m[1]) && !strings.HasSuffix(m[1], "Warning")
}

// recordAfter reports whether a logger began a new record with l although the
// traceback itself is not written through a logger.
func (l Line) recordAfter(t *Traceback) bool { return l.Origin.Stamped && !t.Origin.Stamped }

// stop ends a traceback whose exception line is not to be seen, and looks at l
// again as what it is outside of one.
func (p *tracebacks) stop(l Line) bool {
	p.finish()
	if p.done != nil {
		return p.between(l)
	}
	return false
}

// awaitsException reports whether a class name at the start of a line can be
// the exception: the last call has its source line, or never gets one.
func (p *tracebacks) awaitsException() bool {
	n := len(p.cur.Frames)
	return n > 0 && p.cur.Frames[n-1].Code != ""
}

func (p *tracebacks) addFrame(f Frame) {
	t := p.cur
	if len(t.Frames) >= maxFrames {
		// The outermost and the innermost calls tell most.
		half := maxFrames / 2
		t.Frames = append(t.Frames[:half], t.Frames[half+1:]...)
	}
	t.Frames = append(t.Frames, f)
}

// richLine reads a line within the box that rich draws.
func (p *tracebacks) richLine(l Line, text string) {
	t := p.cur
	t.Last = l.No
	if m := richFrame.FindStringSubmatch(text); m != nil {
		p.addFrame(Frame{Path: m[1], Line: number(m[2]), Func: m[3], At: l.No})
	} else if m := richArrow.FindStringSubmatch(text); m != nil && len(t.Frames) > 0 {
		t.Frames[len(t.Frames)-1].Code = strings.TrimSpace(m[1])
	}
}

// ipythonLine reads what IPython writes between header and exception.
func (p *tracebacks) ipythonLine(l Line) bool {
	t, text := p.cur, l.Text
	if m := ipythonArrow.FindStringSubmatch(text); m != nil {
		if n := len(t.Frames); n > 0 {
			if t.Frames[n-1].Line <= 0 {
				t.Frames[n-1].Line = number(m[1])
			}
			t.Frames[n-1].Code = strings.TrimSpace(m[2])
		}
		t.Last = l.No
		return true
	}
	if m := exceptionLine.FindStringSubmatch(text); m != nil && (m[1] == p.named || strings.HasSuffix(m[1], "."+p.named)) {
		return false
	}
	if m := ipythonFrame.FindStringSubmatch(text); m != nil {
		f := Frame{At: l.No}
		switch {
		case m[1] != "":
			f.Path, f.Line, f.Func = m[1], number(m[2]), m[3]
		case m[4] != "":
			f.Path, f.Line, f.Func = m[4], number(m[5]), "<module>"
		default:
			f.Path, f.Func = m[7], m[8]
		}
		p.addFrame(f)
		t.Last = l.No
		return true
	}
	return ipythonCode.MatchString(text) || strings.Trim(text, "- ") == ""
}

// message reads a line after the exception line.
func (p *tracebacks) message(l Line) bool {
	t := p.cur
	if p.style == newestFirst {
		if m := fileFrame.FindStringSubmatch(l.Text); m != nil {
			p.state = inFrames
			return p.frame(l)
		}
	}
	if spawnedProcess.MatchString(l.Text) || duringHandling.MatchString(l.Text) || directCause.MatchString(l.Text) {
		return p.stop(l)
	}
	if strings.TrimSpace(l.Text) == "" || l.recordAfter(t) || len(t.Message) >= maxMessage || endsMessage(l.Text) {
		return p.stop(l)
	}
	t.Message = append(t.Message, l)
	t.Last = l.No
	return true
}

// endsMessage reports whether text is output of something else that follows an
// exception without an empty line between.
func endsMessage(text string) bool { return notMessage.MatchString(text) || stepLine(text) }

var notMessage = regexp.MustCompile("^```|" + `^(?:={10,}|\*{10,}|-{20,}$|srun: |slurmstepd: |wandb: |Killed$|\$ |Exception ignored in|Exception in thread|\[1\]\s+\+?\s*\d+|terminate called|Fatal Python error|Sending process|make: \*\*\*)`)

// between reads a line after a finished traceback: a sentence that links it to
// the next one, an empty line, or something else.
func (p *tracebacks) between(l Line) bool {
	const patience = 4
	switch text := strings.TrimSpace(l.Text); {
	case text == "":
		p.blank++
		if p.blank > patience {
			p.flush()
			return false
		}
		return true
	case duringHandling.MatchString(text), directCause.MatchString(text):
		p.link = follows
		return true
	case spawnedProcess.MatchString(text):
		p.link = reportsOn
		p.process = number(spawnedProcess.FindStringSubmatch(text)[1])
		return true
	case strings.Trim(text, "-") == "" && len(text) > 20: // the rule IPython draws
		return true
	}
	p.flush()
	return false
}

var (
	lostFrame     = regexp.MustCompile(`File "[^"]+", line \d+(?:, in (?:<\w+>|[\w.]+))?`)
	lostException = regexp.MustCompile(`\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt): `)
)

// splitLost undoes the loss of the newlines of a traceback: a line with several
// calls, or with the header and a call, becomes the lines it was.
func splitLost(l Line) []Line {
	if len(l.Text) > maxSegment || !strings.Contains(l.Text, `File "`) {
		return nil
	}
	calls := lostFrame.FindAllStringIndex(l.Text, maxFrames)
	if len(calls) == 0 {
		return nil
	}
	head := strings.TrimSpace(l.Text[:calls[0][0]])
	tail := strings.TrimSpace(l.Text[calls[len(calls)-1][1]:])
	if len(calls) == 1 && (!header.MatchString(head) || tail == "") {
		return nil
	}
	part := func(text string) Line {
		line := l
		line.Text = text
		return line
	}
	var parts []Line
	if head != "" {
		parts = append(parts, part(head))
	}
	for i, c := range calls {
		end := len(l.Text)
		if i+1 < len(calls) {
			end = calls[i+1][0]
		}
		parts = append(parts, part("  "+l.Text[c[0]:c[1]]))
		code := strings.TrimSpace(l.Text[c[1]:end])
		if i == len(calls)-1 {
			if m := lostException.FindStringIndex(code); m != nil {
				if before := strings.TrimSpace(code[:m[0]]); before != "" {
					parts = append(parts, part("    "+before))
				}
				parts = append(parts, part(code[m[0]:]))
				break
			}
		}
		if code != "" {
			parts = append(parts, part("    "+code))
		}
	}
	return parts
}
