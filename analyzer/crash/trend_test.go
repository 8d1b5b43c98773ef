package crash

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// printed is a series of what f gives in MiB at each tenth step.
func printed(of quantity, steps int, f func(step float64) float64) *series {
	m := &series{seriesKey: seriesKey{of: of}, unit: "step", every: 1, capacity: unsaid}
	for step := 0; step < steps; step += 10 {
		m.add(point{at: float64(step), has: Size(f(float64(step))) * mib, line: step, epoch: float64(step / 250)}, 0)
	}
	return m
}

func TestShapesOfSeries(t *testing.T) {
	var noise *rand.Rand
	var highest float64
	for name, c := range map[string]struct {
		of    quantity
		f     func(step float64) float64
		want  shape
		slope float64
	}{
		"linear":                   {allocatedMemory, func(s float64) float64 { return 1000 + 5*s }, steady, 5},
		"linear with noise":        {allocatedMemory, func(s float64) float64 { return 1000 + 5*s + 200*noise.NormFloat64() }, steady, 5},
		"linear with outliers":     {allocatedMemory, func(s float64) float64 { return 1000 + 5*s + map[bool]float64{true: 9000}[int(s)%70 == 0] }, steady, 5},
		"linear, rounded":          {deviceMemory, func(s float64) float64 { return math.Round((1000+0.7*s)/102.4) * 102.4 }, steady, 0.7},
		"flat":                     {allocatedMemory, func(s float64) float64 { return 5000 + float64(int(s)*7919%100) }, flat, 0},
		"flat with large noise":    {allocatedMemory, func(s float64) float64 { return 9000 + 900*noise.NormFloat64() }, flat, 0},
		"too little":               {allocatedMemory, func(s float64) float64 { return 5000 + 0.05*s }, flat, 0.05},
		"one jump":                 {allocatedMemory, func(s float64) float64 { return map[bool]float64{true: 1000, false: 9000}[s < 500] }, jump, 0},
		"stairs":                   {allocatedMemory, func(s float64) float64 { return 1000 + 2000*math.Floor(s/250) + 5*noise.Float64() }, stairs, 8},
		"falling":                  {allocatedMemory, func(s float64) float64 { return 9000 - 5*s }, falling, -5},
		"quadratic":                {allocatedMemory, func(s float64) float64 { return 1000 + 0.01*s*s }, accelerating, 10},
		"saturating":               {reservedMemory, func(s float64) float64 { return 9000 * (1 - math.Exp(-s/150)) }, levelling, 4},
		"free memory falls":        {freeMemory, func(s float64) float64 { return 9000 - 5*s }, steady, -5},
		"maximum of random shapes": {maxAllocated, func(float64) float64 { highest = max(highest, 2000*noise.ExpFloat64()); return highest }, levelling, 2},
	} {
		t.Run(name, func(t *testing.T) {
			noise = rand.New(rand.NewPCG(1, 2))
			m := printed(c.of, 1000, c.f)
			if name == "linear, rounded" {
				m.quantum = 102.4 * mib
			}
			got := m.trend()
			require.NotNil(t, got)
			assert.Equal(t, c.want, got.shape)
			if c.want == steady {
				assert.InEpsilon(t, c.slope, got.slope/float64(mib), 0.05)
			}
		})
	}
	assert.Nil(t, printed(allocatedMemory, 70, func(s float64) float64 { return s }).trend(), "too short")
}

func TestStairsAtEpochs(t *testing.T) {
	got := printed(allocatedMemory, 1000, func(s float64) float64 { return 1000 + 2000*math.Floor(s/250) }).trend()
	assert.True(t, got.atEpochs)
	assert.Equal(t, 2000*mib, got.stair)
	got = printed(allocatedMemory, 1000, func(s float64) float64 { return 1000 + 2000*math.Floor((s+130)/270) }).trend()
	assert.Equal(t, stairs, got.shape)
	assert.False(t, got.atEpochs)
}

func TestStepAtWhichMemoryIsFull(t *testing.T) {
	steadily := printed(allocatedMemory, 1000, func(s float64) float64 { return 1000 + 5*s }).trend()
	at, ok := steadily.fullAt(24 * gib)
	require.True(t, ok)
	assert.InDelta(t, (24*1024-1000)/5, at, 1)
	free := printed(freeMemory, 1000, func(s float64) float64 { return 9000 - 5*s }).trend()
	at, ok = free.fullAt(unsaid)
	require.True(t, ok)
	assert.InDelta(t, 1800, at, 1)
	for name, c := range map[string]struct {
		*trend
		level Size
	}{
		"full already": {steadily, gib},
		"unknown":      {steadily, unsaid},
		"flat":         {printed(allocatedMemory, 1000, func(float64) float64 { return 9 }).trend(), 24 * gib},
	} {
		_, ok := c.fullAt(c.level)
		assert.False(t, ok, name)
	}
}

func TestSeriesIsBounded(t *testing.T) {
	m := &series{seriesKey: seriesKey{of: allocatedMemory}, unit: "step", every: 1}
	for step := range 100_000 {
		m.add(point{at: float64(step), has: Size(step) * mib, line: step}, 0)
	}
	assert.Less(t, len(m.points), maxPoints)
	assert.Equal(t, steady, m.trend().shape)
}
