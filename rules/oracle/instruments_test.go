package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/rules"
)

func TestInstrumentShows(t *testing.T) {
	for _, tt := range []struct {
		name  string
		by    instrument
		o     observation
		shows bool
	}{
		{"all of it is there after the call", cleanups, observation{"named": 4096, "alive": 4096}, true},
		{"the call found it free", cleanups, observation{"named": 4096, "alive": 0}, false},
		{"a later del frees it", cleanups, observation{"named": 0, "alive": 0, "later": 4096}, true},
		{"the graphs of all steps stay", cleanups, observation{"grown": 964}, true},
		{"there while a model trains", loads, observation{"loads": 1, "training": 31400}, true},
		{"gone when a model trains", loads, observation{"loads": 1, "training": 0}, false},
		{"state of one step each", makes, observation{"made": 14, "repeated": 14, "lost": 7008}, true},
		{"made once", makes, observation{"made": 1, "repeated": 1, "lost": 7008}, false},
		{"made again and again, without state", makes, observation{"made": 14, "repeated": 14}, false},
		{"workers start each time", makes, observation{"made": 14, "repeated": 14, "started": 14}, true},
		{"objects are copied", workers, observation{"copied": 3.3e6, "samples": 10000}, true},
		{"what any process writes to", workers, observation{"copied": 6e5, "samples": 10000}, false},
		{"nothing was read", workers, observation{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.shows, tt.by.shows(tt.o)) })
	}
}

func TestJudgeSeen(t *testing.T) {
	p := program{
		Name:     "a.py",
		Findings: []place{{ID: 0, Instrument: loads}},
		findings: []rules.Finding{{Code: "GL303", Severity: rules.Hint, Keeps: rules.Values}},
	}
	run := func(o observation) entry {
		m := &measurement{Growth: map[string]counts{"1": {}}, Seen: map[string]observation{"0": o}}
		return entry{Name: "resume", Plain: m, Rest: m, Long: m}
	}
	read := run(observation{"loads": 1}) // a helper, which trains nothing
	for _, tt := range []struct {
		name    string
		entries []entry
		want    state
	}{
		{"one entry shows it", []entry{read, run(observation{"training": 4096})}, proven},
		{"none does", []entry{read, run(observation{"training": 0})}, refuted},
		{"nothing trains", []entry{read}, notReached},
		{"a sample needs something", []entry{{Name: "a", Plain: &measurement{Needs: map[string]string{"0": "PIL"}}, Rest: &measurement{}, Long: &measurement{}}}, notMeasured},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, judge(p, answer{Places: []int{0}, Entries: tt.entries}).findings[0].state)
		})
	}
}

func TestJudgeControls(t *testing.T) {
	seen := &measurement{Growth: map[string]counts{"1": {}}, Seen: map[string]observation{"1000": {"training": 4096}}}
	e := entry{Name: "restored", Plain: seen, Rest: seen, Long: seen}
	silent := program{Name: "a.py", silent: true, Controls: loads}
	assert.Equal(t, refuted, judge(silent, answer{Entries: []entry{e}}).silent[0].state)
	e.Meant = "the optimizer goes on with it"
	assert.Equal(t, proven, judge(silent, answer{Entries: []entry{e}}).silent[0].state)
}
