package crash

import (
	"cmp"
	"fmt"
	"slices"
)

// Bounds on what is kept of memory that a log prints step by step. Beyond
// maxPoints half of the points of a series go, again and again.
const (
	maxPoints = 256
	maxSeries = 1024
)

// point is one reading at a step.
type point struct {
	at    float64 // step, epoch or number of the reading
	has   Size
	epoch float64 // -1 if unknown
	line  int
}

// seriesKey names what one series is of.
type seriesKey struct {
	process string // stream, or rank where it is known: a rank may write two files
	of      quantity
	device  int
	phase   string
}

// series is one quantity of one process, reading by reading.
type series struct {
	seriesKey
	rank, input int
	unit        string // of the horizontal axis: step, epoch, reading
	points      []point
	every       int // of so many readings one is kept, a power of two
	seen        int
	restarts    int // steps that began anew
	quantum     Size
	capacity    Size
	texts       [2]string // of the lines of the first and the last one
}

// seriesSet holds the series of all inputs.
type seriesSet struct {
	all    map[seriesKey]*series
	order  []*series
	clocks map[string]*clock // by process
	// thin is how many lines with memory stand for one that is read, once there
	// are more than enough.
	thin int
}

func newSeriesSet() *seriesSet {
	return &seriesSet{all: make(map[seriesKey]*series), clocks: make(map[string]*clock), thin: 1}
}

// wants reports whether a line that shows nothing but memory is to be read. Of
// very many a part is, which a hash of the line's number picks, so that it has
// lines of all ranks.
func (s *seriesSet) wants(line int) bool { return oneOf(line, s.thin) }

// oneOf picks one of n lines, always the same ones, and of every multiple of n
// lines some of these.
func oneOf(line, n int) bool { return n <= 1 || uint32(line)*2654435761>>12%uint32(n) == 0 }

// clock makes one count of the steps of a process: they often begin anew with
// each epoch.
type clock struct {
	last   Step
	offset float64
	resets int
}

// at is where a step is on the horizontal axis.
func (c *clock) at(s Step) (at float64, unit string) {
	switch {
	case s.Number >= 0:
		if s.Number < c.last.Number {
			c.resets++
			c.offset += float64(c.last.Number)
			if of := c.last.Of; of >= c.last.Number && of < 3*c.last.Number {
				c.offset += float64(of - c.last.Number)
			}
			if s.Epoch >= 0 && s.Epoch < c.last.Epoch {
				c.offset = 0 // another run
			}
		}
		c.last = s
		return c.offset + float64(s.Number), "step"
	case s.Epoch >= 0:
		c.last.Epoch = s.Epoch
		return s.Epoch, "epoch"
	}
	return 0, "reading"
}

// processKey names the process of a line, whichever of its files that is in.
func processKey(o Origin) string {
	if o.Rank >= 0 {
		return fmt.Sprintf("rank %d", o.Rank)
	}
	return o.key()
}

// read takes the amounts of memory off a line. The step is that of the line, or
// of the lines just before it.
func (s *seriesSet) read(l Line, before func(func(Line) bool)) {
	readings := readMemory(l.Text)
	if readings == nil {
		return
	}
	if smiCell.MatchString(l.Text) {
		readings[0].device = smiDevice(before)
	}
	step := readStep(l.Text)
	if !step.known() {
		near := nearStep
		if l.Text[0] == '|' {
			near = nearTable
		}
		step = stepBefore(l, before, near)
	}
	s.add(l, step, readings)
}

// How many lines before a reading its step is looked for: in tables, the row with
// the memory is far down.
const (
	nearStep  = 4
	nearTable = 24
)

// stepBefore is the step that the process printed just before l.
func stepBefore(l Line, before func(func(Line) bool), near int) Step {
	step, n := Step{Number: -1, Epoch: -1}, 0
	before(func(earlier Line) bool {
		n++
		if earlier.Origin.key() == l.Origin.key() || earlier.Origin.anonymous() || (earlier.Origin.Rank < 0) != (l.Origin.Rank < 0) {
			step = readStep(earlier.Text)
		}
		return !step.known() && n < near
	})
	return step
}

// add records readings of one line.
func (s *seriesSet) add(l Line, step Step, readings []reading) {
	process := processKey(l.Origin)
	c := s.clocks[process]
	if c == nil {
		if len(s.clocks) >= maxStreams {
			return
		}
		c = &clock{last: Step{Number: -1, Epoch: -1}}
		s.clocks[process] = c
	}
	at, unit := c.at(step)
	for _, r := range readings {
		key := seriesKey{process, r.of, r.device, r.phase}
		m := s.all[key]
		if m == nil {
			if len(s.order) >= maxSeries {
				continue
			}
			m = &series{seriesKey: key, rank: l.Origin.Rank, input: l.Origin.Input, unit: unit, every: 1, capacity: r.capacity, restarts: c.resets}
			s.all[key] = m
			s.order = append(s.order, m)
		}
		if unit != m.unit {
			if len(m.points) > 1 {
				continue // a line of another kind
			}
			m.unit, m.points = unit, m.points[:0]
		}
		x := at
		if unit == "reading" {
			x = float64(m.seen)
		}
		m.capacity, m.quantum = max(m.capacity, r.capacity), max(m.quantum, r.quantum)
		if m.add(point{x, r.size, c.last.Epoch, l.No}, c.resets) {
			s.thin = max(s.thin, m.every)
		}
		m.texts[1] = shorten(l.Text)
		if len(m.points) == 1 {
			m.texts[0] = m.texts[1]
		}
	}
}

// add appends a point, and reports whether the series was thinned out.
func (m *series) add(p point, resets int) bool {
	m.seen++
	if !oneOf(p.line, m.every) {
		return false
	}
	n := len(m.points)
	if n > 0 {
		last := &m.points[n-1]
		restarted := resets != m.restarts && p.has < last.has/2
		m.restarts = resets
		switch {
		case p.at < last.at || restarted:
			m.points = m.points[:0] // another run
		case p.at == last.at:
			*last = p
			return false
		}
	}
	m.points = append(m.points, p)
	if len(m.points) < maxPoints {
		return false
	}
	for len(m.points) >= maxPoints {
		m.every *= 2
		m.points = slices.DeleteFunc(m.points, func(p point) bool { return !oneOf(p.line, m.every) })
	}
	return true
}

// of lists the series of one process, the most telling quantities first. Of the
// devices only the given one counts, if it is known.
func (s *seriesSet) of(process string, device int, order []quantity) []*series {
	var list []*series
	for _, m := range s.order {
		if m.process == process && (m.device < 0 || device < 0 || m.device == device) {
			list = append(list, m)
		}
	}
	rank := func(m *series) int {
		if i := slices.Index(order, m.of); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(list, func(a, b *series) int { return cmp.Or(rank(a)-rank(b), len(b.points)-len(a.points)) })
	return list
}
