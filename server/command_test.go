package server

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// command runs a command with arguments given as JSON.
func (e *editor) command(name, token string, arguments ...string) (json.RawMessage, error) {
	params := &protocol.ExecuteCommandParams{Command: name}
	if token != "" {
		params.WorkDoneToken = protocol.String(token)
	}
	for _, a := range arguments {
		params.Arguments = append(params.Arguments, protocol.LSPAny(a))
	}
	var result jsonrpc2.RawMessage
	_, err := e.conn.Call(e.context(), protocol.MethodWorkspaceExecuteCommand, params, &result)
	return json.RawMessage(result), err
}

const outOfMemory = `{"text":"Traceback (most recent call last):\n  File \"/project/train.py\", line 3, in <module>\n    total += loss\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.05 GiB is free. Including non-PyTorch memory, this process has 78.09 GiB memory in use. Of the allocated memory 76.41 GiB is allocated by PyTorch, and 1.19 GiB is reserved by PyTorch but unallocated."}`

func TestDiagnoseReturnsTheDiagnosisAndItsText(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	raw, err := e.command("graphleak.diagnose", "", outOfMemory)
	require.NoError(t, err)
	var result struct {
		Diagnosis struct {
			Version int
			Failure string
			Title   string
		}
		Markdown string
	}
	require.NoError(t, json.Unmarshal(raw, &result))
	assert.Equal(t, 1, result.Diagnosis.Version)
	assert.Contains(t, result.Diagnosis.Failure, "memory.cuda-oom.")
	assert.Contains(t, result.Markdown, result.Diagnosis.Title)
}

func TestExplainReturnsThePageOfARuleOrAFailure(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	var result explainResult
	for topic, want := range map[string]string{
		`"GL101"`:                          "\n- [GL102](GL102.md): ",
		`"accumulate-with-graph"`:          "# accumulate-with-graph: ",
		`"memory.cuda-oom.graph-retained"`: "\n- [GL101](GL101.md): ",
	} {
		raw, err := e.command("graphleak.explain", "", topic)
		require.NoError(t, err, topic)
		require.NoError(t, json.Unmarshal(raw, &result))
		assert.Contains(t, result.Markdown, want, topic)
	}
	raw, err := e.command("graphleak.explain", "", `"GL101"`)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &result))
	assert.Equal(t, []string{"GL102", "GL103", "GL104", "GL105", "memory.cuda-oom.graph-retained"}, result.Related)
	for _, argument := range []string{`"GL999"`, `""`, `{}`} {
		_, err := e.command("graphleak.explain", "", argument)
		requireCode(t, jsonrpc2.InvalidParams, err)
	}
}

func TestDiagnoseShowsProgressWhereTheClientWantsIt(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	_, err := e.command("graphleak.diagnose", "token 1", outOfMemory)
	require.NoError(t, err)
	e.alive()
	e.mu.Lock()
	defer e.mu.Unlock()
	require.Len(t, e.progress, 2)
	assert.JSONEq(t, `{"token":"token 1","value":{"kind":"begin","title":"Diagnosing the log","cancellable":true}}`, e.progress[0])
	assert.JSONEq(t, `{"token":"token 1","value":{"kind":"end"}}`, e.progress[1])
}

func TestCommandsRefuseWhatTheyCannotUse(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	for name, arguments := range map[string][]string{
		"no arguments":   nil,
		"two arguments":  {outOfMemory, outOfMemory},
		"another type":   {`"text"`},
		"no text":        {`{"uri":"file:///x.log"}`},
		"nothing in it":  {`{"text":" \n"}`},
		"text of a type": {`{"text":5}`},
	} {
		_, err := e.command("graphleak.diagnose", "", arguments...)
		var coded *jsonrpc2.Error
		require.ErrorAs(t, err, &coded, name)
		assert.Equal(t, jsonrpc2.InvalidParams, coded.Code, name)
		assert.Contains(t, coded.Message, `{"text": `, name)
	}
	_, err := e.command("graphleak.dream", "")
	requireCode(t, jsonrpc2.InvalidParams, err)
}

func TestProgressCancelsTheRequestItBelongsTo(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	s := &server{ctx: t.Context(), client: protocol.ClientDispatcher(e.conn)}
	s.log = newLog(s)
	ctx, work := s.progress.begin(t.Context(), s, protocol.String("token"), "Waiting")
	defer work.end()
	require.NoError(t, s.cancelProgress(&protocol.WorkDoneProgressCancelParams{Token: protocol.String("another")}))
	require.NoError(t, ctx.Err())
	require.NoError(t, s.cancelProgress(&protocol.WorkDoneProgressCancelParams{Token: protocol.String("token")}))
	require.Error(t, ctx.Err())
}
