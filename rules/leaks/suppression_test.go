package leaks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// TestSuppression puts comments on a statement that has a finding.
func TestSuppression(t *testing.T) {
	const program = `import torch
from torch import nn
# top
model = nn.Linear(2, 1)
total = 0.0
for x in loader:
    total += model(  # first
        x
    ).mean()  # last
    # after
print(float(total))
`
	for _, tt := range []struct {
		name, at, comment string
		findings          int
	}{
		{"no comment", "", "", 1},
		{"all rules", "# first", "# graphleak: ignore", 0},
		{"on the last line of the statement", "# last", "# graphleak: ignore", 0},
		{"this rule", "# first", "# graphleak: ignore[GL101]", 0},
		{"this rule among others", "# first", "# graphleak: ignore[GL102, GL101]", 0},
		{"another rule", "# first", "# graphleak: ignore[GL102]", 1},
		{"the form of other tools", "# last", "# noqa: GL101", 0},
		{"with codes of other tools", "# last", "# noqa: E501, GL101", 0},
		{"for other tools only", "# last", "# noqa: E501", 1},
		{"behind another comment", "# last", "# sum of losses  # graphleak: ignore[GL101]", 0},
		{"on another line", "# after", "# graphleak: ignore", 1},
		{"the file", "# top", "# graphleak: skip-file", 0},
		{"in a string", "# top", "note = '# graphleak: skip-file'", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := program
			if tt.at != "" {
				src = strings.Replace(program, tt.at, tt.comment, 1)
			}
			report, err := rules.NewChecker(leaks.All()...).Check(t.Context(), rules.Source{Path: "train.py", Text: []byte(src)})
			require.NoError(t, err)
			assert.Len(t, report.Findings, tt.findings)
		})
	}
}
