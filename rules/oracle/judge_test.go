package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/rules"
)

func TestDoubt(t *testing.T) {
	growing := func(c counts) measurement { return measurement{Growth: map[string]counts{"1": c}} }
	peak := func(c counts) measurement { return measurement{Peak: c} }
	graph := rules.Finding{Keeps: rules.Graph, Memory: rules.Device}
	onlyNodes := rules.Finding{Keeps: rules.Nodes, Memory: rules.Host}
	aPeak := rules.Finding{Keeps: rules.Graph, Memory: rules.Peak}
	for _, tt := range []struct {
		name           string
		finding        rules.Finding
		alone, without measurement
		holds          bool
	}{
		{"a graph with its activations", graph, growing(counts{8, 964, 944}), growing(counts{}), true},
		{"nodes are no graph", graph, growing(counts{8, 0, 0}), growing(counts{}), false},
		{"nodes", onlyNodes, growing(counts{8, 0, 0}), growing(counts{}), true},
		{"a factor that a product keeps", onlyNodes, growing(counts{9, 8, 8}), growing(counts{}), true},
		{"more than nodes", onlyNodes, growing(counts{8, 964, 944}), growing(counts{}), false},
		{"what grows without the place", graph, growing(counts{8, 964, 944}), growing(counts{8, 964, 944}), false},
		{"nothing", onlyNodes, growing(counts{}), growing(counts{}), false},
		{"values", rules.Finding{Keeps: rules.Values}, growing(counts{0, 0, 160}), growing(counts{}), true},
		{"a copy is smaller than what it is of", rules.Finding{Keeps: rules.Storage}, growing(counts{0, 0, 480}), growing(counts{0, 0, 160}), true},
		{"a program that fails", graph, measurement{Error: "ValueError: no"}, growing(counts{}), false},
		{"a higher peak", aPeak, peak(counts{9, 2048}), peak(counts{0, 0}), true},
		{"the same peak", aPeak, peak(counts{9, 2048}), peak(counts{9, 2048}), false},
		{"it raises", aPeak, measurement{Error: "RuntimeError: Trying to backward through the graph a second time"}, peak(counts{}), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			why := doubt(tt.finding, tt.alone, tt.without)
			assert.Equal(t, tt.holds, why == "", why)
		})
	}
}

func TestGrows(t *testing.T) {
	rate := map[string]counts{"1": {8, 964, 944}}
	assert.NotEmpty(t, grows(measurement{Growth: rate}))
	assert.Empty(t, grows(measurement{Growth: rate, Freed: 12000}), "a backward pass frees what was gathered for it")
	assert.Empty(t, grows(measurement{Growth: map[string]counts{"1": {0, 0, 500}}}), "values are no graph")
	assert.Empty(t, grows(measurement{}))
}

func TestJudgeTakesTheEntryThatShowsIt(t *testing.T) {
	p := program{
		Name:     "a.py",
		Findings: []place{{ID: 0, Start: [2]int{7, 8}, Cut: "detach"}},
		findings: []rules.Finding{{Code: "GL101", Severity: rules.Error, Keeps: rules.Graph, Memory: rules.Device}},
	}
	flat := &measurement{}
	entryWith := func(name string, c counts) entry {
		m := measurement{Growth: map[string]counts{"1": c}}
		return entry{Name: name, Plain: &m, Rest: flat, Cut: flat, Long: flat, Alone: map[string]measurement{"0": m}}
	}
	a := answer{Places: []int{0}, Entries: []entry{entryWith("step", counts{}), entryWith("train", counts{8, 964, 944})}}
	assert.Equal(t, proven, judge(p, a).findings[0].state)

	a.Entries = a.Entries[:1]
	v := judge(p, a)
	assert.Equal(t, refuted, v.findings[0].state)
	assert.Contains(t, v.findings[0].text, "a.py:7 GL101 error graph: step: each iteration adds 0 nodes")

	a.Entries = []entry{{Name: "step", Error: "NoStandIn"}}
	v = judge(p, a)
	assert.Equal(t, notReached, v.findings[0].state)
	assert.Contains(t, v.findings[0].text, "nothing that runs comes there")
	assert.Equal(t, []string{"a.py step: NoStandIn"}, v.notRun)
}

func TestJudgeTakesWhatOthersMake(t *testing.T) {
	p := program{
		Name:     "a.py",
		Findings: []place{{ID: 3, Cut: "detach"}},
		findings: []rules.Finding{{Code: "GL102", Keeps: rules.Graph, Memory: rules.Device}},
	}
	flat, growing := measurement{}, measurement{Growth: map[string]counts{"1": {8, 964, 944}}}
	e := entry{Plain: &growing, Rest: &flat, Cut: &flat, Long: &flat, Alone: map[string]measurement{"3": flat}}
	for _, tt := range []struct {
		name string
		only measurement // the place is cut
		want state
	}{
		{"a list of sums, each with the graphs that the sum keeps", flat, proven},
		{"a list of what another one keeps as well", growing, refuted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.Without = map[string]measurement{"3": tt.only}
			assert.Equal(t, tt.want, judge(p, answer{Places: []int{3}, Entries: []entry{e}}).findings[0].state)
		})
	}
}

func TestJudgeRest(t *testing.T) {
	growing := func(loops ...string) *measurement {
		m := &measurement{Growth: map[string]counts{}}
		for _, loop := range loops {
			m.Growth[loop] = counts{8, 964, 944}
		}
		return m
	}
	flat := &measurement{Growth: map[string]counts{"1": {}}}
	for _, tt := range []struct {
		name string
		e    entry
		want state
	}{
		{"nothing grows", entry{Plain: flat, Rest: flat, Long: flat}, proven},
		{"a graph grows", entry{Plain: growing("1"), Rest: growing("1"), Long: growing("1")}, refuted},
		{"and is said to", entry{Plain: growing("1"), Rest: growing("1"), Long: growing("1"), Grows: "one computation"}, proven},
		{"it is emptied later", entry{Plain: growing("1"), Rest: growing("1"), Long: flat}, proven},
		{"a loop that is too short to tell", entry{Plain: growing("2"), Rest: growing("2"), Long: flat}, notMeasured},
		{"no loop", entry{Plain: &measurement{}, Rest: &measurement{}, Long: &measurement{}}, notMeasured},
		{"it fails", entry{Plain: flat, Rest: flat, Long: &measurement{Error: "ValueError: no"}}, notMeasured},
		{"its callers empty it", entry{Plain: growing("calls"), Rest: growing("calls"), Long: growing("calls"), Called: true}, notMeasured},
		{"nobody empties it", entry{Plain: growing("calls"), Rest: growing("calls"), Long: growing("calls")}, refuted},
		{"its own loop grows", entry{Plain: growing("1", "calls"), Rest: growing("1", "calls"), Long: growing("1", "calls"), Called: true}, refuted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := judgeRest(tt.e)
			assert.Equal(t, tt.want, c.state, c.text)
			assert.Equal(t, tt.want == proven, c.text == "", "whatever is not shown has a reason")
		})
	}
}

func TestJudgeFix(t *testing.T) {
	before := &measurement{}
	e := entry{Name: "train", Plain: before, Long: before}
	for _, tt := range []struct {
		name  string
		after measurement
		want  state
	}{
		{"the same bits", measurement{Same: "bits", Long: before}, proven},
		{"close enough", measurement{Same: "close", Long: before}, proven},
		{"another number", measurement{Same: "printed: 1.0 before, 2.0 after", Long: before}, refuted},
		{"a new exception", measurement{Same: "bits", Error: "AttributeError: 'float' object has no attribute 'backward'", Long: before}, refuted},
		{"it still grows", measurement{Same: "bits", Long: &measurement{Growth: map[string]counts{"1": {1, 0, 0}}}}, refuted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, judgeFix(program{Name: "a.py"}, e, safeFixes, tt.after).state)
		})
	}
}

func TestJudgeSaysWhatIsNotThere(t *testing.T) {
	p := program{
		Name:     "a.py",
		Findings: []place{{ID: 2, Cut: "detach"}},
		findings: []rules.Finding{{Code: "GL101", Keeps: rules.Graph}},
	}
	a := answer{Places: []int{2}, Entries: []entry{
		{Name: "other", Error: "Needed: jax", Needs: "jax", Within: []int{1}},
		{Name: "train", Error: "Needed: accelerate", Needs: "accelerate", Within: []int{2}},
	}}
	c := judge(p, a).findings[0]
	assert.Equal(t, notMeasured, c.state)
	assert.Contains(t, c.text, "it needs accelerate")
}
