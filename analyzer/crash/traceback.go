package crash

import (
	"fmt"
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

	cell int // number in its notebook, from 1, once that was found
}

// String is the call as a line: place, function, source.
func (f Frame) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s:%d %s: %s", f.Path, f.Line, f.inFunc(), f.Code), ": ")
}

// Traceback is one exception with the calls that led to it, outermost first.
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
	// Forward has the calls of the forward pass that made what a backward pass
	// failed on, which autograd's anomaly mode prints.
	Forward *Traceback
	// Headless says that the top was cut off.
	Headless bool
	// Bare says that there is only the exception line.
	Bare bool
	// Dump says that the calls only show where a process stood: nothing was
	// raised there.
	Dump bool
	// Ignored says that the exception was raised where nobody can handle it,
	// while objects were destroyed.
	Ignored bool
	// Native says that the exception is one of C++.
	Native bool
	// Unsaid says that the exception line was cut off, and Type is what the
	// innermost call was about to raise.
	Unsaid bool
	// Woven says that lines of several tracebacks were interleaved and put
	// together by what fits.
	Woven bool

	// pasted says that a debugger showed it: the exception first, then the
	// calls, innermost first.
	pasted bool
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

// last is the innermost call so far, or nil.
func (t *Traceback) last() *Frame {
	if len(t.Frames) == 0 {
		return nil
	}
	return &t.Frames[len(t.Frames)-1]
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

// addFrame appends a call.
func (t *Traceback) addFrame(f Frame) {
	if len(t.Frames) >= maxFrames {
		// The outermost and the innermost calls tell most.
		half := maxFrames / 2
		t.Frames = append(t.Frames[:half], t.Frames[half+1:]...)
	}
	t.Frames = append(t.Frames, f)
	t.Last = f.At
}
