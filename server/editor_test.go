package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
	"github.com/graphleak/graphleak/rules/leaks"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// editor is an LSP client that talks to a server over a pipe.
type editor struct {
	t      testing.TB
	conn   jsonrpc2.Conn
	server protocol.Server
	raw    io.Writer     // the server's input, for what no client would send
	sent   atomic.Int64  // messages that the server has taken
	ended  chan struct{} // closed when Serve has returned
	result *error        // of Serve, after that

	published chan protocol.PublishDiagnosticsParams
	latest    map[uri.URI][]string // of those that waitFor has seen
	// asked answers what the server asks of the client; nil refuses.
	asked    func(method string, params []byte) (any, error)
	mu       sync.Mutex
	logged   []protocol.LogMessageParams
	traced   []protocol.LogTraceParams
	progress []string
}

// pipe is one end of a connection.
type pipe struct {
	io.Reader
	io.Writer
	close func() error
}

func (p pipe) Close() error { return p.close() }

// counted counts what is written when it has been read.
type counted struct {
	io.Writer
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(1)
	return n, err
}

// launch starts a server that runs checker and connects an editor to it.
func launch(t testing.TB, checker checker) *editor {
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	return connectEditor(t, checker, toServer, fromServer, toEditor, fromEditor)
}

// connectEditor starts a server on one pair of pipe ends and an editor on the
// other.
func connectEditor(t testing.TB, checker checker, toServer io.Reader, fromServer io.Writer, toEditor io.Reader, fromEditor io.WriteCloser) *editor {
	opts := Options{Version: "1.2.3"}
	opts.Checker, _ = checker.(*rules.Checker)
	ended := make(chan struct{})
	var result error
	go func() {
		defer close(ended)
		result = serve(context.Background(), toServer, fromServer, opts, checker.Rules(), reading(checker))
	}()
	e := attachEditor(t, toEditor, fromEditor)
	e.ended, e.result = ended, &result
	t.Cleanup(func() {
		_ = fromEditor.Close()
		<-ended
	})
	return e
}

// attachEditor connects an editor to a server that runs elsewhere.
func attachEditor(t testing.TB, toEditor io.Reader, fromEditor io.WriteCloser) *editor {
	e := &editor{t: t, raw: fromEditor, published: make(chan protocol.PublishDiagnosticsParams, 1<<14)}
	e.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(pipe{toEditor, counted{fromEditor, &e.sent}, fromEditor.Close}), jsonrpc2.WithCodec(codec{}))
	e.server = protocol.ServerDispatcher(e.conn)
	e.conn.Go(context.Background(), e.handle)
	return e
}

// handle records what the server tells.
func (e *editor) handle(_ context.Context, req *jsonrpc2.Request) (any, error) {
	switch req.Method() {
	case protocol.MethodTextDocumentPublishDiagnostics:
		var params protocol.PublishDiagnosticsParams
		if err := protocol.Unmarshal(req.Params(), &params); err != nil {
			return nil, err
		}
		e.published <- params
	case protocol.MethodWindowLogMessage:
		return nil, record(e, &e.logged, req)
	case protocol.MethodLogTrace:
		return nil, record(e, &e.traced, req)
	case protocol.MethodProgress:
		e.mu.Lock()
		defer e.mu.Unlock()
		e.progress = append(e.progress, string(req.Params()))
	default:
		if e.asked == nil {
			return nil, fmt.Errorf("the server sent %s", req.Method())
		}
		return e.asked(strings.Clone(req.Method()), bytes.Clone(req.Params()))
	}
	return nil, nil
}

func record[P any](e *editor, to *[]P, req *jsonrpc2.Request) error {
	var params P
	if err := protocol.Unmarshal(req.Params(), &params); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	*to = append(*to, params)
	return nil
}

// initialize starts the session with the capabilities given as JSON.
func (e *editor) initialize(capabilities string) *protocol.InitializeResult {
	e.t.Helper()
	return e.initializeWith(`{"processId":null,"rootUri":null,"capabilities":` + capabilities + `}`)
}

// initializeIn is initialize in workspace folders.
func (e *editor) initializeIn(capabilities, options string, folders ...string) *protocol.InitializeResult {
	e.t.Helper()
	var list []protocol.WorkspaceFolder
	for _, dir := range folders {
		list = append(list, protocol.WorkspaceFolder{URI: uri.File(dir), Name: filepath.Base(dir)})
	}
	raw, err := protocol.Marshal(list)
	require.NoError(e.t, err)
	return e.initializeWith(fmt.Sprintf(`{"processId":null,"rootUri":null,"workspaceFolders":%s,"capabilities":%s,"initializationOptions":%s}`, raw, capabilities, options))
}

func (e *editor) initializeWith(raw string) *protocol.InitializeResult {
	e.t.Helper()
	var params protocol.InitializeParams
	require.NoError(e.t, protocol.Unmarshal([]byte(raw), &params))
	result, err := e.server.Initialize(e.context(), &params)
	require.NoError(e.t, err)
	require.NoError(e.t, e.server.Initialized(e.context(), &protocol.InitializedParams{}))
	return result
}

func (e *editor) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	e.t.Cleanup(cancel)
	return ctx
}

// open opens a Python document.
func (e *editor) open(id uri.URI, version int32, text string) {
	e.t.Helper()
	require.NoError(e.t, e.server.DidOpen(e.context(), &protocol.DidOpenTextDocumentParams{
		TextDocument: protocol.TextDocumentItem{URI: id, LanguageID: protocol.LanguageKindPython, Version: version, Text: text},
	}))
}

// change replaces a range of a document.
func (e *editor) change(id uri.URI, version int32, r protocol.Range, text string) {
	e.t.Helper()
	e.changes(id, version, &protocol.TextDocumentContentChangePartial{Range: r, Text: text})
}

func (e *editor) changes(id uri.URI, version int32, changes ...protocol.TextDocumentContentChangeEvent) {
	e.t.Helper()
	require.NoError(e.t, e.server.DidChange(e.context(), &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: id},
			Version:                version,
		},
		ContentChanges: changes,
	}))
}

// diagnosticsOf waits for what the server publishes for a version of a document.
func (e *editor) diagnosticsOf(id uri.URI, version int32) []protocol.Diagnostic {
	e.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case p := <-e.published:
			if v, ok := p.Version.Get(); p.URI == id && ok && v == version {
				return p.Diagnostics
			}
		case <-timeout:
			require.FailNow(e.t, "no diagnostics", "of version %d of %s", version, id)
		}
	}
}

// fileDiagnostics waits until the diagnostics last published for a file, of no
// version, are as many as n, and returns them.
func (e *editor) fileDiagnostics(id uri.URI, n int) []protocol.Diagnostic {
	e.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case p := <-e.published:
			if _, versioned := p.Version.Get(); p.URI == id && !versioned && len(p.Diagnostics) == n {
				return p.Diagnostics
			}
		case <-timeout:
			require.FailNow(e.t, "no diagnostics", "%d of %s", n, id)
		}
	}
}

// codeActions asks for the actions for a range.
func (e *editor) codeActions(id uri.URI, r protocol.Range, only ...protocol.CodeActionKind) ([]*protocol.CodeAction, error) {
	e.t.Helper()
	list, err := e.server.CodeAction(e.context(), &protocol.CodeActionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: id},
		Range:        r,
		Context:      protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{}, Only: only},
	})
	var actions []*protocol.CodeAction
	for _, a := range list {
		require.IsType(e.t, &protocol.CodeAction{}, a)
		actions = append(actions, a.(*protocol.CodeAction))
	}
	return actions, err
}

func (e *editor) hover(id uri.URI, p protocol.Position) (*protocol.Hover, error) {
	return e.server.Hover(e.context(), &protocol.HoverParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: id},
		Position:     p,
	}})
}

// waitForLog waits until the server has logged a message that contains text.
func (e *editor) waitForLog(text string) {
	e.t.Helper()
	require.Eventually(e.t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, m := range e.logged {
			if strings.Contains(m.Message, text) {
				return true
			}
		}
		return false
	}, patience, time.Millisecond, "no log message with %q", text)
}

// waitForEnd waits until the server has ended, and returns why.
func (e *editor) waitForEnd() error {
	e.t.Helper()
	select {
	case <-e.ended:
		return *e.result
	case <-time.After(patience):
		require.FailNow(e.t, "the server goes on")
		return nil
	}
}

// inFlight calls f beside the test, and returns when the server has read the
// one message that f sends first.
func (e *editor) inFlight(f func()) {
	e.t.Helper()
	before := e.sent.Load()
	go f()
	require.Eventually(e.t, func() bool { return e.sent.Load() > before }, patience, 100*time.Microsecond)
}

// alive checks that the server answers.
func (e *editor) alive() {
	e.t.Helper()
	hover, err := e.hover("file:///not/open.py", protocol.Position{})
	require.NoError(e.t, err)
	require.Nil(e.t, hover)
}

// send writes bytes to the server, whatever they are.
func (e *editor) send(parts ...string) {
	e.t.Helper()
	for _, part := range parts {
		_, err := io.WriteString(e.raw, part)
		require.NoError(e.t, err)
	}
}

// frame is body with its header.
func frame(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// span is a range of a document as the protocol writes it.
func span(startLine, startColumn, endLine, endColumn uint32) protocol.Range {
	return protocol.Range{
		Start: protocol.Position{Line: startLine, Character: startColumn},
		End:   protocol.Position{Line: endLine, Character: endColumn},
	}
}

// reading makes a server use checker.
func reading(c checker) reader {
	if real, ok := c.(*rules.Checker); ok {
		return configuredChecker(real)
	}
	if o, ok := c.(observed); ok {
		return func(files rules.Files, loader *config.Loader, layer func(string) config.Layer) checker {
			return observed{configuredChecker(rules.NewChecker(leaks.All()...))(files, loader, layer), o.around}
		}
	}
	return func(rules.Files, *config.Loader, func(string) config.Layer) checker { return c }
}

// observed is a checker with something done around each check: to the real one, if
// it is launched.
type observed struct {
	checker
	around func(src rules.Source, check func() (rules.Report, error)) (rules.Report, error)
}

func (o observed) Check(ctx context.Context, src rules.Source) (rules.Report, error) {
	return o.around(src, func() (rules.Report, error) { return o.checker.Check(ctx, src) })
}

// checkerFunc is a checker for what the real one does not do: fail and dawdle.
type checkerFunc func(ctx context.Context, src rules.Source) (rules.Report, error)

func (f checkerFunc) Check(ctx context.Context, src rules.Source) (rules.Report, error) {
	return f(ctx, src)
}

func (checkerFunc) Rules() []*rules.Rule { return leaks.All() }

func (checkerFunc) Forget(string) {}

func (checkerFunc) Moved() {}

func (checkerFunc) Resolver(string) *names.Resolver { return names.NewResolver(names.NewDisk(nil)) }

// message is what a diagnostic says.
func message(t testing.TB, d protocol.Diagnostic) string {
	t.Helper()
	require.IsType(t, protocol.String(""), d.Message)
	return string(d.Message.(protocol.String))
}

// data is the data of a diagnostic.
func data(t testing.TB, d protocol.Diagnostic) diagnosticData {
	t.Helper()
	var out diagnosticData
	require.NoError(t, json.Unmarshal(d.Data, &out))
	return out
}
