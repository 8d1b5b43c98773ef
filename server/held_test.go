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

«def second():
    total += loss2
    total += loss3
    x = (
»`)
	at := func(name string) rules.Finding {
		start := strings.Index(src, name)
		return rules.Finding{Code: "GL101", Message: name, Span: text.Span{Start: start, End: start + len(name)}}
	}
	held := []rules.Finding{at("loss1"), at("loss2"), at("loss3")}
	again := at("loss3")
	again.Message = "found again"
	again.Span.End++
	again.Fixes = []rules.Fix{{Title: "Detach", Safety: rules.Safe}}
	report := rules.Report{Findings: []rules.Finding{again}, Damaged: []text.Span{damage}}

	got := despiteDamage(report, held)
	require.Len(t, got, 2, "the first function was checked and has no finding any more")
	assert.Equal(t, "loss2", got[0].Message)
	assert.Equal(t, "found again", got[1].Message)
	assert.Equal(t, rules.Unsafe, got[1].Fixes[0].Safety, "not all uses were seen")
	assert.Len(t, report.Findings, 1, "the report itself does not change")
	assert.Equal(t, rules.Safe, report.Findings[0].Fixes[0].Safety)
}

// lines is a checker that finds every word "leak". A function whose text has an
// open "(" at the end of a line is damaged, and has no findings.
var lines = checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
	var report rules.Report
	at := 0
	for function := range strings.SplitAfterSeq(string(src.Text), "\n\n\n") {
		if strings.Contains(function, "(\n") || strings.HasSuffix(function, "(") {
			report.Damaged = append(report.Damaged, text.Span{Start: at, End: at + len(function)})
		} else {
			report.Findings = append(report.Findings, words(src.Path, function, at)...)
		}
		at += len(function)
	}
	return report, nil
})

// words are findings of every word "leak" in part, which starts at offset.
func words(path, part string, offset int) []rules.Finding {
	var findings []rules.Finding
	for at := 0; ; at += len("leak") {
		next := strings.Index(part[at:], "leak")
		if next < 0 {
			return findings
		}
		at += next
		span := text.Span{Start: offset + at, End: offset + at + len("leak")}
		findings = append(findings, rules.Finding{
			Path: path, Code: "GL101", Rule: "accumulate-with-graph", Severity: rules.Error, Span: span, Message: "leaks",
			Fixes: []rules.Fix{{Title: "Detach", Safety: rules.Safe, Edits: []rules.FileEdit{
				{Path: path, Edit: text.Edit{Span: text.Span{Start: span.End, End: span.End}, New: ".detach()"}},
			}}},
		})
	}
}

func TestFindingsDoNotFlickerWhileTyping(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 1, "def f():\n    leak\n\n\ndef g():\n    leak\n")
	require.Len(t, e.diagnosticsOf(script, 1), 2)

	e.change(script, 2, span(1, 8, 1, 8), "\n    print(")
	held := e.diagnosticsOf(script, 2)
	require.Len(t, held, 2)
	assert.Equal(t, span(1, 4, 1, 8), held[0].Range)
	assert.Empty(t, data(t, held[0]).Fixes)
	assert.Equal(t, span(6, 4, 6, 8), held[1].Range)
	assert.NotEmpty(t, data(t, held[1]).Fixes, "g is whole")
	actions, err := e.codeActions(script, span(1, 4, 1, 8))
	require.NoError(t, err)
	assert.Empty(t, fixesAmong(actions), "the fix was made for another text")

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
