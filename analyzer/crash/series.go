package crash

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// seriesLiterals begin what a line that prints allocated memory must contain.
var seriesLiterals = []string{"allocated", "Allocated", "ALLOCATED", "mem_alloc", "alloc=", "alloc:"}

var (
	// "allocated 123.4 MiB", "memory_allocated: 123456", "alloc (MiB)=12"
	allocatedBefore = regexp.MustCompile(`(?i)(max[ _.]?)?(?:(?:gpu|cuda)[ _.]?)?(max[ _.]?)?(?:mem(?:ory)?[ _.]?)?alloc(?:ated)?["']?[ \t]*[(\[]?(bytes|[kmg]i?b)?[)\]]?[ \t]*[:=]?[ \t]*(\d[\d,]*(?:\.\d+)?)[ \t]*(bytes|[kmg]i?b\b|[mg]\b)?`)
	// "123.4 MiB allocated"
	allocatedAfter = regexp.MustCompile(`(?i)(\d[\d,]*(?:\.\d+)?)[ \t]*(bytes|[kmg]i?b)[ \t]+(?:cuda |gpu )?(?:memory )?allocated`)
)

// maxPoints bounds the points kept of one series; beyond it every second one
// goes, again and again.
const maxPoints = 2048

// point is one reading of the memory allocated at a step.
type point struct {
	step int
	has  Size
	line int
}

// memorySeries is the allocated memory that one stream printed step by step.
type memorySeries struct {
	points []point
	every  int // of so many readings one is kept
	seen   int
}

type seriesSet struct{ byStream map[string]*memorySeries }

func newSeriesSet() *seriesSet { return &seriesSet{byStream: make(map[string]*memorySeries)} }

// read takes the allocated memory off a line that has a step too.
func (s *seriesSet) read(l Line) {
	if len(l.Text) > 2000 || !strings.Contains(l.Text, "lloc") && !strings.Contains(l.Text, "LLOC") {
		return
	}
	step := readStep(l.Text)
	if step.Number < 0 {
		return
	}
	has, ok := readAllocated(l.Text)
	if !ok {
		return
	}
	key := l.Origin.key()
	m := s.byStream[key]
	if m == nil {
		if len(s.byStream) >= maxStreams {
			return
		}
		m = &memorySeries{every: 1}
		s.byStream[key] = m
	}
	m.add(point{step.Number, has, l.No})
}

// readAllocated finds the amount of memory allocated now, not at most.
func readAllocated(text string) (Size, bool) {
	if m := allocatedBefore.FindStringSubmatch(text); m != nil {
		if m[1] != "" || m[2] != "" {
			return 0, false
		}
		unit := m[5]
		if unit == "" {
			unit = m[3]
		}
		return amount(m[4], unit)
	}
	if m := allocatedAfter.FindStringSubmatch(text); m != nil {
		return amount(m[1], m[2])
	}
	return 0, false
}

// amount is a number with its unit. Without one, its size tells bytes from
// mebibytes and gibibytes.
func amount(digits, unit string) (Size, bool) {
	if unit != "" {
		if len(unit) == 1 {
			unit += "iB"
		}
		return parseSize(digits + " " + unit)
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		return 0, false
	}
	switch {
	case n > 1e6:
		return Size(n), true
	case n > 200:
		return Size(n) * mib, true
	}
	return Size(n) * gib, true
}

func (m *memorySeries) add(p point) {
	m.seen++
	if (m.seen-1)%m.every != 0 {
		return
	}
	if n := len(m.points); n > 0 && p.step <= m.points[n-1].step {
		if p.step < m.points[n-1].step {
			m.points = m.points[:0] // a new run or a new epoch counts from the start
		} else {
			return
		}
	}
	m.points = append(m.points, p)
	if len(m.points) >= maxPoints {
		kept := m.points[:0]
		for i := 0; i < len(m.points); i += 2 {
			kept = append(kept, m.points[i])
		}
		m.points = kept
		m.every *= 2
	}
}

// leak fits a line to a series if it rises steadily up to its end, and says
// when it reaches the capacity. It gives nil for what is flat, too short, noisy
// or rises in stairs.
func (m *memorySeries) leak(capacity Size) *Growth {
	const least = 8
	points := m.points
	if warmUp := max(3, len(points)/10); len(points)-warmUp >= least {
		points = points[warmUp:]
	} else {
		return nil
	}
	slope := theilSen(points)
	first, last := points[0], points[len(points)-1]
	span := float64(last.step - first.step)
	rise := slope * span
	offsets := make([]float64, len(points))
	for i, p := range points {
		offsets[i] = float64(p.has) - slope*float64(p.step)
	}
	base := median(slices.Clone(offsets))
	for i, o := range offsets {
		offsets[i] = math.Abs(o - base)
	}
	noise := median(offsets)
	scale := float64(last.has)
	if capacity.said() {
		scale = float64(capacity)
	}
	if rise <= max(3*noise, 0.02*scale) {
		return nil
	}
	var rising, steep int
	var steps []float64
	for i := 1; i < len(points); i++ {
		d := float64(points[i].has - points[i-1].has)
		if d >= 0 {
			rising++
		}
		steps = append(steps, d)
	}
	for _, d := range steps {
		if d > rise*0.2 {
			steep++
		}
	}
	if rising*10 < len(steps)*8 || len(steps) >= 15 && steep > 0 {
		return nil
	}
	g := &Growth{Quantity: "allocated", Slope: round(slope/float64(mib), 3), Unit: "MiB/step", R: round(correlation(points), 3)}
	for i := range points {
		if stride := 1 + len(points)/64; i%stride == 0 || i == len(points)-1 {
			g.Points = append(g.Points, [2]float64{float64(points[i].step), round(float64(points[i].has/mib), 2)})
		}
	}
	if capacity.said() && capacity > last.has {
		at := last.step + int(float64(capacity-last.has)/slope)
		g.PredictedStep = &at
	}
	return g
}

func round(f float64, places int) float64 {
	scale := math.Pow(10, float64(places))
	return math.Round(f*scale) / scale
}

// theilSen is the median of the slopes between all pairs of points: outliers
// up to a third of the points do not move it.
func theilSen(points []point) float64 {
	const most = 200
	stride := 1 + len(points)/most
	var some []point
	for i := 0; i < len(points); i += stride {
		some = append(some, points[i])
	}
	slopes := make([]float64, 0, len(some)*(len(some)-1)/2)
	for i, a := range some {
		for _, b := range some[i+1:] {
			if b.step != a.step {
				slopes = append(slopes, float64(b.has-a.has)/float64(b.step-a.step))
			}
		}
	}
	return median(slopes)
}

// median sorts v.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// correlation is that of memory and step.
func correlation(points []point) float64 {
	n := float64(len(points))
	var sx, sy float64
	for _, p := range points {
		sx += float64(p.step)
		sy += float64(p.has)
	}
	mx, my := sx/n, sy/n
	var xy, xx, yy float64
	for _, p := range points {
		dx, dy := float64(p.step)-mx, float64(p.has)-my
		xy += dx * dy
		xx += dx * dx
		yy += dy * dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
