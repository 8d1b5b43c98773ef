package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// pulling is the capability of clients that ask for diagnostics.
const pulling = `{"workspace":{"diagnostics":{"refreshSupport":true}},"textDocument":{"diagnostic":{"relatedInformation":true}}}`

// pull asks for the diagnostics of a document. It returns the messages, nil if
// nothing has changed since previous, and the id of the report.
func (e *editor) pull(id uri.URI, previous string) (messages []string, resultID string, err error) {
	e.t.Helper()
	params := &protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: id}}
	if previous != "" {
		params.PreviousResultID = &previous
	}
	report, err := e.server.Diagnostic(e.context(), params)
	if err != nil {
		return nil, "", err
	}
	switch r := report.(type) {
	case *protocol.RelatedUnchangedDocumentDiagnosticReport:
		assert.Equal(e.t, "unchanged", r.Kind)
		return nil, r.ResultID, nil
	case *protocol.RelatedFullDocumentDiagnosticReport:
		assert.Equal(e.t, "full", r.Kind)
		messages = []string{}
		for _, d := range r.Items {
			messages = append(messages, message(e.t, d))
		}
		if r.ResultID != nil {
			resultID = *r.ResultID
		}
		return messages, resultID, nil
	}
	require.FailNow(e.t, "no report", "%T", report)
	return nil, "", nil
}

func TestClientsThatAskGetReportsWithIDs(t *testing.T) {
	e := launch(t, echo)
	result := e.initialize(pulling)
	require.IsType(t, &protocol.DiagnosticOptions{}, result.Capabilities.DiagnosticProvider)
	e.open(script, 1, "one")
	messages, first, err := e.pull(script, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"one"}, messages)
	require.NotEmpty(t, first)

	messages, same, err := e.pull(script, first)
	require.NoError(t, err)
	assert.Nil(t, messages, "unchanged")
	assert.Equal(t, first, same)

	e.change(script, 2, span(0, 0, 0, 3), "two")
	messages, second, err := e.pull(script, first)
	require.NoError(t, err)
	assert.Equal(t, []string{"two"}, messages)
	assert.NotEqual(t, first, second)
	assert.Empty(t, e.published, "nothing is published to those who ask")

	e.openNotebook("leak", "x")
	messages, _, err = e.pull(cellURI("a"), "")
	require.NoError(t, err)
	assert.Len(t, messages, 1)
	messages, _, err = e.pull(cellURI("b"), "")
	require.NoError(t, err)
	assert.Empty(t, messages)
}

func TestFilesThatAreNotOpenCanBeAskedAbout(t *testing.T) {
	folder := t.TempDir()
	train := filepath.Join(folder, "train.py")
	require.NoError(t, os.WriteFile(train, []byte(training), 0o600))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(pulling, `{}`, folder)
	messages, _, err := e.pull(uri.File(train), "")
	require.NoError(t, err)
	assert.Len(t, messages, 1)
	for _, id := range []uri.URI{uri.File(filepath.Join(folder, "missing.py")), uri.File(folder), "untitled:Untitled-1", "file:///notes.txt"} {
		messages, _, err = e.pull(id, "")
		require.NoError(t, err)
		assert.Empty(t, messages, id)
	}
}

func TestPullOfAnOutdatedVersionIsToBeRepeated(t *testing.T) {
	started := make(chan struct{})
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if string(src.Text) == "slow" {
			close(started)
			<-ctx.Done()
			return rules.Report{}, ctx.Err()
		}
		return echo(ctx, src)
	}))
	e.initialize(pulling)
	e.open(script, 1, "slow")
	<-started
	answer := make(chan error, 1)
	e.inFlight(func() {
		_, _, err := e.pull(script, "")
		answer <- err
	})
	e.change(script, 2, span(0, 0, 0, 4), "fast")
	var coded *jsonrpc2.Error
	require.ErrorAs(t, <-answer, &coded)
	assert.Equal(t, jsonrpc2.Code(protocol.LSPErrorCodesServerCancelled), coded.Code)
	assert.JSONEq(t, `{"retriggerRequest":true}`, string(coded.Data))
}

func TestClientIsToldToAskAgainWhenAnotherFileHasChangedTheFindings(t *testing.T) {
	folder := t.TempDir()
	train, meter := uri.File(filepath.Join(folder, "train.py")), uri.File(filepath.Join(folder, "meter.py"))
	require.NoError(t, os.WriteFile(meter.FsPath(), []byte(leakyMeter), 0o600))
	e := launch(t, rules.NewChecker(leaks.All()...))
	refreshed := make(chan struct{}, 10)
	e.asked = func(method string, _ []byte) (any, error) {
		assert.Equal(t, protocol.MethodWorkspaceDiagnosticRefresh, method)
		refreshed <- struct{}{}
		return nil, nil
	}
	e.initialize(pulling)
	e.open(train, 1, metered)
	messages, id, err := e.pull(train, "")
	require.NoError(t, err)
	require.Len(t, messages, 1)

	e.open(meter, 1, strings.Replace(leakyMeter, "+= value", "+= value.item()", 1))
	<-refreshed
	messages, _, err = e.pull(train, id)
	require.NoError(t, err)
	assert.Equal(t, []string{}, messages, "the meter in the editor keeps numbers")

	e.change(meter, 2, span(0, 0, 0, 0), "# A comment.\n")
	_, _, err = e.pull(meter, "")
	require.NoError(t, err)
	time.Sleep(importDelay + 4*refreshPause)
	assert.Empty(t, refreshed, "what has not changed is no news")
}

func TestCellsThatWereNotEditedAreRefreshedToo(t *testing.T) {
	e := launch(t, told)
	refreshed := make(chan struct{}, 10)
	e.asked = func(string, []byte) (any, error) {
		refreshed <- struct{}{}
		return nil, nil
	}
	e.initialize(pulling)
	e.openNotebook("one", "leak")
	messages, _, err := e.pull(cellURI("b"), "")
	require.NoError(t, err)
	require.Equal(t, []string{"one leak"}, messages)
	e.changeNotebook(2, protocol.NotebookDocumentCellChanges{TextContent: []protocol.NotebookDocumentCellContentChanges{cellEdit("a", 2, span(0, 0, 0, 3), "two")}})
	<-refreshed
	messages, _, err = e.pull(cellURI("b"), "")
	require.NoError(t, err)
	assert.Equal(t, []string{"two leak"}, messages)
}

// workspaceItem is what a report about the workspace says of one file.
type workspaceItem struct {
	URI, Kind, ResultID string
	Version             *int32
	Items               []struct{ Message string }
}

// workspace asks for the diagnostics of the workspace. What comes in parts under
// the token is sent to parts.
func (e *editor) workspace(ctx context.Context, token string, known ...workspaceItem) ([]workspaceItem, error) {
	params := map[string]any{"previousResultIds": []any{}}
	for _, k := range known {
		params["previousResultIds"] = append(params["previousResultIds"].([]any), map[string]string{"uri": k.URI, "value": k.ResultID})
	}
	if token != "" {
		params["partialResultToken"] = token
	}
	raw, err := json.Marshal(params)
	require.NoError(e.t, err)
	var result struct{ Items []workspaceItem }
	var out jsonrpc2.RawMessage
	if _, err := e.conn.Call(ctx, protocol.MethodWorkspaceDiagnostic, jsonrpc2.RawMessage(raw), &out); err != nil {
		return nil, err
	}
	require.NoError(e.t, json.Unmarshal(out, &result))
	return result.Items, nil
}

// project writes files below a new folder.
func project(t testing.TB, files map[string]string) string {
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return folder
}

func TestWorkspaceIsToldFileByFile(t *testing.T) {
	folder := project(t, map[string]string{"a.py": training, "b/b.py": training, "c.py": "x = 1\n", "d.ipynb": `{"nbformat":4,"cells":[]}`, ".git/HEAD": ""})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(pulling, `{"scan":"workspace"}`, folder)
	a, b := uri.File(filepath.Join(folder, "a.py")), uri.File(filepath.Join(folder, "b", "b.py"))
	var items []workspaceItem
	for len(items) < 2 {
		more, err := e.workspace(e.context(), "", items...)
		require.NoError(t, err)
		items = append(items, more...)
	}
	assert.Equal(t, string(a), items[0].URI)
	assert.Equal(t, string(b), items[1].URI)
	for _, item := range items {
		assert.Equal(t, "full", item.Kind)
		assert.Nil(t, item.Version)
		assert.Len(t, item.Items, 1)
	}

	// With nothing new to say the answer waits for news.
	var answered atomic.Bool
	answer := make(chan []workspaceItem, 1)
	e.inFlight(func() {
		more, err := e.workspace(e.context(), "", items...)
		assert.NoError(t, err)
		answered.Store(true)
		answer <- more
	})
	time.Sleep(3 * newsPause)
	assert.False(t, answered.Load())
	require.NoError(t, os.Remove(a.FsPath()))
	e.filesChanged(protocol.FileChangeTypeDeleted, a)
	more := <-answer
	require.Len(t, more, 1)
	assert.Equal(t, string(a), more[0].URI)
	assert.Empty(t, more[0].Items, "it is gone")
}

// filesChanged tells the server of changes on disk.
func (e *editor) filesChanged(kind protocol.FileChangeType, files ...uri.URI) {
	e.t.Helper()
	var params protocol.DidChangeWatchedFilesParams
	for _, id := range files {
		params.Changes = append(params.Changes, protocol.FileEvent{URI: id, Type: kind})
	}
	require.NoError(e.t, e.server.DidChangeWatchedFiles(e.context(), &params))
}

func TestWorkspaceIsStreamedWhileItIsChecked(t *testing.T) {
	folder := project(t, map[string]string{"a.py": "torch a", "b.py": "torch b", "c.py": "torch c"})
	release := make(chan struct{})
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if string(src.Text) != "torch a" {
			select {
			case <-release:
			case <-ctx.Done():
				return rules.Report{}, ctx.Err()
			}
		}
		return echo(ctx, src)
	}))
	e.initializeIn(pulling, `{"graphleak":{"scan":"workspace"}}`, folder)
	answer := make(chan []workspaceItem, 1)
	e.inFlight(func() {
		items, err := e.workspace(e.context(), "parts")
		assert.NoError(t, err)
		answer <- items
	})
	parts := func() string {
		e.mu.Lock()
		defer e.mu.Unlock()
		return strings.Join(e.progress, "\n")
	}
	require.Eventually(t, func() bool { return strings.Contains(parts(), "a.py") }, patience, time.Millisecond)
	assert.Contains(t, parts(), `"token":"parts"`)
	assert.NotContains(t, parts(), "b.py")
	close(release)
	rest := <-answer
	all := parts()
	for _, item := range rest {
		all += item.URI
	}
	for _, name := range []string{"a.py", "b.py", "c.py"} {
		assert.Equal(t, 1, strings.Count(all, "/"+name), "each once: %s", all)
	}
}

func TestWaitingForNewsEndsWithTheRequestAndWithTheSession(t *testing.T) {
	e := launch(t, echo)
	e.initializeIn(pulling, `{}`, t.TempDir())
	ctx, cancel := context.WithCancel(e.context())
	cancelled := make(chan error, 1)
	e.inFlight(func() {
		_, err := e.workspace(ctx, "")
		cancelled <- err
	})
	cancel()
	require.Error(t, <-cancelled)
	e.alive()

	answer := make(chan error, 1)
	e.inFlight(func() {
		_, err := e.workspace(e.context(), "")
		answer <- err
	})
	require.NoError(t, e.server.Shutdown(e.context()))
	require.NoError(t, <-answer)
}
