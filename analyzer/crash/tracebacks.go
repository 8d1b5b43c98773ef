package crash

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// tracebacks reassembles the tracebacks of one stream, line by line. What the
// lines of each dialect look like is in files of their own.
type tracebacks struct {
	emit func(*Traceback) // called once for each chain, with its last exception
	// before gives the lines of output before the current one, latest first, to
	// readers of dialects that print the exception last.
	before func(yield func(Line) bool)

	cur    *Traceback
	state  state
	style  style
	named  string // type of the exception, if the header told
	blank  int    // empty lines since the last one that was of use
	stray  int    // lines of something else within the calls
	split  string // a call that was wrapped, so far
	mute   bool   // the lines after a call are not of its source
	group  groups
	tests  bool       // the output of tests was read
	aside  bool       // cur is the forward pass that anomaly mode prints
	unseen bool       // the next traceback is of an exception that Python ignored
	past   *Traceback // the forward pass that the next traceback failed on

	done    *Traceback // complete, but a chain may follow
	link    link       // how the next traceback belongs to done
	process int        // rank that mp.spawn named, or -1
}

// style is the dialect a traceback is written in.
type style int

const (
	standard style = iota
	ipython
	rich
	pySpy
	pytest
)

type state int

const (
	outside state = iota
	inFrames
	inMessage
	inQuote // within the message, calls of other code: compiled, TorchScript
)

type link int

const (
	unlinked  link = iota
	follows        // done is the cause of the next one
	reportsOn      // done reports the next one
)

const (
	patience  = 4 // empty lines between the parts of a chain
	tolerance = 8 // lines of other output within the calls
)

var (
	// An exception line: a dotted name that looks like a class, then a colon
	// and the message or nothing.
	exceptionLine = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.(?:<locals>\.)?)*(?:[A-Z]\w*|_[A-Z]\w*|timeout|\w*error))(?:\([A-Z]\w*\))?(?::(?: (.*))?|)$`)
	exceptionName = regexp.MustCompile(`(?:Error|Exception|Warning|Interrupt|Exit|Failure|Timeout|Iteration|ExceptionGroup)$|^(?:[a-z_]\w*\.)+(?:[A-Z]\w*|\w*error)$|^socket\.timeout$`)

	spawnedProcess = regexp.MustCompile(`^-- Process (\d+) terminated with the following error:`)

	foreign       = regexp.MustCompile("^```|" + `^(?:={10,}|\*{10,}|-{20,}$|"""$|srun: |slurmstepd: |wandb: |Killed$|\$ |Exception ignored in|Exception in thread|Process \w*Process-\d+|\[1\]\s+\+?\s*\d+|terminate called|Fatal Python error|Sending process|make: \*\*\*)`)
	foreignStart  = "`=*-\"swK$EP[tFSm"
	progressWords = []string{"it/s", "s/it", "<", "poch", "POCH", "tep", "TEP", "ter", "TER"}
	progressLine  = regexp.MustCompile(`(?i)\[\d+:\d\d<|\d(?:it/s|s/it)\b|^(?:\W*(?:epoch|step|iter(?:ation)?)\b).*\d.*(?:loss|lr|acc|time|eta)\b|^(?:\W*(?:epoch|step|iter(?:ation)?)) ?:? ?\d+(?:/\d+)?\b`)
)

const (
	duringHandling = "During handling of the above exception, another exception occurred:"
	directCause    = "The above exception was the direct cause of the following exception:"
)

// isLink reports whether text, without the space around it, says how the next
// traceback belongs to the one before.
func isLink(text string) bool {
	return strings.HasPrefix(text, duringHandling) || strings.HasPrefix(text, directCause) || isSpawned(text)
}

func isSpawned(text string) bool {
	return strings.HasPrefix(text, "-- Process ") && spawnedProcess.MatchString(text)
}

// isForeign reports whether text is output of another program.
func isForeign(text string) bool {
	return strings.IndexByte(foreignStart, text[0]) >= 0 && foreign.MatchString(text)
}

// isProgress reports whether text is a line of progress, as opposed to a message
// that mentions a step.
func isProgress(text string) bool {
	return strings.ContainsAny(text, digits) && containsAny(text, progressWords) && progressLine.MatchString(text)
}

// active reports whether the next line may belong to a traceback.
func (p *tracebacks) active() bool {
	return p.cur != nil || p.done != nil || p.group.open || p.unseen || p.past != nil
}

// midway reports whether calls were read and their exception was not.
func (p *tracebacks) midway() bool {
	return p.cur != nil && p.state == inFrames && p.style == standard && !p.aside && p.cur.Type == "" && !p.cur.Dump
}

// close ends what is open, at the end of the log.
func (p *tracebacks) close() {
	p.finish()
	p.flush()
	p.endGroup()
	p.unseen, p.past = false, nil
}

// endGroup forgets the exception group that was read, and emits it if none of
// its parts was there.
func (p *tracebacks) endGroup() {
	lone := p.group.lone()
	p.group = groups{}
	if lone != nil {
		p.emit(lone)
	}
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
	aside := p.aside
	p.cur, p.state, p.aside, p.split, p.stray, p.blank = nil, outside, false, "", 0, 0
	if t.newestFirst() {
		slices.Reverse(t.Frames)
	}
	for n := len(t.Message); n > 1 && strings.TrimSpace(t.Message[n-1].Text) == ""; n-- {
		t.Message = t.Message[:n-1]
	}
	switch {
	case aside:
		p.past = t
		return
	case len(t.Frames) == 0 && t.Type == "":
		// Of what follows in the chain nothing is left.
		if chain := cmp.Or(t.Cause, t.Outer); chain != nil && chain.Type != "" {
			p.done = chain
		}
		return
	}
	p.flush()
	p.done = t
	p.group.read(t)
}

// loneHeader takes back the header of a traceback of which nothing else was
// read.
func (p *tracebacks) loneHeader() (Line, bool) {
	if t := p.cur; t != nil && p.state == inFrames && len(t.Frames) == 0 && t.Type == "" && t.First == t.Last {
		p.cur, p.state = nil, outside
		return Line{No: t.First, Text: headerText + ":", Origin: t.Origin}, true
	}
	return Line{}, false
}

// feed gives the parser the next line of its stream and reports whether the
// line belongs to a traceback.
func (p *tracebacks) feed(l Line) bool {
	if p.group.open {
		if isRule, ends := p.group.rule(l.Text); isRule {
			p.finish()
			p.group.enter(p, l.Text)
			p.flush()
			if ends {
				p.endGroup()
			}
			return true
		}
		l.Text = p.group.inner(l.Text)
	}
	if p.begin(l) {
		return true
	}
	switch p.state {
	case inFrames:
		return p.frame(l)
	case inMessage:
		return p.message(l)
	case inQuote:
		return p.quote(l)
	}
	if p.done != nil {
		return p.between(l)
	}
	return false
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
	if next.Outer == nil && next.Cause == nil {
		next.Outer = p.group.part()
	}
	next.Ignored, p.unseen = p.unseen, false
	next.Forward, p.past = p.past, nil
	p.cur, p.state, p.style, p.named, p.blank, p.stray = next, inFrames, s, named, 0, 0
}

// raised takes the exception line, m being its match.
func (p *tracebacks) raised(l Line, m []string) {
	t := p.cur
	t.Type, t.Last = m[1], l.No
	t.Message = []Line{{No: l.No, Text: m[2], Origin: l.Origin}}
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

// stop ends a traceback, and looks at l again as what it is outside of one.
func (p *tracebacks) stop(l Line) bool {
	p.finish()
	if p.done != nil {
		return p.between(l)
	}
	return false
}

// message reads a line after the exception line.
func (p *tracebacks) message(l Line) bool {
	t, text := p.cur, strings.TrimSpace(l.Text)
	if p.style == pytest {
		return p.pytestMessage(l)
	}
	if t.pasted && fileFrame.MatchString(l.Text) {
		p.state = inFrames
		return p.frame(l)
	}
	switch {
	case text == "" || l.recordAfter(t) || isLink(text) || isForeign(l.Text) || isProgress(text):
		return p.stop(l)
	case t.Native && len(t.Message) == 0 && !whatLine.MatchString(l.Text):
		return p.stop(l)
	case quotesCode(text):
		p.state = inQuote
		return true
	}
	t.Last = l.No
	if isNative(text) || len(t.Message) >= maxMessage {
		return true
	}
	if t.Native && len(t.Message) == 0 {
		l.Text = whatLine.FindStringSubmatch(l.Text)[1]
	}
	t.Message = append(t.Message, l)
	return true
}

// between reads a line after a finished traceback: a sentence that links it to
// the next one, an empty line, or something else.
func (p *tracebacks) between(l Line) bool {
	switch text := strings.TrimSpace(l.Text); {
	case text == "":
		p.blank++
		if p.blank > patience {
			p.flush()
			return false
		}
		return true
	case text == `"""`: // the end of a traceback that came from another process
		return true
	case quotesCode(text):
		p.cur, p.done, p.state = p.done, nil, inQuote
		return true
	case isSpawned(text):
		p.link = reportsOn
		p.process = number(spawnedProcess.FindStringSubmatch(text)[1])
		return true
	case isLink(text):
		p.link = follows
		return true
	case strings.Trim(text, "-") == "" && len(text) > 20: // the rule IPython draws
		return true
	}
	p.flush()
	return false
}
