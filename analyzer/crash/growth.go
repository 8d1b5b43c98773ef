package crash

import (
	"fmt"
	"math"
	"strings"
)

// The quantities that tell most about a failure of the device's memory, and of
// the host's.
var (
	onDevice = []quantity{allocatedMemory, maxAllocated, reservedMemory, maxReserved, deviceMemory, freeMemory, maxDevice, hostMemory, maxHost, hostUsed}
	onHost   = []quantity{hostMemory, maxHost, hostUsed, allocatedMemory, maxAllocated, reservedMemory, maxReserved, deviceMemory, freeMemory, maxDevice}
)

// course is what the memory that a log prints tells about a failure.
type course struct {
	*trend        // of the most telling quantity
	cached *trend // of reserved memory, if the most telling is allocated memory
	other  *trend // rises, where the most telling does not
	level  Size   // at which it failed or will fail, unsaid if unknown
	// full is the step or the epoch at which the line reaches that level, and failed
	// that of the failure; -1 if unknown.
	full, failed float64
}

// courseOf is that of the process that failed, nil if the log does not print
// enough.
func (in *incident) courseOf(e *Event) *course {
	order := onDevice
	if strings.HasPrefix(e.Page.ID, hostOOM) {
		order = onHost
	}
	device := number(e.Fields["gpu"])
	list := in.series.of(processKey(e.Origin), device, order)
	if len(list) == 0 {
		// Often only one process prints.
		processes := make(map[string]bool)
		for _, m := range in.series.order {
			processes[m.process] = true
		}
		if len(processes) == 1 {
			list = in.series.of(in.series.order[0].process, device, order)
		}
	}
	c := newCourse(list)
	if c == nil {
		return nil
	}
	if k := in.series.clocks[c.process]; k != nil && !e.Step.known() && k.last.known() {
		e.Step = k.last
		e.Step.Line, e.Step.Text, e.Step.Borrowed = c.points[len(c.points)-1].line, c.texts[1], c.rank != e.Origin.Rank
	}
	switch {
	case c.unit == "step" && e.Step.Number >= 0:
		c.failed = float64(e.Step.Number)
		if k := in.series.clocks[c.process]; k != nil {
			c.failed += k.offset
		}
	case c.unit == "epoch":
		c.failed = e.Step.Epoch
	}
	m := readOOM(e.Fields)
	switch {
	case c.of == hostMemory || c.of == maxHost:
		c.level = residentWhenKilled(e.Fields)
	case c.of.onHost():
	case m.allocated.said() && m.request.said() && m.allocated+m.request > c.last() && (c.of == allocatedMemory || c.of == maxAllocated):
		c.level = m.allocated + m.request // where it really ended
	case m.total.said():
		c.level = m.total
	}
	if at, ok := c.fullAt(c.level); ok {
		c.full = at
	}
	return c
}

// residentWhenKilled is what a process had of the host's memory when the kernel
// killed it, as the kernel says.
func residentWhenKilled(fields map[string]string) Size {
	resident := Size(0)
	for _, part := range []string{"anon_kb", "file_kb", "shmem_kb"} {
		if n := number(fields[part]); n > 0 {
			resident += Size(n) * kib
		}
	}
	if resident == 0 {
		return unsaid
	}
	return resident
}

// newCourse finds the most telling of the series that are long enough, which are
// in order.
func newCourse(list []*series) *course {
	var c *course
	for _, m := range list {
		t := m.trend()
		switch {
		case t == nil:
		case c == nil:
			c = &course{trend: t, level: t.capacity, full: -1, failed: -1}
		case t.of == c.of && t.phase == c.phase && t.grows() && !c.grows():
			c.trend, c.level = t, t.capacity // of another device
		case c.cached == nil && c.of == allocatedMemory && t.of == reservedMemory && t.phase == c.phase:
			c.cached = t
		case c.other == nil && !c.grows() && t.grows():
			c.other = t
		}
	}
	if c != nil && !c.level.said() {
		c.level = unsaid
	}
	return c
}

// agrees reports whether the failure came about when the line says so.
func (c *course) agrees() bool {
	return c.full > 0 && c.failed > 0 && math.Abs(c.full-c.failed) <= 0.2*c.failed
}

// prediction compares the failure with where the line reaches the level, of what
// is full then. It is empty where one of both is unknown.
func (c *course) prediction(of string) string {
	if c.full < 0 || c.failed <= 0 {
		return ""
	}
	return fmt.Sprintf(" At that rate %s is full at %s %s; it failed at %s %s.", of, c.unit, decimal(c.full), c.unit, decimal(c.failed))
}

// leaks reports whether the course shows that live memory piles up.
func (c *course) leaks() bool {
	return c.grows() && (c.of == allocatedMemory || c.of == maxAllocated)
}

// gapGrows reports whether the cache grows and what is live in it does not.
func (c *course) gapGrows() bool {
	return c.of == allocatedMemory && !c.grows() && c.cached != nil && (c.cached.grows() || c.cached.shape == levelling)
}

// rate is the slope in words.
func (c *course) rate() string {
	if c.shape == stairs && c.atEpochs {
		return fmt.Sprintf("%v an epoch", c.stair)
	}
	return fmt.Sprintf("%v %s", Size(math.Abs(c.slope)), a(c.unit))
}

// rising is the steepest course that shows that something piles up, of all
// processes; nil if there is none.
func (in *incident) rising() *course {
	var worst *course
	seen := make(map[string]bool)
	for _, m := range in.series.order {
		if seen[m.process] {
			continue
		}
		seen[m.process] = true
		c := newCourse(in.series.of(m.process, -1, onDevice))
		if c != nil && !c.grows() && c.other != nil && c.other.of.onHost() {
			c = &course{trend: c.other, level: unsaid, full: -1, failed: -1}
		}
		if c == nil || !c.leaks() && !(c.grows() && c.of.onHost()) {
			continue
		}
		if worst == nil || math.Abs(c.slope) > math.Abs(worst.slope) {
			worst = c
		}
	}
	if worst != nil {
		if at, ok := worst.fullAt(worst.level); ok {
			worst.full = at
		}
	}
	return worst
}

// tellGrowth makes the diagnosis of a log that shows no failure but memory that
// rises.
func (in *incident) tellGrowth(diag *Diagnosis, c *course) {
	in.fillFrom(diag, growthID)
	diag.Confidence = Medium
	diag.Cause = fmt.Sprintf("No failure ends this log, but memory rises by %s. %s", c.rate(), c.meaning())
	diag.Growth = c.growth()
	diag.Evidence = append(diag.Evidence, c.evidence(in.inputName(c.input))...)
}

// meaning says what the course shows and what it does not.
func (c *course) meaning() string {
	was := fmt.Sprintf("The %s ", c.of.words())
	switch {
	case c.gapGrows():
		return was + fmt.Sprintf("is flat while reserved memory rises, from %v to %v: nothing piles up, but the cache does not fit what is asked for. Shapes that vary do that, and it is how fragmentation begins.", c.cached.fitted[0].has, c.cached.fitted[len(c.cached.fitted)-1].has)
	case c.shape == flat && c.other != nil && c.other.of.onHost():
		return was + "is flat while memory of the process on the host rises: workers that copy a list of Python objects when they read it do that, and values that are collected on the CPU."
	case c.shape == flat && c.other != nil && c.of == allocatedMemory:
		return was + fmt.Sprintf("is flat while the %s rises: what grows is not PyTorch's tensors, but another library or another process.", c.other.of.words())
	case c.shape == flat:
		return was + "is flat: nothing piles up from step to step in what the log shows."
	case c.shape == falling:
		return was + "falls."
	case c.shape == jump:
		return was + "rises once and is flat before and after: one larger batch, an evaluation, or something that is made once. Not a leak."
	case c.shape == irregular:
		return was + "varies too much from step to step to tell whether something piles up."
	case c.shape == stairs && c.atEpochs:
		return was + fmt.Sprintf("rises at the ends of epochs, by %v each time, and is flat between: something of each epoch is kept, such as outputs, the state of a metric, workers or copies of the model.", c.stair)
	case c.shape == stairs:
		return was + fmt.Sprintf("rises in stairs of about %v and is flat between: something that does not happen in each step is kept each time, such as an evaluation or a checkpoint.", c.stair)
	case c.shape == levelling && c.of.runningMax():
		return was + "rises ever more slowly, as a maximum of batches of different sizes does: shapes that vary, not a leak."
	case c.shape == levelling:
		return was + "rises ever more slowly: it comes closer to a level, as caches and varying shapes do. A leak goes on at one rate."
	case c.of.onHost():
		return was + "rises steadily: objects of each step are kept on the host, or workers copy what they read."
	case c.of == reservedMemory || c.of == maxReserved || c.of == deviceMemory || c.of == maxDevice || c.of == freeMemory:
		if c.of == freeMemory {
			was = "Free memory of the device falls, so what is in use "
		}
		return was + "rises steadily. That alone does not show a leak, because the allocator keeps what it once reserved: the memory allocated would tell."
	case c.of.runningMax():
		return was + "rises to the end at one rate. A maximum of varying batches would level off, so something is kept from step to step."
	case c.shape == accelerating:
		return was + "rises ever faster: what is kept of each step is itself larger each time, such as a graph that reaches back over all steps."
	}
	return was + "rises steadily: something of each step is kept."
}

// growth is the course as the diagnosis reports it.
func (c *course) growth() *Growth {
	ends := []float64{c.fitted[0].at, c.fitted[len(c.fitted)-1].at}
	g := &Growth{
		Quantity: string(c.of), Slope: round(c.slope/float64(mib), 3), Unit: "MiB/" + c.unit, R: round(c.r, 3),
		Shape: string(c.shape), Meaning: c.meaning(),
	}
	for i, at := range ends {
		g.Line[i] = [2]float64{round(at, 4), round((c.intercept+c.slope*at)/float64(mib), 2)}
	}
	if c.rank >= 0 {
		g.Rank = &c.rank
	}
	if c.level > 0 {
		level := round(float64(c.level/mib), 2)
		g.Capacity = &level
	}
	switch c.unit {
	case "step":
		g.PredictedStep, g.FailedStep = wholeOrNil(c.full), wholeOrNil(c.failed)
	case "epoch":
		g.PredictedEpoch, g.FailedEpoch = knownOrNil(c.full), knownOrNil(c.failed)
	}
	const most = 64
	stride := 1 + (len(c.points)-1)/most
	for i, p := range c.points {
		if i%stride == 0 || i == len(c.points)-1 {
			g.Points = append(g.Points, [2]float64{round(p.at, 4), round(float64(p.has/mib), 2)})
		}
	}
	return g
}

// evidence are the first and the last line of the series.
func (c *course) evidence(input string) []Evidence {
	n := len(c.points)
	return []Evidence{
		{Line: c.points[0].line, Text: c.texts[0], Why: fmt.Sprintf("the first reading of the %s", c.of.words()), Input: input},
		{Line: c.points[n-1].line, Text: c.texts[1], Why: fmt.Sprintf("the last of %d readings: %s, %s", c.seen, c.shape, c.rate()), Input: input},
	}
}

// a puts the article before a unit.
func a(unit string) string {
	if unit == "epoch" {
		return "an epoch"
	}
	return "a " + unit
}

// knownOrNil and wholeOrNil are for numbers that are negative if unknown.
func knownOrNil(f float64) *float64 {
	if f < 0 {
		return nil
	}
	return &f
}

func wholeOrNil(f float64) *int {
	if f < 0 {
		return nil
	}
	n := int(f)
	return &n
}

func round(f float64, places int) float64 {
	scale := math.Pow(10, float64(places))
	return math.Round(f*scale) / scale
}
