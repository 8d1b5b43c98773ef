package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

const script uri.URI = "file:///project/train.py"

// echo is a checker whose one finding is the whole text and says what it is.
var echo = checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
	return rules.Report{Findings: []rules.Finding{{
		Path: src.Path, Code: "GL000", Severity: rules.Hint,
		Span: text.Span{End: len(src.Text)}, Message: string(src.Text),
	}}}, nil
})

func TestEditsAreMadeInTheOrderOfTheWire(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	e.open(script, 0, "")
	const edits = 5000
	var want strings.Builder
	for i := range edits {
		line := fmt.Sprintln(i)
		want.WriteString(line)
		end := uint32(i)
		e.change(script, int32(i+1), span(end, 0, end, 0), line)
	}
	diagnostics := e.diagnosticsOf(script, edits)
	require.Len(t, diagnostics, 1)
	assert.Equal(t, want.String(), message(t, diagnostics[0]))
}

func TestRequestSeesTheEditsBeforeItAndNoneAfter(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	e.open(script, 0, "0")
	const requests = 300
	answered := 0
	for i := 1; i <= requests; i++ {
		e.changes(script, int32(2*i), &protocol.TextDocumentContentChangeWholeDocument{Text: fmt.Sprintf("<%d>", i)})
		type answer struct {
			hover *protocol.Hover
			err   error
		}
		answers := make(chan answer, 1)
		e.inFlight(func() {
			hover, err := e.hover(script, protocol.Position{Character: 1})
			answers <- answer{hover, err}
		})
		e.changes(script, int32(2*i+1), &protocol.TextDocumentContentChangeWholeDocument{Text: "later"})
		a := <-answers
		if a.err != nil {
			requireCode(t, protocol.CodeContentModified, a.err)
			continue
		}
		answered++
		require.Contains(t, a.hover.Contents.(*protocol.MarkupContent).Value, fmt.Sprintf("<%d>", i))
	}
	assert.Positive(t, answered, "a check that takes no time ends before the next edit now and then")
}

func TestServerSurvivesWhatClientsGetWrong(t *testing.T) {
	tests := []struct{ name, body, log string }{
		{"parameters of another type", `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[1]}`, "textDocument/didOpen failed after"},
		{"no parameters", `{"jsonrpc":"2.0","method":"textDocument/didChange"}`, ": the parameters are missing"},
		{"broken parameters", `{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri" "x"}}}`, "textDocument/didClose failed after"},
		{"a change of what is not open", `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///x.py","version":1},"contentChanges":[]}}`, "file:///x.py is not open"},
		{"a close of what is not open", `{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///x.py"}}}`, "file:///x.py is not open"},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"textDocument/didDream","params":{}}`, `unknown notification "textDocument/didDream"`},
		{"a cancel without id", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}`, "$/cancelRequest failed"},
		{"a cancel of an object", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`, "$/cancelRequest failed"},
		{"a trace of nothing", `{"jsonrpc":"2.0","method":"$/setTrace"}`, "$/setTrace failed"},
		{"a request without id", `{"jsonrpc":"2.0","method":"textDocument/hover","params":{}}`, "ignored the request textDocument/hover without an id"},
		{"no JSON", `{"jsonrpc"`, "no JSON-RPC 2.0 message"},
	}
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e.send(frame(test.body))
			e.waitForLog(test.log)
			e.alive()
		})
	}
}

func TestOptionalNotificationsAreIgnoredInSilence(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"$/whatever","params":{}}`,
		`{"jsonrpc":"2.0","method":"$/whatever"}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4711}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":null}}`,
		`{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":"gone"}}`,
		`{"jsonrpc":"2.0","id":4711,"result":null}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}`,
	} {
		e.send(frame(body))
		e.alive()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	assert.Empty(t, e.logged)
}

func TestRequestsThatCannotBeServedGetTheCodeThatSaysWhy(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	tests := []struct {
		name, method string
		params       any
		code         jsonrpc2.Code
	}{
		{"unknown method", "textDocument/dream", jsonrpc2.RawMessage(`{}`), jsonrpc2.MethodNotFound},
		{"unknown method without parameters", "textDocument/dream", nil, jsonrpc2.MethodNotFound},
		{"optional method", "$/dream", nil, jsonrpc2.MethodNotFound},
		{"method that others have", protocol.MethodTextDocumentCompletion, jsonrpc2.RawMessage(`{}`), jsonrpc2.MethodNotFound},
		{"no parameters", protocol.MethodTextDocumentHover, nil, jsonrpc2.InvalidParams},
		{"parameters of another type", protocol.MethodTextDocumentHover, jsonrpc2.RawMessage(`[]`), jsonrpc2.InvalidParams},
		{"a notification with an id", protocol.MethodTextDocumentDidOpen, jsonrpc2.RawMessage(`{}`), jsonrpc2.InvalidRequest},
		{"unknown command", protocol.MethodWorkspaceExecuteCommand, jsonrpc2.RawMessage(`{"command":"x"}`), jsonrpc2.InvalidParams},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := e.conn.Call(e.context(), test.method, test.params, nil)
			requireCode(t, test.code, err)
		})
	}
	e.alive()
}

func TestCancelledRequestIsAnsweredAsCancelled(t *testing.T) {
	e := launch(t, checkerFunc(func(ctx context.Context, _ rules.Source) (rules.Report, error) {
		<-ctx.Done()
		return rules.Report{}, ctx.Err()
	}))
	e.initialize(`{}`)
	e.open(script, 1, "x = 1\n")
	answer := make(chan error, 1)
	e.inFlight(func() {
		_, err := e.hover(script, protocol.Position{})
		answer <- err
	})
	// The connection numbers its requests: this is the second.
	require.NoError(t, e.conn.Notify(e.context(), protocol.MethodCancelRequest, &protocol.CancelParams{ID: protocol.Integer(2)}))
	requireCode(t, protocol.CodeRequestCancelled, <-answer)
	e.alive()
}

func TestHandlersThatPanicAnswerWithAnError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := &server{ctx: ctx, stop: cancel}
	s.log = newLog(s)
	_, err := s.serve(ctx, method{handle: func(context.Context, *snapshot, jsonrpc2.RawMessage) (any, error) {
		panic("the handler is broken")
	}}, nil, new(jsonrpc2.Request))
	requireCode(t, jsonrpc2.InternalError, err)
	assert.Len(t, s.log.queue, 1, "the log has the stack")
}

func TestCheckerThatPanicsCostsOneDocument(t *testing.T) {
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if strings.Contains(string(src.Text), "boom") {
			panic("boom")
		}
		return echo(ctx, src)
	}))
	e.initialize(`{}`)
	e.open(script, 1, "boom\n")
	diagnostics := e.diagnosticsOf(script, 1)
	require.Len(t, diagnostics, 1)
	assert.Equal(t, protocol.DiagnosticSeverityInformation, diagnostics[0].Severity)
	assert.Contains(t, message(t, diagnostics[0]), "internal error")
	e.waitForLog("checking /project/train.py panicked: boom")

	e.open("file:///project/other.py", 1, "fine\n")
	assert.Equal(t, "fine\n", message(t, e.diagnosticsOf("file:///project/other.py", 1)[0]))
}

func TestCheckerThatFailsCostsOneDocument(t *testing.T) {
	e := launch(t, checkerFunc(func(context.Context, rules.Source) (rules.Report, error) {
		return rules.Report{}, errors.New("out of luck")
	}))
	e.initialize(`{}`)
	e.open(script, 1, "x\n")
	assert.Contains(t, message(t, e.diagnosticsOf(script, 1)[0]), "internal error")
	e.waitForLog("checking /project/train.py: out of luck")
	hover, err := e.hover(script, protocol.Position{})
	require.NoError(t, err)
	assert.Nil(t, hover)
}

func TestMalformedFramesAreAnswered(t *testing.T) {
	peer := connect(t)
	answers := make(chan *jsonrpc2.Response, 8)
	go func() {
		for {
			msg, _, err := peer.Read(context.Background())
			if err != nil {
				return
			}
			if r, ok := msg.(*jsonrpc2.Response); ok {
				answers <- r
			}
		}
	}()
	for _, test := range []struct {
		sent string
		code jsonrpc2.Code
		id   jsonrpc2.ID
	}{
		{"nonsense\r\n\r\n" + frame(note("$/x")), jsonrpc2.ParseError, jsonrpc2.ID{}},
		{frame("{"), jsonrpc2.ParseError, jsonrpc2.ID{}},
		{frame(`{"id":3,"method":"initialize"}`), jsonrpc2.InvalidRequest, jsonrpc2.NewNumberID(3)},
		{fmt.Sprintf("Content-Length: %d\r\n\r\n{", maxFrame+1) + frame(note("$/x")), jsonrpc2.ParseError, jsonrpc2.ID{}},
		{frame(`{"jsonrpc":"2.0","id":4,"method":"textDocument/hover"}`), jsonrpc2.ServerNotInitialized, jsonrpc2.NewNumberID(4)},
	} {
		_, err := io.WriteString(peer.out, test.sent)
		require.NoError(t, err)
		select {
		case answer := <-answers:
			var coded *jsonrpc2.Error
			require.ErrorAs(t, answer.Err(), &coded, test.sent)
			assert.Equal(t, test.code, coded.Code, test.sent)
			assert.Equal(t, test.id, answer.ID(), test.sent)
		case <-time.After(patience):
			require.FailNow(t, "no answer", test.sent)
		}
	}
}

// A client may write a lot before it reads anything. The reader must keep up
// whatever there is to complain about.
func TestReaderNeverWaitsForTheClientToRead(t *testing.T) {
	peer := connect(t)
	send := func(body string) {
		t.Helper()
		written := make(chan error, 1)
		go func() {
			_, err := io.WriteString(peer.out, body)
			written <- err
		}()
		select {
		case err := <-written:
			require.NoError(t, err)
		case <-time.After(patience):
			require.FailNow(t, "the server does not read")
		}
	}
	for range 1000 {
		send(frame("{") + frame(note("textDocument/didDream")) + frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":7}`))
	}
	send(frame(`{"jsonrpc":"2.0","method":"exit"}`))
}

// connect starts a server and returns its peer's bare stream.
func connect(t *testing.T) *stream {
	toServer, fromPeer := io.Pipe()
	toPeer, fromServer := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(context.Background(), toServer, fromServer, Options{}, leaks.All(), reading(rules.NewChecker(leaks.All()...)))
	}()
	t.Cleanup(func() {
		_ = fromPeer.Close()
		<-ended
	})
	return newStream(toPeer, fromPeer, func(f fault) { t.Error(f.err) }, func(error) {})
}

func TestTraceTellsOfEveryMessage(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	traces := func() int {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.traced)
	}
	e.alive()
	require.NoError(t, e.server.SetTrace(e.context(), &protocol.SetTraceParams{Value: protocol.TraceValueVerbose}))
	_, err := e.conn.Call(e.context(), protocol.MethodTextDocumentHover, jsonrpc2.RawMessage(`[]`), nil)
	requireCode(t, jsonrpc2.InvalidParams, err)
	require.Eventually(t, func() bool { return traces() == 2 }, patience, time.Millisecond)
	e.mu.Lock()
	defer e.mu.Unlock()
	assert.Contains(t, e.traced[0].Message, "$/setTrace handled in")
	assert.Contains(t, e.traced[1].Message, "textDocument/hover handled in")
	require.NotNil(t, e.traced[1].Verbose)
	assert.Contains(t, *e.traced[1].Verbose, "invalid parameters")
}

func TestSlowRequestsAreLogged(t *testing.T) {
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		time.Sleep(slow + 50*time.Millisecond)
		return echo(ctx, src)
	}))
	e.initialize(`{}`)
	e.open(script, 1, "x\n")
	_, err := e.hover(script, protocol.Position{})
	require.NoError(t, err)
	e.waitForLog("textDocument/hover took")
}
