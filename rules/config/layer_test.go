package config

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/rules"
)

func TestPreferences(t *testing.T) {
	all := []*rules.Rule{{Code: "GL101", Name: "sum"}, {Code: "GL102", Name: "list"}, {Code: "GL201", Name: "pile"}}
	for _, tt := range []struct {
		name    string
		layers  []Layer
		ignored []Selector
		off     []string
	}{
		{"nothing is said", nil, nil, nil},
		{"some are selected", []Layer{{Select: []Selector{"GL1"}}}, nil, []string{"GL201"}},
		{"none is selected", []Layer{{Select: []Selector{}}}, nil, []string{"GL101", "GL102", "GL201"}},
		{"by name", []Layer{{Select: []Selector{"pile"}}}, nil, []string{"GL101", "GL102"}},
		{"one is ignored", []Layer{{Ignore: []Selector{"GL102"}}}, nil, []string{"GL102"}},
		{"one of those selected is ignored", []Layer{{Select: []Selector{"GL1"}, Ignore: []Selector{"list"}}}, nil, []string{"GL102", "GL201"}},
		{"the closer description wins", []Layer{{Select: []Selector{"GL", "GL102"}, Ignore: []Selector{"GL1"}}}, nil, []string{"GL101"}},
		{"ignored as closely as selected", []Layer{{Select: []Selector{"GL1"}, Ignore: []Selector{"GL1"}}}, nil, []string{"GL101", "GL102", "GL201"}},
		{"a later layer selects anew", []Layer{{Ignore: []Selector{"GL101"}}, {Select: []Selector{"GL101"}}}, nil, []string{"GL102", "GL201"}},
		{"a later layer ignores more", []Layer{{Select: []Selector{"GL1"}}, {Ignore: []Selector{"GL101"}}}, nil, []string{"GL101", "GL201"}},
		{"in some files", []Layer{{}, {Select: []Selector{"GL101", "GL2"}}}, []Selector{"GL2"}, []string{"GL102", "GL201"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var off []string
			p := preferences(all, tt.layers, tt.ignored)
			for _, r := range all {
				if p.Off[r.Code] {
					off = append(off, r.Code)
				}
			}
			assert.Equal(t, tt.off, off)
		})
	}
}

func TestSeverities(t *testing.T) {
	all := []*rules.Rule{{Code: "GL101", Name: "sum"}, {Code: "GL102", Name: "list"}, {Code: "GL201", Name: "pile"}}
	layers := []Layer{
		{Severity: map[Selector]rules.Severity{"GL1": rules.Hint, "list": rules.Error}},
		{Severity: map[Selector]rules.Severity{"GL101": rules.Warning}},
	}
	assert.Equal(t, map[string]rules.Severity{"GL101": rules.Warning, "GL102": rules.Error}, preferences(all, layers, nil).Severity)
}
