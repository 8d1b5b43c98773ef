package crash

import (
	"strings"
)

// weaver reads the tracebacks of one stream. Where several processes write into
// the same output and nothing tells their lines apart, their tracebacks are
// interleaved: each is then read by a lane of its own, and a line goes to the
// lane that it fits.
type weaver struct {
	lanes []*lane
	fresh func() *tracebacks
	last  *lane // that took the last line
	clock int
}

type lane struct {
	*tracebacks
	fed int // when it last took a line
}

const (
	maxLanes = 32
	staleFor = 60 // lines after which a lane that waits is given up
)

// newWeaver returns a weaver whose lanes fresh makes.
func newWeaver(fresh func() *tracebacks) *weaver {
	w := &weaver{fresh: fresh}
	w.last = w.open()
	return w
}

func (w *weaver) open() *lane {
	l := &lane{tracebacks: w.fresh(), fed: w.clock}
	w.lanes = append(w.lanes, l)
	return l
}

// active reports whether the next line may belong to a traceback.
func (w *weaver) active() bool {
	for _, l := range w.lanes {
		if l.active() {
			return true
		}
	}
	return false
}

// inside reports whether a traceback is open.
func (w *weaver) inside() bool {
	for _, l := range w.lanes {
		if l.cur != nil {
			return true
		}
	}
	return false
}

// close ends what is open.
func (w *weaver) close() {
	for _, l := range w.lanes {
		l.close()
	}
	w.lanes = w.lanes[:1]
	w.last = w.lanes[0]
}

// loneHeader takes back the header of a traceback of which nothing else was
// read.
func (w *weaver) loneHeader() (Line, bool) { return w.last.loneHeader() }

// feed passes on the next line of the stream and reports whether it belongs to
// a traceback.
func (w *weaver) feed(l Line) bool {
	pieces := splitLost(l)
	if pieces == nil {
		return w.feedOne(l)
	}
	for _, piece := range pieces {
		w.feedOne(piece)
	}
	return true
}

func (w *weaver) feedOne(l Line) bool {
	w.clock++
	to := w.choose(l)
	if to != w.last && to.midway() && len(to.cur.Frames) > 0 {
		for _, other := range w.lanes {
			if other.cur != nil {
				other.cur.Woven = true
			}
		}
	}
	taken := to.tracebacks.feed(l)
	if taken {
		to.fed, w.last = w.clock, to
	}
	w.prune()
	return taken
}

// prune gives up lanes that nothing fits any more.
func (w *weaver) prune() {
	if len(w.lanes) == 1 {
		return
	}
	kept := w.lanes[:0]
	for _, l := range w.lanes {
		if l != w.last && w.clock-l.fed > staleFor {
			l.close()
		}
		if l == w.last || l.active() {
			kept = append(kept, l)
		}
	}
	w.lanes = kept
}

// choose finds the lane for a line.
func (w *weaver) choose(l Line) *lane {
	header := strings.Contains(l.Text, headerText)
	if len(w.lanes) == 1 && !(header && w.last.midway()) {
		return w.last
	}
	text := strings.TrimSpace(l.Text)
	call := fileFrame.FindStringSubmatch(l.Text)
	var name string
	if call != nil {
		name = call[4]
	}
	exception := exceptionLine.FindStringSubmatch(text)
	woven := w.last.cur != nil && w.last.cur.Woven
	best, most := w.last, -1
	for _, lane := range w.lanes {
		score := -1
		switch f := lane.waiting(); {
		case header && lane.cur == nil:
			score = 1
		case header || !lane.midway():
		case call != nil && (f == nil || f.Code != ""):
			score = 1
			if f == nil {
				score = 3
			} else if name != "" && strings.Contains(f.Code, name[strings.LastIndexByte(name, '.')+1:]+"(") {
				score = 4
			}
		case call == nil && exception != nil && f != nil && f.Code != "":
			score = 1
			if strings.Contains(f.Code, "raise "+exception[1]) {
				score = 2 * staleFor
			} else if woven {
				score += w.clock - lane.fed
			}
		case call == nil && exception == nil && f != nil && f.Code == "" && text != "":
			// Source lines come in the order of their calls.
			score = 1 + w.clock - lane.fed
		}
		if lane == w.last && score >= 0 && (call != nil || exception != nil && !woven) {
			score++
		}
		if score > most {
			best, most = lane, score
		}
	}
	if header && most < 0 && len(w.lanes) < maxLanes {
		return w.open()
	}
	return best
}

// waiting is the last call of the open traceback, nil if it has none.
func (l *lane) waiting() *Frame {
	if l.cur == nil {
		return nil
	}
	return l.cur.last()
}
