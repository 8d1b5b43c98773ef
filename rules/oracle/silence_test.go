package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/rules"
)

func TestSubjects(t *testing.T) {
	got := subjects([]program{
		{rule: "GL101", findings: []rules.Finding{
			{Code: "GL101", Keeps: rules.Graph, Memory: rules.Device},
			{Code: "GL301", Keeps: rules.Graph, Memory: rules.Peak},
		}},
		{rule: "GL201", findings: []rules.Finding{{Code: "GL201", Keeps: rules.Values, Memory: rules.Device}}},
		{rule: "GL301", findings: []rules.Finding{{Code: "GL301", Keeps: rules.Graph, Memory: rules.Peak}}},
	})
	assert.Equal(t, map[string]subject{"GL101": {}, "GL201": {values: true}, "GL301": {peak: true}}, got)
}

func TestJudgeSilence(t *testing.T) {
	tensors := &measurement{Growth: map[string]counts{"1": {0, 0, 160}}}
	flat := &measurement{Growth: map[string]counts{"1": {}}}
	recorded := &measurement{Peak: counts{9, 2048}}
	used := &measurement{Peak: counts{9, 2048}, Freed: 2048}
	for _, tt := range []struct {
		name  string
		about subject
		e     entry
		want  state
	}{
		{"values are no matter of graphs", subject{}, entry{Plain: tensors, Long: tensors}, proven},
		{"values add up", subject{values: true}, entry{Plain: tensors, Long: tensors}, notMeasured},
		{"until the list is full", subject{values: true}, entry{Plain: tensors, Long: flat}, proven},
		{"in a loop that is too short to tell", subject{values: true}, entry{Plain: tensors, Long: &measurement{}}, notMeasured},
		{"nothing is recorded", subject{peak: true}, entry{Plain: flat, Long: flat}, proven},
		{"what is recorded is used", subject{peak: true}, entry{Plain: used, Long: flat}, proven},
		{"nobody uses it", subject{peak: true}, entry{Plain: recorded, Long: flat}, notMeasured},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := judgeSilence(tt.about, tt.e)
			assert.Equal(t, tt.want, c.state, c.text)
		})
	}
}
