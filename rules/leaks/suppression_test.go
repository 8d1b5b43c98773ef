package leaks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
	"github.com/graphleak/graphleak/rules/repair"
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
		{"in other letters", "# last", "# NOQA : gl101", 0},
		{"by name", "# last", "# graphleak: ignore[accumulate-with-graph]", 0},
		{"another rule behind a blank", "# last", "# graphleak: ignore [GL102]", 1},
		{"this rule in a bracket that is not closed", "# last", "# graphleak: ignore[GL101", 0},
		{"another rule in a bracket that is not closed", "# last", "# graphleak: ignore[GL102", 1},
		{"no rule at all", "# last", "# graphleak: ignore[]", 1},
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
			report, err := rules.NewChecker(leaks.All()...).Check(t.Context(), rules.Source{
				Path: "train.py", Text: []byte(src),
				Preferences: rules.Preferences{Off: map[string]bool{"GL001": true}},
			})
			require.NoError(t, err)
			assert.Len(t, report.Findings, tt.findings)
		})
	}
}

// TestUnusedSuppressions is about what is known of a comment, and what its fix
// leaves of the line.
func TestUnusedSuppressions(t *testing.T) {
	const program = "import torch\nx = 1  %s\nprint(x)\n"
	for _, tt := range []struct {
		name, comment string
		off           string
		files         rules.Files
		fixed         string // the line; empty for no finding
	}{
		{name: "all rules", comment: "# graphleak: ignore", fixed: "x = 1"},
		{name: "all rules, one of which is off", comment: "# graphleak: ignore", off: "GL303"},
		{name: "a rule", comment: "# graphleak: ignore[GL101]", fixed: "x = 1"},
		{name: "a rule that is off", comment: "# graphleak: ignore[GL101]", off: "GL101"},
		{name: "one of two that is on", comment: "# graphleak: ignore[GL101,GL102]", off: "GL101", fixed: "x = 1  # graphleak: ignore[GL101]"},
		{name: "a rule that does not exist", comment: "# graphleak: ignore[GL999]", fixed: "x = 1"},
		{name: "no rule at all", comment: "# graphleak: ignore[]", fixed: "x = 1"},
		{name: "one of two by name, that is off", comment: "# graphleak: ignore[accumulate-with-graph, GL102]", off: "GL101", fixed: "x = 1  # graphleak: ignore[accumulate-with-graph]"},
		{name: "the rule about comments", comment: "# graphleak: ignore[GL001]"},
		{name: "silenced by name", comment: "# graphleak: ignore[GL101]  # noqa: GL001"},
		{name: "with a reason", comment: "# graphleak: ignore[GL101] it is short", fixed: "x = 1"},
		{name: "behind another comment", comment: "# one  # graphleak: ignore", fixed: "x = 1  # one"},
		{name: "before another comment", comment: "# graphleak: ignore  # type: int", fixed: "x = 1  # type: int"},
		{name: "no blanks", comment: "#graphleak:ignore[GL101]", fixed: "x = 1"},
		{name: "noqa with codes of others", comment: "# noqa: E501, GL101 W291", fixed: "x = 1  # noqa: E501, W291"},
		{name: "noqa without any code", comment: "# noqa"},
		{name: "noqa of others", comment: "# noqa: GLX1, E501"},
		{name: "imports are not followed", comment: "# graphleak: ignore[GL101]", files: rules.Files{None: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checker := rules.NewChecker(leaks.All()...).With(tt.files)
			src := rules.Source{
				Path: "train.py", Text: fmt.Appendf(nil, program, tt.comment),
				Preferences: rules.Preferences{Off: map[string]bool{tt.off: true}},
			}
			report, err := checker.Check(t.Context(), src)
			require.NoError(t, err)
			if tt.fixed == "" {
				assert.Empty(t, report.Findings)
				return
			}
			require.Len(t, report.Findings, 1)
			assert.Equal(t, rules.Hint, report.Findings[0].Severity)
			outcome, err := repair.Apply(t.Context(), checker.Check, src, report, false)
			require.NoError(t, err)
			assert.Equal(t, "import torch\n"+tt.fixed+"\nprint(x)\n", string(outcome.Text))
			assert.Empty(t, outcome.Report.Findings)
		})
	}
	crlf := rules.Source{Path: "train.py", Text: []byte("x = 1  # graphleak: ignore\r\n# noqa: GL101\r\nprint(x)\r\n")}
	checker := rules.NewChecker(leaks.All()...)
	report, err := checker.Check(t.Context(), crlf)
	require.NoError(t, err)
	outcome, err := repair.Apply(t.Context(), checker.Check, crlf, report, false)
	require.NoError(t, err)
	assert.Equal(t, "x = 1\r\nprint(x)\r\n", string(outcome.Text))

	const long = 5_000 // statements in a loop, more than a called function may run
	unfinished := rules.Source{Path: "train.py", Text: []byte("import torch\n\ndef f(x):\n    for y in x:\n" +
		strings.Repeat("        y = y.relu() + torch.sin(y) * 2\n", long) + "    return x\n\nx = f(torch.ones(2))  # graphleak: ignore\n")}
	report, err = checker.Check(t.Context(), unfinished)
	require.NoError(t, err)
	assert.Empty(t, report.Findings, "what was not run may have findings")

	damaged := rules.Source{Path: "train.py", Text: []byte("import torch\nx = 1  # graphleak: ignore\nif (\n")}
	report, err = checker.Check(t.Context(), damaged)
	require.NoError(t, err)
	assert.Empty(t, report.Findings, "what could not be parsed may have findings")
}

func TestMessagesQuoteNoComments(t *testing.T) {
	const program = `import torch
model = torch.nn.Linear(2, 1)
total = 0.0
for x in loader:
    total += model(  # a long comment that says why this is so and not otherwise
        x,
        # another one
    ).mean()
print(float(total))
`
	report, err := rules.NewChecker(leaks.All()...).Check(t.Context(), rules.Source{Path: "train.py", Text: []byte(program)})
	require.NoError(t, err)
	require.Len(t, report.Findings, 1)
	said := report.Findings[0].Message
	for _, e := range report.Findings[0].Evidence {
		said += e.Message
	}
	for _, fix := range report.Findings[0].Fixes {
		said += fix.Title
	}
	assert.NotContains(t, said, "#")
	assert.Contains(t, said, "`model( x, ).mean()`")
}
