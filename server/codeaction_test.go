package server

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

const versionedEdits = `{"workspace":{"workspaceEdit":{"documentChanges":true}}}`

func TestQuickFixesAreVersionedWhereTheClientTakesThat(t *testing.T) {
	e := launch(t, lines)
	e.initialize(versionedEdits)
	e.open(script, 7, "x = leak\n")
	actions, err := e.codeActions(script, span(0, 5, 0, 5))
	require.NoError(t, err)
	require.Len(t, actions, 1)

	action := actions[0]
	assert.Equal(t, "Detach", action.Title)
	assert.Equal(t, protocol.CodeActionKindQuickFix, *action.Kind)
	assert.True(t, *action.IsPreferred)
	require.Len(t, action.Diagnostics, 1)
	assert.Equal(t, e.diagnosticsOf(script, 7)[0], action.Diagnostics[0], "the client knows the diagnostic by what was published")

	assert.Empty(t, action.Edit.Changes)
	require.Len(t, action.Edit.DocumentChanges, 1)
	change := action.Edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
	assert.Equal(t, script, change.TextDocument.URI)
	assert.Equal(t, int32(7), *change.TextDocument.Version)
	assert.Equal(t, []protocol.TextDocumentEditElement{&protocol.TextEdit{Range: span(0, 8, 0, 8), NewText: ".detach()"}}, change.Edits)
}

func TestQuickFixesArePlainChangesForOtherClients(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 7, "x = leak\n")
	actions, err := e.codeActions(script, span(0, 5, 0, 5))
	require.NoError(t, err)
	require.Len(t, actions, 1)
	assert.Empty(t, actions[0].Edit.DocumentChanges)
	assert.Equal(t, []protocol.TextEdit{{Range: span(0, 8, 0, 8), NewText: ".detach()"}}, actions[0].Edit.Changes[script])
}

func TestCodeActionsAreThoseOfTheSelection(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 1, "leak\nx = 1\nleak leak\n")
	tests := []struct {
		name  string
		r     protocol.Range
		only  []protocol.CodeActionKind
		kinds []protocol.CodeActionKind
	}{
		{"cursor before a finding", span(0, 0, 0, 0), nil, []protocol.CodeActionKind{"quickfix"}},
		{"cursor behind a finding", span(0, 4, 0, 4), nil, []protocol.CodeActionKind{"quickfix"}},
		{"cursor elsewhere", span(1, 2, 1, 2), nil, nil},
		{"all of the document", span(0, 0, 3, 0), nil, []protocol.CodeActionKind{"quickfix", "quickfix", "quickfix"}},
		{"quick fixes only", span(0, 0, 0, 0), []protocol.CodeActionKind{"quickfix"}, []protocol.CodeActionKind{"quickfix"}},
		{"refactorings only", span(0, 0, 0, 0), []protocol.CodeActionKind{"refactor"}, nil},
		{"a kind that only begins the same", span(0, 0, 0, 0), []protocol.CodeActionKind{"quick", "source.fix"}, nil},
		{"any kind", span(0, 0, 0, 0), []protocol.CodeActionKind{""}, []protocol.CodeActionKind{"quickfix", fixAllKind}},
		{"fix all", span(1, 0, 1, 0), []protocol.CodeActionKind{"source.fixAll"}, []protocol.CodeActionKind{fixAllKind}},
		{"fix all of ours", span(1, 0, 1, 0), []protocol.CodeActionKind{fixAllKind}, []protocol.CodeActionKind{fixAllKind}},
		{"fix all of others", span(1, 0, 1, 0), []protocol.CodeActionKind{"source.fixAll.other"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			actions, err := e.codeActions(script, test.r, test.only...)
			require.NoError(t, err)
			var kinds []protocol.CodeActionKind
			for _, a := range actions {
				kinds = append(kinds, *a.Kind)
			}
			assert.Equal(t, test.kinds, kinds)
		})
	}
}

func TestFixAllAppliesWhatIsSafeAndDoesNotCollide(t *testing.T) {
	at := func(start, end int, inserted string) rules.FileEdit {
		return rules.FileEdit{Path: "/project/train.py", Edit: text.Edit{Span: text.Span{Start: start, End: end}, New: inserted}}
	}
	fix := func(safety rules.Safety, edits ...rules.FileEdit) []rules.Fix {
		return []rules.Fix{{Title: "Fix", Safety: safety, Edits: edits}, {Title: "Or so", Safety: rules.Safe, Edits: edits}}
	}
	e := launch(t, checkerFunc(func(context.Context, rules.Source) (rules.Report, error) {
		return rules.Report{Findings: []rules.Finding{
			{Fixes: fix(rules.Safe, at(0, 1, "A"), at(4, 5, "E"))},
			{Fixes: fix(rules.Unsafe, at(1, 2, "B"))},
			{Fixes: fix(rules.Safe, at(2, 3, "C"), at(4, 6, "collides"))},
			{},
			{Fixes: fix(rules.Safe, at(7, 7, "H"))},
		}}, nil
	}))
	e.initialize(`{}`)
	e.open(script, 1, "abcdefg")
	actions, err := e.codeActions(script, span(0, 0, 0, 0), fixAllKind)
	require.NoError(t, err)
	require.Len(t, actions, 1)
	assert.Equal(t, []protocol.TextEdit{
		{Range: span(0, 0, 0, 1), NewText: "A"},
		{Range: span(0, 4, 0, 5), NewText: "E"},
		{Range: span(0, 7, 0, 7), NewText: "H"},
	}, actions[0].Edit.Changes[script])

	all, err := e.codeActions(script, span(0, 0, 0, 0))
	require.NoError(t, err)
	var preferred []bool
	for _, a := range all {
		preferred = append(preferred, *a.IsPreferred)
	}
	assert.Equal(t, []bool{true, false, false, false, true, false, true, false}, preferred, "only a safe first fix is preferred")
}

func TestFixesForFilesThatAreNotOpenAreRefused(t *testing.T) {
	other := rules.FileEdit{Path: "/project/meter.py", Edit: text.Edit{New: "import math\n"}}
	e := launch(t, checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
		if src.Path == other.Path {
			return rules.Report{}, nil
		}
		return rules.Report{Findings: []rules.Finding{{
			Evidence: []rules.Evidence{{Path: other.Path, Message: "kept there"}},
			Fixes:    []rules.Fix{{Title: "Fix there", Edits: []rules.FileEdit{other}}},
		}}}, nil
	}))
	e.initialize(`{"workspace":{"workspaceEdit":{"documentChanges":true}},"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`)
	e.open(script, 1, "x")
	actions, err := e.codeActions(script, span(0, 0, 0, 0))
	require.NoError(t, err)
	assert.Empty(t, actions, "the file may have changed")
	assert.Empty(t, e.diagnosticsOf(script, 1)[0].RelatedInformation, "the file cannot be read")

	e.open("file:///project/meter.py", 3, "y\n")
	e.change(script, 2, span(0, 0, 0, 0), " ")
	actions, err = e.codeActions(script, span(0, 0, 0, 0))
	require.NoError(t, err)
	require.Len(t, actions, 1)
	change := actions[0].Edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
	assert.Equal(t, uri.File(other.Path), change.TextDocument.URI)
	assert.Equal(t, int32(3), *change.TextDocument.Version)
	related := e.diagnosticsOf(script, 2)[0].RelatedInformation
	require.Len(t, related, 1)
	assert.Equal(t, uri.File(other.Path), related[0].Location.URI)
}

func TestCodeActionsOfAnOutdatedVersionAreRefused(t *testing.T) {
	started := make(chan struct{})
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if string(src.Text) == "leak\n" {
			close(started)
			<-ctx.Done()
			return rules.Report{}, ctx.Err()
		}
		return lines(ctx, src)
	}))
	e.initialize(`{}`)
	e.open(script, 1, "leak\n")
	<-started
	answer := make(chan error, 1)
	e.inFlight(func() {
		_, err := e.codeActions(script, span(0, 0, 0, 4))
		answer <- err
	})
	e.change(script, 2, span(0, 0, 0, 0), "x = ")
	requireCode(t, protocol.CodeContentModified, <-answer)

	actions, err := e.codeActions(script, span(0, 4, 0, 8))
	require.NoError(t, err)
	require.Len(t, actions, 1, "the request waits for the check of the version that the client has")
	assert.Equal(t, span(0, 8, 0, 8), actions[0].Edit.Changes[script][0].Range)
}

// The protocol library decodes a list of unions without copying its strings.
func TestDecodedResultsKeepTheirStrings(t *testing.T) {
	frame := []byte(`[{"title":"Detach","kind":"quickfix"}]`)
	var actions []protocol.CommandOrCodeAction
	require.NoError(t, codec{}.Unmarshal(frame, &actions))
	clear(frame) // the next message
	require.Len(t, actions, 1)
	assert.Equal(t, "Detach", actions[0].(*protocol.CodeAction).Title)
}
