package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"20.00 MiB": 20 * mib, "0 bytes": 0, "256 bytes": 256, "1.50 GiB": 1.5 * gib, "5.83 GB": 5.83 * gib, "2 KB": 2 * kib,
		"1,024.00 MiB": gib, "1.00\nGiB": gib, "3 TiB": 3 * tib,
	} {
		got, ok := parseSize(text)
		assert.True(t, ok, text)
		assert.InDelta(t, float64(want), float64(got), 1, text)
	}
	for _, text := range []string{"", "MiB", "1.2.3 GiB", "-1 GiB", "5 parsecs"} {
		_, ok := parseSize(text)
		assert.False(t, ok, text)
	}
	for want, size := range map[string]Size{
		"0 bytes": 0, "512 bytes": 512, "1.50 KiB": 1536, "20.00 MiB": 20 * mib, "23.65 GiB": 23.65 * gib, "1024.00 GiB": tib,
		"100.00 TiB": 100 * tib, "1152.00 PiB": 1152 * pib,
	} {
		assert.Equal(t, want, size.String())
	}
}

// gibs makes fields of a message: name=GiB.
func gibs(fields string) map[string]string {
	m := make(map[string]string)
	for _, f := range strings.Fields(fields) {
		name, value, _ := strings.Cut(f, "=")
		m[name] = value + " GiB"
	}
	return m
}

func TestSelfIsFoundAmongTheListedProcesses(t *testing.T) {
	for name, c := range map[string]struct {
		fields    string
		processes string
		self      Size
		foreign   Size
	}{
		"named by the message":        {"total=24 free=1 allocated=10 unallocated=1 self=11.5", "Process 7 has 11.40 GiB memory in use.", 11.5 * gib, 11.4 * gib},
		"alone in a container":        {"total=24 free=0.1 allocated=22 unallocated=1", "Process 7 has 23.80 GiB memory in use.", 23.8 * gib, 0},
		"one of two":                  {"total=24 free=0.1 allocated=10 unallocated=1", "Process 7 has 12.00 GiB memory in use. Process 9 has 11.60 GiB memory in use.", 11.6 * gib, 12 * gib},
		"another one":                 {"total=24 free=0.1 allocated=3 unallocated=1", "Process 7 has 19.00 GiB memory in use.", unsaid, 19 * gib},
		"with a large context":        {"total=80 free=0.1 allocated=70 unallocated=1", "Process 7 has 74.00 GiB memory in use.", 74 * gib, 0},
		"listed twice":                {"total=24 free=0.1 allocated=3 unallocated=1", "Process 7 has 9.00 GiB memory in use. Process 7 has 9.00 GiB memory in use.", unsaid, 9 * gib},
		"a driver that does not know": {"total=24 free=0.1 allocated=22 unallocated=1", "Process 7 has 17179869184.00 GiB memory in use.", unsaid, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fields := gibs(c.fields)
			fields["processes"] = c.processes
			m := readOOM(fields)
			assert.InDelta(t, float64(c.self), float64(m.self), 1)
			assert.InDelta(t, float64(c.foreign), float64(m.foreign()), 1)
		})
	}
}

func TestCachedOfTheFirstVersionsIsBeyondAllocated(t *testing.T) {
	assert.InDelta(t, float64(0.5*gib), float64(readOOM(gibs("total=16 allocated=14 cached=0.5")).unallocated), 1)
	assert.InDelta(t, float64(gib), float64(readOOM(gibs("total=16 allocated=14 cached=15")).unallocated), 1, "the sum cannot exceed the device")
	assert.InDelta(t, float64(0.5*gib), float64(readOOM(gibs("total=16 allocated=14 reserved=14.5")).unallocated), 1)
	assert.Equal(t, Size(0), readOOM(gibs("total=16 allocated=14.5 reserved=14")).unallocated, "rounding")
}

func suspect(grows Grows, onStack bool) []Suspect {
	s := Suspect{Path: "train.py", Code: "GL101", Grows: grows, onStack: onStack}
	s.Range.Start.Line = 7
	return []Suspect{s}
}

// What the course of the run and the code add to the numbers.
func TestContextDecidesWhatNumbersLeaveOpen(t *testing.T) {
	const full = "total=24 free=0.01 allocated=23 unallocated=0.01 request=0.02"
	at := func(step int) Step { return Step{Number: step, Epoch: -1} }
	unknown := at(-1)
	rising := func(full, failed float64) *course {
		m := &series{seriesKey: seriesKey{of: allocatedMemory}, unit: "step"}
		return &course{trend: &trend{series: m, shape: steady, slope: float64(10 * mib)}, full: full, failed: failed}
	}
	level := rising(-1, 1000)
	level.shape = flat
	leak := rising(-1, -1)
	for name, c := range map[string]struct {
		fields   string
		step     Step
		suspects []Suspect
		course   *course
		frames   []Frame
		failure  string
		conf     Confidence
	}{
		"nothing known":                {full, unknown, nil, nil, nil, "undetermined", Low},
		"first step":                   {full, at(0), nil, nil, nil, "too-large", High},
		"a few steps":                  {full, at(5), nil, nil, nil, "undetermined", Low},
		"late":                         {full, at(500), nil, nil, nil, "undetermined", Low},
		"suspect on the stack":         {full, at(500), suspect(DeviceGraph, true), nil, nil, "graph-retained", Medium},
		"suspect, step unknown":        {full, unknown, suspect(DeviceGraph, true), nil, nil, "graph-retained", Medium},
		"suspect keeps values":         {full, at(500), suspect(DeviceValues, true), nil, nil, "graph-retained", Medium},
		"suspect off the stack":        {full, at(500), suspect(DeviceGraph, false), nil, nil, "graph-retained", Low},
		"suspect in the first step":    {full, at(0), suspect(DeviceGraph, true), nil, nil, "too-large", High},
		"suspect keeps nodes only":     {full, at(500), suspect(HostMemory, true), nil, nil, "undetermined", Low},
		"suspect and another process":  {"total=24 free=0.01 allocated=4 unallocated=0.01 request=0.02 self=5", at(500), suspect(DeviceGraph, true), nil, nil, "other-process", Medium},
		"suspect and impossible":       {"total=24 free=1 allocated=4 unallocated=0.01 request=99", at(500), suspect(DeviceGraph, true), nil, nil, "impossible-request", High},
		"suspect and fragmentation":    {"total=24 free=0.01 allocated=13 unallocated=9.5 request=1 self=23.9", at(500), suspect(DeviceGraph, true), nil, nil, "fragmentation", Medium},
		"growth":                       {full, at(1000), nil, leak, nil, "graph-retained", Medium},
		"growth that fits the step":    {full, at(1000), nil, rising(1100, 1000), nil, "graph-retained", High},
		"growth that misses the step":  {full, at(300), nil, rising(1100, 300), nil, "graph-retained", Medium},
		"flat":                         {full, at(1000), nil, level, nil, "too-large", Medium},
		"flat in spite of a suspect":   {full, at(1000), suspect(DeviceGraph, true), level, nil, "too-large", Medium},
		"growth and suspect":           {full, at(1000), suspect(DeviceGraph, true), leak, nil, "graph-retained", High},
		"big request late":             {"total=24 free=1 allocated=16 unallocated=0.1 request=6 self=22", at(500), nil, nil, nil, "too-large", Medium},
		"big request late and suspect": {"total=24 free=1 allocated=16 unallocated=0.1 request=6 self=22", at(500), suspect(DeviceGraph, true), nil, nil, "graph-retained", Medium},
		"evaluation":                   {full, at(500), nil, nil, []Frame{{Path: "a.py", Func: "evaluate"}}, "eval-accumulation", Low},
		"evaluation without no_grad":   {full, at(500), []Suspect{{Evaluation: true, onStack: true}}, nil, []Frame{{Path: "a.py", Func: "evaluate"}}, "eval-accumulation", Medium},
		"predictions are joined":       {full, at(500), nil, nil, []Frame{{Path: "/lib/python3/site-packages/t.py", Func: "nested_concat"}}, "eval-accumulation", Medium},
		"weights":                      {full, unknown, suspect(DeviceGraph, true), nil, []Frame{{Path: "a.py", Func: "<module>", Code: "model.to(device)"}}, "too-large", Medium},
		"no capacity":                  {"request=1", unknown, nil, nil, nil, "undetermined", Low},
		"no numbers, first step":       {"", at(1), nil, nil, nil, "too-large", Low},
		"no numbers, suspect, late":    {"", at(500), suspect(DeviceGraph, true), nil, nil, "graph-retained", Medium},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Event{Page: &Page{ID: cudaOOM + "undetermined"}, Fields: gibs(c.fields), Step: c.step}
			if c.frames != nil {
				e.Traceback = &Traceback{Frames: c.frames}
			}
			v := refineCUDAOOM(&inquiry{event: e, suspects: c.suspects, course: c.course})
			assert.Equal(t, cudaOOM+c.failure, v.failure, v.cause)
			assert.Equal(t, c.conf, v.confidence, v.cause)
			assert.NotEmpty(t, v.cause)
		})
	}
}

func TestPartsOfTheMemoryAddUpToTheDevice(t *testing.T) {
	sizes := func(fields, processes string) (map[string]float64, *Memory) {
		f := gibs(fields)
		f["processes"] = processes
		m := readOOM(f)
		memory := m.parts()
		got := make(map[string]float64)
		if memory != nil {
			for _, p := range memory.Parts {
				got[p.Kind] += p.Bytes / float64(gib)
			}
		}
		return got, memory
	}
	got, memory := sizes("request=2 total=80 free=1 allocated=70 unallocated=3 self=75 allowed=76", "Process 7 has 3.00 GiB memory in use.")
	assert.InDeltaMapValues(t, map[string]float64{"live": 70, "cached": 3, "own": 2, "other": 3, "unknown": 1, "free": 1}, got, 1e-6)
	assert.InDelta(t, float64(80*gib), *memory.Capacity, 1)
	assert.InDelta(t, float64(2*gib), *memory.Requested, 1)
	assert.InDelta(t, float64(76*gib), *memory.Limit, 1)

	got, _ = sizes("total=80 free=1 allocated=70 unallocated=3", "")
	assert.InDeltaMapValues(t, map[string]float64{"live": 70, "cached": 3, "unknown": 6, "free": 1}, got, 1e-6)

	got, memory = sizes("allocated=9", "")
	assert.InDeltaMapValues(t, map[string]float64{"live": 9}, got, 1e-6)
	assert.Nil(t, memory.Capacity)

	_, memory = sizes("total=8 free=1 allocated=12 unallocated=0", "")
	assert.Nil(t, memory, "more than there is")
	_, memory = sizes("total=8", "")
	assert.Nil(t, memory)
}
