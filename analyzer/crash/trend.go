package crash

import (
	"math"
	"slices"
)

// shape is the course that a series takes.
type shape string

const (
	flat         shape = "flat"
	falling      shape = "falling"
	steady       shape = "steady"       // rises at one rate
	accelerating shape = "accelerating" // rises ever faster
	levelling    shape = "levelling"    // rises ever more slowly
	jump         shape = "jump"         // rises once
	stairs       shape = "stairs"       // rises several times, and is flat between
	irregular    shape = "irregular"    // rises, but in no way that tells anything
)

// trend is what a series does.
type trend struct {
	*series
	shape     shape
	slope     float64 // bytes a step, by the median of all pairs of points
	intercept float64 // of the fitted line
	r         float64 // correlation with the step
	noise     Size    // median distance from the line
	fitted    []point // without those of the warm-up
	stair     Size    // height of one, for stairs
	atEpochs  bool    // the stairs are where epochs end
}

// leastPoints is how many readings tell a course, and leastFitted how many of
// them have to be left after the warm-up.
const (
	leastPoints = 8
	leastFitted = 5
)

// trend fits a line that outliers do not move to a series, without its first
// steps, and says which shape the series has. It gives nil for one that is too
// short.
func (m *series) trend() *trend {
	points := m.points
	if len(points) < leastPoints {
		return nil
	}
	points = points[min(max(3, len(points)/10), len(points)-leastFitted):]
	t := &trend{series: m, fitted: points, slope: theilSen(points), r: correlation(points)}
	if m.of == freeMemory {
		t.r = -t.r // what is free falls as what is used rises
	}
	offsets := make([]float64, len(points))
	for i, p := range points {
		offsets[i] = float64(p.has) - t.slope*p.at
	}
	t.intercept = median(slices.Clone(offsets))
	for i, o := range offsets {
		offsets[i] = math.Abs(o - t.intercept)
	}
	t.noise = Size(median(offsets))
	t.shape = t.classify()
	return t
}

// used is how much of the memory is in use, but for a constant.
func (t *trend) used(i int) float64 {
	if t.of == freeMemory {
		return -float64(t.fitted[i].has)
	}
	return float64(t.fitted[i].has)
}

// last is the last amount.
func (t *trend) last() Size { return t.fitted[len(t.fitted)-1].has }

// rise is by how much the memory in use grows from the first to the last of the
// fitted points: along the line, and really.
func (t *trend) rise() (line, real float64) {
	n := len(t.fitted)
	line = t.slope * (t.fitted[n-1].at - t.fitted[0].at)
	if t.of == freeMemory {
		line = -line
	}
	return line, t.used(n-1) - t.used(0)
}

func (t *trend) classify() shape {
	n := len(t.fitted)
	line, real := t.rise()
	scale := math.Abs(t.used(n - 1))
	if t.capacity > 0 {
		scale = float64(t.capacity)
	}
	least := max(3*float64(t.noise), 0.02*scale, 2*float64(t.quantum))
	if real > least {
		at, share := t.jumps(real)
		switch {
		case share <= 0.7:
		case len(at) == 1:
			return jump
		case len(at) > 1 && len(at)*4 <= n && !t.of.runningMax() && t.unit != "epoch":
			t.measure(at)
			return stairs
		}
	}
	early, late, differ := t.ends()
	slows := differ && early > 0 && late < 0.45*early
	steps := increments(t.values())
	if t.of.runningMax() && !slows {
		// Of readings that vary by themselves ever fewer are higher than all before;
		// where something piles up, most of them are.
		higher := 0
		for _, d := range steps {
			if d > 0 {
				higher++
			}
		}
		slows = higher*10 < len(steps)*3 && t.quantum < Size(real/20)
	}
	switch {
	case line < -least && real < 0:
		return falling
	case real > least && slows && line <= least:
		return levelling
	case line <= least:
		return flat
	}
	rising := 0
	for _, d := range steps {
		if d >= 0 {
			rising++
		}
	}
	switch {
	case rising*10 < (n-1)*8 && math.Abs(t.r) < 0.9:
		return irregular
	case slows:
		return levelling
	case differ && early > 0 && late > 2.5*early:
		return accelerating
	}
	return steady
}

// ends are the slopes of the first and of the last third, and whether they
// differ by more than what noise makes of them.
func (t *trend) ends() (early, late float64, differ bool) {
	const enough = 4
	n := len(t.fitted)
	third := n / 3
	if third < enough {
		return 0, 0, false
	}
	early, late = theilSen(t.fitted[:third]), theilSen(t.fitted[n-third:])
	if t.of == freeMemory {
		early, late = -early, -late
	}
	steps := increments(t.values())
	usual := median(slices.Clone(steps))
	for i, d := range steps {
		steps[i] = math.Abs(d - usual)
	}
	noise := max(median(steps), float64(t.quantum))
	span := t.fitted[third-1].at - t.fitted[0].at
	return early, late, math.Abs(early-late)*span >= 5*noise
}

// jumps finds the increments that make up the rise: those that are much more
// than the usual one, and than what rounding makes. share is their part of it.
func (t *trend) jumps(rise float64) (at []int, share float64) {
	steps := increments(withoutSpikes(t.values()))
	least := max(8*median(absolute(steps)), 0.05*rise, 1.5*float64(t.quantum))
	var sum float64
	for i, d := range steps {
		if d > least {
			at = append(at, i)
			sum += d
		}
	}
	return at, sum / rise
}

// measure says how high the stairs are, and whether they are where epochs end.
func (t *trend) measure(at []int) {
	steps := increments(withoutSpikes(t.values()))
	var heights []float64
	ends := 0
	for _, i := range at {
		heights = append(heights, steps[i])
		if t.fitted[i].epoch != t.fitted[i+1].epoch {
			ends++
		}
	}
	t.stair = Size(median(heights))
	t.atEpochs = ends > 0 && ends*10 >= len(at)*6
}

// values are the amounts in use.
func (t *trend) values() []float64 {
	v := make([]float64, len(t.fitted))
	for i := range v {
		v[i] = t.used(i)
	}
	return v
}

// withoutSpikes replaces each value by the median of the five around it, which
// keeps stairs as they are.
func withoutSpikes(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = median(slices.Clone(v[max(0, i-2):min(len(v), i+3)]))
	}
	return out
}

// increments are the differences between neighbours.
func increments(v []float64) []float64 {
	steps := make([]float64, 0, len(v))
	for i := 1; i < len(v); i++ {
		steps = append(steps, v[i]-v[i-1])
	}
	return steps
}

func absolute(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Abs(x)
	}
	return out
}

// grows reports whether memory in use rises without an end in sight.
func (t *trend) grows() bool {
	return t.shape == steady || t.shape == accelerating || t.shape == stairs
}

// fullAt is the step or the epoch at which the line reaches a level.
func (t *trend) fullAt(level Size) (at float64, ok bool) {
	if t.of == freeMemory {
		level = 0
	}
	last := t.fitted[len(t.fitted)-1]
	if t.unit == "reading" || !t.grows() || !level.said() || (level <= last.has) != (t.of == freeMemory) {
		return 0, false
	}
	slope := t.slope
	if t.shape == accelerating { // the latest third tells better
		slope = theilSen(t.fitted[len(t.fitted)-max(3, len(t.fitted)/3):])
	}
	if slope == 0 {
		return 0, false
	}
	if at = last.at + float64(level-last.has)/slope; at > math.MaxInt32 {
		return 0, false
	}
	if t.unit == "step" {
		return math.Round(at), true
	}
	return round(at, 2), true
}

// theilSen is the median of the slopes between all pairs of points: outliers
// up to a third of the points do not move it.
func theilSen(points []point) float64 {
	const most = 200
	stride := 1 + (len(points)-1)/most
	var some []point
	for i := 0; i < len(points); i += stride {
		some = append(some, points[i])
	}
	slopes := make([]float64, 0, len(some)*(len(some)-1)/2)
	for i, a := range some {
		for _, b := range some[i+1:] {
			if b.at != a.at {
				slopes = append(slopes, float64(b.has-a.has)/(b.at-a.at))
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
		sx += p.at
		sy += float64(p.has)
	}
	mx, my := sx/n, sy/n
	var xy, xx, yy float64
	for _, p := range points {
		dx, dy := p.at-mx, float64(p.has)-my
		xy += dx * dy
		xx += dx * dx
		yy += dy * dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
