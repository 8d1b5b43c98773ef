package server

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// between is the span of what stands between « and » in marked, and marked
// without the two.
func between(t testing.TB, marked string) (src string, s text.Span) {
	t.Helper()
	before, rest, ok := strings.Cut(marked, "«")
	require.True(t, ok, marked)
	inside, after, ok := strings.Cut(rest, "»")
	require.True(t, ok, marked)
	return before + inside + after, text.Span{Start: len(before), End: len(before) + len(inside)}
}

func TestEnclosingBlockIsTheFunctionOrTheTopLevelStatement(t *testing.T) {
	tests := []struct{ name, src, first, last string }{
		{"function", `
import torch

def before():
    pass

def train():
    x = 1
    for batch in loader:
        y = «(»
    return x

def after():
    pass
`, "def train():", "    return x"},
		{"async function", `
async def train():
    x = «(»
    return x
y = 1
`, "async def train():", "    return x"},
		{"method, not the class", `
class Trainer:
    def before(self):
        pass

    def step(self):
        x = «(»

    def after(self):
        pass
`, "    def step(self):", "        x = ("},
		{"outermost of nested functions", `
def train():
    def closure():
        x = «(»
    step(closure)
x = 1
`, "def train():", "    step(closure)"},
		{"function with a head of several lines", `
def train(
    loader,
):
# a comment at the margin
    x = f(
        1,
)
    y = «(»
z = 3
`, "def train(", "    y = ("},
		{"loop of a script", `
x = 1
for batch in loader:
    loss = model(batch)
    total += «loss.»

print(total)
`, "for batch in loader:", "    total += loss."},
		{"loop without a colon", `
x = 1
for batch in «loader»
    loss = model(batch)
    total += loss
print(total)
`, "for batch in loader", "    total += loss"},
		{"head of a function", `
def train(«self,»
    loss = model(batch)
    total += loss

def after():
    pass
`, "def train(self,", "    total += loss"},
		{"statement of a script", `
x = 1
y = «(»
z = 3
`, "y = (", "y = ("},
		{"blank line", `
def train():
    x = 1
«
»
    y = 2
z = 3
`, "def train():", "    y = 2"},
		{"several functions", `
def first():
    x = «(

def second():
    y = »2
    z = 3
w = 4
`, "def first():", "    z = 3"},
		{"all of it", "«x = (»", "x = (", "x = ("},
		{"nothing", "«»", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src, damage := between(t, test.src)
			block := enclosingBlock([]byte(src), damage)
			lines := strings.Split(strings.TrimRight(src[block.Start:block.End], "\n"), "\n")
			assert.Equal(t, test.first, lines[0])
			assert.Equal(t, test.last, lines[len(lines)-1])
		})
	}
}

func TestFindingsMoveWithTheEdits(t *testing.T) {
	const src = "total += loss\nother += loss\n"
	finding := rules.Finding{
		Path: "a.py", Code: "GL101", Span: text.Span{Start: 9, End: 13},
		Evidence: []rules.Evidence{
			{Path: "a.py", Span: text.Span{Start: 0, End: 13}, Message: "kept here"},
			{Path: "b.py", Span: text.Span{Start: 0, End: 13}, Message: "made there"},
		},
		Fixes: []rules.Fix{{Title: "Detach"}},
	}
	shift := func(start, end int, inserted string) []rules.Finding {
		return shiftFindings([]rules.Finding{finding}, "a.py", text.Edit{Span: text.Span{Start: start, End: end}, New: inserted})
	}

	moved := shift(0, 0, "# a comment\n")
	require.Len(t, moved, 1)
	assert.Equal(t, text.Span{Start: 21, End: 25}, moved[0].Span)
	assert.Equal(t, text.Span{Start: 12, End: 25}, moved[0].Evidence[0].Span)
	assert.Equal(t, text.Span{Start: 0, End: 13}, moved[0].Evidence[1].Span, "another file was not edited")
	assert.Empty(t, moved[0].Fixes, "the edits of the fix are for another text")
	assert.Equal(t, text.Span{Start: 0, End: 13}, finding.Evidence[0].Span, "the finding itself does not change")
	assert.NotEmpty(t, finding.Fixes)

	behind := shift(len(src), len(src), "x")
	require.Len(t, behind, 1)
	assert.Equal(t, finding.Span, behind[0].Span)

	appended := shift(13, 13, ".")
	require.Len(t, appended, 1, "what is typed behind it leaves the finding alone")
	assert.Equal(t, finding.Span, appended[0].Span)

	assert.Empty(t, shift(10, 11, "0"), "its text has changed")
	assert.Empty(t, shift(0, len(src), ""), "its text is gone")
}

func TestHeldFindingsStayOnlyWhereTheTextIsDamaged(t *testing.T) {
	src, damage := between(t, `
def first():
    total += loss1

def second():
    total += loss2
    total += loss3
    x = «(»
`)
	at := func(name string) rules.Finding {
		start := strings.Index(src, name)
		return rules.Finding{Code: "GL101", Message: name, Span: text.Span{Start: start, End: start + len(name)}}
	}
	held := []rules.Finding{at("loss1"), at("loss2"), at("loss3")}
	again := at("loss3")
	again.Message = "found again"
	again.Span.End++
	report := rules.Report{Findings: []rules.Finding{again}, Damaged: []text.Span{damage, damage}}

	got := withHeld(report, held, []byte(src))
	require.Len(t, got, 2, "the first function was checked and has no finding any more")
	assert.Equal(t, "loss2", got[0].Message)
	assert.Equal(t, "found again", got[1].Message)
	assert.Len(t, report.Findings, 1, "the report itself does not change")
}

// lines is a checker that finds every word "leak". A line with an open "(" is
// damaged, and hides what comes before it.
var lines = checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
	var report rules.Report
	s, base := string(src.Text), 0
	for line := range strings.Lines(s) {
		if open := strings.Index(line, "("); open >= 0 && !strings.Contains(line, ")") {
			report.Damaged = append(report.Damaged, text.Span{Start: base + open, End: base + len(line)})
		}
		base += len(line)
	}
	visible := 0
	if n := len(report.Damaged); n > 0 {
		visible = report.Damaged[n-1].End
	}
	for at := 0; ; at += len("leak") {
		next := strings.Index(s[at:], "leak")
		if next < 0 {
			return report, nil
		}
		at += next
		if at < visible {
			continue
		}
		span := text.Span{Start: at, End: at + len("leak")}
		report.Findings = append(report.Findings, rules.Finding{
			Path: src.Path, Code: "GL101", Rule: "accumulate-with-graph", Severity: rules.Error, Span: span, Message: "leaks",
			Fixes: []rules.Fix{{Title: "Detach", Safety: rules.Safe, Edits: []rules.FileEdit{
				{Path: src.Path, Edit: text.Edit{Span: text.Span{Start: span.End, End: span.End}, New: ".detach()"}},
			}}},
		})
	}
})

func TestFindingsDoNotFlickerWhileTyping(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 1, "def f():\n    leak\n\n\ndef g():\n    leak\n")
	require.Len(t, e.diagnosticsOf(script, 1), 2)

	e.change(script, 2, span(2, 0, 2, 0), "    print(")
	held := e.diagnosticsOf(script, 2)
	require.Len(t, held, 2)
	assert.Equal(t, span(1, 4, 1, 8), held[0].Range)
	assert.Empty(t, data(t, held[0]).Fixes)
	assert.Equal(t, span(5, 4, 5, 8), held[1].Range)
	assert.NotEmpty(t, data(t, held[1]).Fixes, "g is whole")
	actions, err := e.codeActions(script, span(1, 4, 1, 8))
	require.NoError(t, err)
	assert.Empty(t, actions, "the fix was made for another text")

	e.change(script, 3, span(1, 0, 1, 0), "    # it leaks\n")
	moved := e.diagnosticsOf(script, 3)
	require.Len(t, moved, 2)
	assert.Equal(t, span(2, 4, 2, 8), moved[0].Range)

	e.change(script, 4, span(3, 10, 3, 10), "1)")
	whole := e.diagnosticsOf(script, 4)
	require.Len(t, whole, 3)
	assert.NotEmpty(t, data(t, whole[0]).Fixes)
}

func TestHeldFindingsSurviveEditsThatComeFasterThanChecks(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 1, "def f():\n    leak\n")
	require.Len(t, e.diagnosticsOf(script, 1), 1)
	version := int32(1)
	for _, key := range "\n    print(" {
		version++
		e.changes(script, version, &protocol.TextDocumentContentChangePartial{Range: span(99, 0, 99, 0), Text: string(key)})
	}
	held := e.diagnosticsOf(script, version)
	require.Len(t, held, 1)
	assert.Equal(t, span(1, 4, 1, 8), held[0].Range)
}

func TestHeldFindingsSurviveClientsThatSendWholeTexts(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 1, "def f():\n    leak\n")
	require.Len(t, e.diagnosticsOf(script, 1), 1)
	e.changes(script, 2, &protocol.TextDocumentContentChangeWholeDocument{Text: "def f():\n    leak\n    print(\n"})
	held := e.diagnosticsOf(script, 2)
	require.Len(t, held, 1)
	assert.Equal(t, span(1, 4, 1, 8), held[0].Range)
}
