package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
)

func TestRecord(t *testing.T) {
	before := record{PyTorch: "1.13", Rules: map[string]shown{"GL101": {Fired: 9, Silent: 4}, "GL102": {Fired: 2}}}
	path := filepath.Join(t.TempDir(), "proven.json")
	require.NoError(t, before.write(path))
	read, err := readRecord(path)
	require.NoError(t, err)
	assert.Equal(t, before, read)

	for _, tt := range []struct {
		name string
		now  map[string]shown
		less []string
		more bool
	}{
		{"the same", before.Rules, nil, false},
		{"more", map[string]shown{"GL101": {Fired: 10, Silent: 4}, "GL102": {Fired: 2}}, nil, true},
		{"a new rule", map[string]shown{"GL101": {Fired: 9, Silent: 4}, "GL102": {Fired: 2}, "GL103": {}}, nil, true},
		{"less", map[string]shown{"GL101": {Fired: 8, Silent: 3}, "GL102": {Fired: 3}},
			[]string{"GL101: 8 findings are proven, 9 were", "GL101: 3 silent ones are proven, 4 were"}, false},
		{"a rule is gone", map[string]shown{"GL101": {Fired: 9, Silent: 4}}, []string{"GL102: 0 findings are proven, 2 were"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			less, more := before.compare(record{Rules: tt.now})
			assert.Equal(t, tt.less, less)
			assert.Equal(t, tt.more, more)
		})
	}
}

func TestWhatIsRecordedIsThatOfFixtures(t *testing.T) {
	flat := &measurement{Growth: map[string]counts{"1": {}}}
	growing := measurement{Growth: map[string]counts{"1": {8, 964, 944}}}
	finding := func(code string) rules.Finding {
		return rules.Finding{Code: code, Keeps: rules.Graph, Memory: rules.Device}
	}
	fired := entry{Name: "train", Plain: &growing, Rest: flat, Cut: flat, Long: flat, Alone: map[string]measurement{"0": growing, "1": growing}}
	silent := entry{Name: "evaluate", Plain: flat, Rest: flat, Long: flat}
	script := entry{Name: "script", Plain: flat, Rest: flat, Long: flat}
	leaking := program{
		Name: "a.py", rule: "GL101", fixture: true, findings: []rules.Finding{finding("GL101"), finding("GL102")},
		Findings: []place{{ID: 0, Cut: "detach"}, {ID: 1, Cut: "detach"}},
	}
	example := leaking
	example.fixture = false
	run := answer{Places: []int{0, 1}, Entries: []entry{fired}}
	quiet := answer{Entries: []entry{silent, script}}
	r := summarize([]verdict{
		judge(leaking, run),
		judge(example, run),
		judge(program{Name: "silent_a.py", rule: "GL101", fixture: true, silent: true}, quiet),
		judge(program{Name: "doc.md#good-1", rule: "GL101", silent: true}, quiet),
	})
	assert.Equal(t, map[string]shown{"GL101": {Fired: 1, Silent: 1}}, r.shown)
	assert.Equal(t, 2, r.rules["GL102"].Proven, "those of other rules' fixtures count in the report")
}
