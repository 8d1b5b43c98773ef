package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

func TestInitializeTellsWhatTheServerCanDo(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	result := e.initialize(`{}`)
	assert.Equal(t, "graphleak", result.ServerInfo.Name)
	version, _ := result.ServerInfo.Version.Get()
	assert.Equal(t, "1.2.3", version)

	c := result.Capabilities
	require.IsType(t, &protocol.TextDocumentSyncOptions{}, c.TextDocumentSync)
	assert.Equal(t, protocol.TextDocumentSyncKindIncremental, *c.TextDocumentSync.(*protocol.TextDocumentSyncOptions).Change)
	assert.Equal(t, protocol.Boolean(true), c.HoverProvider)
	assert.Equal(t, []protocol.CodeActionKind{"quickfix", "source.fixAll.graphleak"},
		c.CodeActionProvider.(*protocol.CodeActionOptions).CodeActionKinds)
	assert.Equal(t, []string{"graphleak.diagnose", "graphleak.explain", "graphleak.search", "graphleak.scanWorkspace", "graphleak.fixWorkspace", "graphleak.openPage"}, c.ExecuteCommandProvider.Commands)
	assert.True(t, *c.Workspace.WorkspaceFolders.Supported)
}

func TestPositionEncodingIsTheCheapestThatTheClientOffers(t *testing.T) {
	tests := map[string]protocol.PositionEncodingKind{
		`{}`:             protocol.PositionEncodingKindUTF16,
		`{"general":{}}`: protocol.PositionEncodingKindUTF16,
		`{"general":{"positionEncodings":["utf-16"]}}`:                  protocol.PositionEncodingKindUTF16,
		`{"general":{"positionEncodings":["utf-16","utf-32"]}}`:         protocol.PositionEncodingKindUTF32,
		`{"general":{"positionEncodings":["utf-32","utf-16","utf-8"]}}`: protocol.PositionEncodingKindUTF8,
		`{"general":{"positionEncodings":["utf-7"]}}`:                   protocol.PositionEncodingKindUTF16,
	}
	for capabilities, want := range tests {
		t.Run(capabilities, func(t *testing.T) {
			assert.Equal(t, want, launch(t, rules.NewChecker(leaks.All()...)).initialize(capabilities).Capabilities.PositionEncoding)
		})
	}
}

func TestRequestsOutsideOfTheSessionAreRefused(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	_, err := e.hover("file:///a.py", protocol.Position{})
	requireCode(t, jsonrpc2.ServerNotInitialized, err)

	e.initialize(`{}`)
	_, err = e.server.Initialize(e.context(), &protocol.InitializeParams{})
	requireCode(t, jsonrpc2.InvalidRequest, err)

	require.NoError(t, e.server.Shutdown(e.context()))
	_, err = e.hover("file:///a.py", protocol.Position{})
	requireCode(t, jsonrpc2.InvalidRequest, err)
}

func TestTheSessionEndsAsTheProtocolWants(t *testing.T) {
	tests := []struct {
		name string
		end  func(e *editor)
		want error
	}{
		{"shutdown and exit", func(e *editor) {
			require.NoError(e.t, e.server.Shutdown(e.context()))
			require.NoError(e.t, e.server.Exit(e.context()))
		}, nil},
		{"shutdown and end of input", func(e *editor) {
			require.NoError(e.t, e.server.Shutdown(e.context()))
			require.NoError(e.t, e.raw.(interface{ Close() error }).Close())
		}, nil},
		{"exit without shutdown", func(e *editor) {
			require.NoError(e.t, e.server.Exit(e.context()))
		}, ErrNoShutdown},
		{"end of input without shutdown", func(e *editor) {
			require.NoError(e.t, e.raw.(interface{ Close() error }).Close())
		}, ErrNoShutdown},
		{"end of input within a message", func(e *editor) {
			e.send("Content-Length: 100\r\n\r\n{")
			require.NoError(e.t, e.raw.(interface{ Close() error }).Close())
		}, ErrNoShutdown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initialize(`{}`)
			test.end(e)
			assert.ErrorIs(t, e.waitForEnd(), test.want)
		})
	}
}

func TestExitBeforeInitializeEndsTheServer(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	require.NoError(t, e.server.Exit(e.context()))
	assert.Equal(t, ErrNoShutdown, e.waitForEnd())
}

func TestWorkspaceFoldersAreThoseOfTheClient(t *testing.T) {
	folder := func(path string) protocol.WorkspaceFolder {
		return protocol.WorkspaceFolder{URI: uri.File(path), Name: path}
	}
	parse := func(text string) *protocol.InitializeParams {
		params := new(protocol.InitializeParams)
		require.NoError(t, protocol.Unmarshal([]byte(text), params))
		return params
	}
	assert.Empty(t, workspaceFolders(parse(`{"processId":1,"rootUri":null,"capabilities":{},"workspaceFolders":null}`)))
	assert.Equal(t, []protocol.WorkspaceFolder{{URI: "file:///old"}},
		workspaceFolders(parse(`{"processId":1,"rootUri":"file:///old","capabilities":{}}`)))
	assert.Equal(t, []protocol.WorkspaceFolder{{URI: "file:///older"}},
		workspaceFolders(parse(`{"processId":1,"rootUri":null,"rootPath":"/older","capabilities":{}}`)))
	assert.Equal(t, []protocol.WorkspaceFolder{folder("/a"), folder("/b")},
		workspaceFolders(parse(`{"processId":1,"rootUri":"file:///a","capabilities":{},"workspaceFolders":[{"uri":"file:///a","name":"/a"},{"uri":"file:///b","name":"/b"}]}`)))

	view := &snapshot{folders: []protocol.WorkspaceFolder{folder("/a"), folder("/b")}}
	next := view.withFolders(protocol.WorkspaceFoldersChangeEvent{
		Added:   []protocol.WorkspaceFolder{folder("/c"), folder("/b"), {URI: "vscode-vfs://github/x"}},
		Removed: []protocol.WorkspaceFolder{folder("/a"), folder("/unknown")},
	})
	assert.Equal(t, []string{"/b", "/c"}, next.roots(), "only directories are roots")
	assert.Equal(t, []string{"/a", "/b"}, view.roots(), "a snapshot does not change")
}

func requireCode(t *testing.T, code jsonrpc2.Code, err error) {
	t.Helper()
	var coded *jsonrpc2.Error
	require.ErrorAs(t, err, &coded)
	require.Equal(t, code, coded.Code, coded.Message)
}
