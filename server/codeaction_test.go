package server

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// fixesAmong are the actions that are fixes of single findings.
func fixesAmong(actions []*protocol.CodeAction) []*protocol.CodeAction {
	return slices.DeleteFunc(actions, func(a *protocol.CodeAction) bool { return a.IsPreferred == nil })
}

// titles are what the client shows of actions.
func titles(actions []*protocol.CodeAction) []string {
	var out []string
	for _, a := range actions {
		out = append(out, a.Title)
	}
	return out
}

const versionedEdits = `{"workspace":{"workspaceEdit":{"documentChanges":true}}}`

func TestQuickFixesAreVersionedWhereTheClientTakesThat(t *testing.T) {
	e := launch(t, lines)
	e.initialize(versionedEdits)
	e.open(script, 7, "x = leak\n")
	actions, err := e.codeActions(script, span(0, 5, 0, 5))
	require.NoError(t, err)
	actions = fixesAmong(actions)
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
	actions = fixesAmong(actions)
	require.Len(t, actions, 1)
	assert.Empty(t, actions[0].Edit.DocumentChanges)
	assert.Equal(t, []protocol.TextEdit{{Range: span(0, 8, 0, 8), NewText: ".detach()"}}, actions[0].Edit.Changes[script])
}

func TestCodeActionsAreThoseOfTheSelection(t *testing.T) {
	e := launch(t, lines)
	e.initialize(`{}`)
	e.open(script, 1, "leak\nx = 1\nleak leak\n")
	const all = "Apply all safe fixes of Graphleak"
	around := func(findings int) []string { // the actions where the cursor is at some findings
		return append(slices.Repeat([]string{"Detach"}, findings),
			"Apply all safe fixes of GL101 in this file", "Ignore GL101 on this line", "Ignore all findings in this file")
	}
	tests := []struct {
		name string
		r    protocol.Range
		only []protocol.CodeActionKind
		want []string
	}{
		{"cursor before a finding", span(0, 0, 0, 0), nil, around(1)},
		{"cursor behind a finding", span(0, 4, 0, 4), nil, around(1)},
		{"cursor elsewhere", span(1, 2, 1, 2), nil, nil},
		{"all of the document", span(0, 0, 3, 0), nil, slices.Concat(around(3)[:5], []string{"Ignore GL101 on this line"}, around(3)[5:])},
		{"quick fixes only", span(0, 0, 0, 0), []protocol.CodeActionKind{"quickfix"}, around(1)},
		{"refactorings only", span(0, 0, 0, 0), []protocol.CodeActionKind{"refactor"}, nil},
		{"a kind that only begins the same", span(0, 0, 0, 0), []protocol.CodeActionKind{"quick", "source.fix"}, nil},
		{"any kind", span(0, 0, 0, 0), []protocol.CodeActionKind{""}, append(around(1), all)},
		{"fix all", span(1, 0, 1, 0), []protocol.CodeActionKind{"source.fixAll"}, []string{all}},
		{"fix all of ours", span(1, 0, 1, 0), []protocol.CodeActionKind{fixAllKind}, []string{all}},
		{"fix all of others", span(1, 0, 1, 0), []protocol.CodeActionKind{"source.fixAll.other"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			actions, err := e.codeActions(script, test.r, test.only...)
			require.NoError(t, err)
			assert.Equal(t, test.want, titles(actions))
			for _, a := range actions {
				assert.Equal(t, a.Title == all, *a.Kind == fixAllKind)
			}
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
	all = fixesAmong(all)
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
	assert.Empty(t, fixesAmong(actions), "the file may have changed")
	assert.Empty(t, e.diagnosticsOf(script, 1)[0].RelatedInformation, "the file cannot be read")

	e.open("file:///project/meter.py", 3, "y\n")
	e.change(script, 2, span(0, 0, 0, 0), " ")
	actions, err = e.codeActions(script, span(0, 0, 0, 0))
	require.NoError(t, err)
	actions = fixesAmong(actions)
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
	actions = fixesAmong(actions)
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

const resolving = `{"workspace":{"workspaceEdit":{"documentChanges":true}},"textDocument":{"codeAction":{"dataSupport":true,"resolveSupport":{"properties":["edit"]}}}}`

func TestEditsAreComputedWhenTheClientNeedsThem(t *testing.T) {
	e := launch(t, lines)
	e.initialize(resolving)
	e.open(script, 7, "x = leak\n")
	actions, err := e.codeActions(script, span(0, 5, 0, 5))
	require.NoError(t, err)
	require.Len(t, actions, 3)
	var edits []string
	for _, action := range actions {
		assert.Nil(t, action.Edit)
		require.NotEmpty(t, action.Data)
		resolved, err := e.server.CodeActionResolve(e.context(), action)
		require.NoError(t, err)
		require.NotNil(t, resolved.Edit)
		change := resolved.Edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
		edits = append(edits, change.Edits[0].(*protocol.TextEdit).NewText)
		assert.Equal(t, action.Title, resolved.Title)
	}
	assert.Equal(t, []string{".detach()", "  # graphleak: ignore[GL101]", "# graphleak: skip-file\n"}, edits)

	for name, data := range map[string]string{"another version": `{"uri":"file:///project/train.py","version":6}`, "no such action": `{"uri":"file:///project/train.py","version":7,"index":99}`,
		"a negative index": `{"uri":"file:///project/train.py","version":7,"index":-1}`, "another document": `{"uri":"file:///other.py","version":7}`} {
		_, err = e.server.CodeActionResolve(e.context(), &protocol.CodeAction{Title: actions[0].Title, Data: protocol.LSPAny(data)})
		var coded *jsonrpc2.Error
		require.ErrorAs(t, err, &coded, name)
		assert.Equal(t, protocol.CodeContentModified, coded.Code, name)
	}
	same, err := e.server.CodeActionResolve(e.context(), &protocol.CodeAction{Title: "of another server", Data: protocol.LSPAny(`[1]`)})
	require.NoError(t, err)
	assert.Nil(t, same.Edit)
}

func TestFixesOfOneRuleAndOfAllRules(t *testing.T) {
	at := func(code string, start int, safety rules.Safety) rules.Finding {
		edit := rules.FileEdit{Path: "/project/train.py", Edit: text.Edit{Span: text.Span{Start: start, End: start + 1}, New: code}}
		return rules.Finding{Code: code, Span: text.Span{Start: start, End: start + 1}, Fixes: []rules.Fix{{Title: code, Safety: safety, Edits: []rules.FileEdit{edit}}}}
	}
	e := launch(t, checkerFunc(func(context.Context, rules.Source) (rules.Report, error) {
		return rules.Report{Findings: []rules.Finding{at("GL101", 0, rules.Safe), at("GL102", 2, rules.Safe), at("GL101", 4, rules.Safe), at("GL103", 6, rules.Safe), at("GL103", 8, rules.Unsafe)}}, nil
	}))
	e.initialize(`{}`)
	e.open(script, 1, "0123456789")
	for column, want := range map[uint32][]string{
		0: {"GL101", "Apply all safe fixes of GL101 in this file", "Apply all safe fixes of Graphleak in this file"},
		2: {"GL102", "Apply all safe fixes of Graphleak in this file"},
		8: {"GL103", "Apply all safe fixes of Graphleak in this file"},
	} {
		actions, err := e.codeActions(script, span(0, column, 0, column))
		require.NoError(t, err)
		got := slices.DeleteFunc(titles(actions), func(s string) bool { return s[0] == 'I' })
		assert.Equal(t, want, got)
		edits := actions[len(want)-1].Edit.Changes[script]
		assert.Len(t, edits, 4, "what is unsafe is left out")
	}
}

func TestPagesAreOpenedWhereTheClientCan(t *testing.T) {
	e := launch(t, lines)
	shown := make(chan string, 1)
	e.asked = func(method string, params []byte) (any, error) {
		assert.Equal(t, protocol.MethodWindowShowDocument, method)
		shown <- string(params)
		return &protocol.ShowDocumentResult{Success: true}, nil
	}
	e.initialize(`{"window":{"showDocument":{"support":true}}}`)
	e.open(script, 1, "leak leak\n")
	actions, err := e.codeActions(script, span(0, 0, 0, 9))
	require.NoError(t, err)
	last := actions[len(actions)-1]
	assert.Equal(t, "Read about GL101 (accumulate-with-graph)", last.Title)
	var code string
	require.NoError(t, json.Unmarshal(last.Command.Arguments[0], &code))
	_, err = e.command(last.Command.Command, "", string(last.Command.Arguments[0]))
	require.NoError(t, err)
	assert.JSONEq(t, `{"uri":"https://github.com/graphleak/graphleak/blob/main/rules/leaks/accumulate-with-graph/doc.md","external":true}`, <-shown)
	_, err = e.command(last.Command.Command, "", `"GL999"`)
	requireCode(t, jsonrpc2.InvalidParams, err)
}
