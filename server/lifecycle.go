package server

import (
	"context"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules/config"
)

// initialize learns what the client can do and tells what the server can.
func (s *server) initialize(_ context.Context, _ *snapshot, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if s.phase.Load() != phaseNew {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "the server was initialized before")
	}
	encoding, kind := negotiateEncoding(params.Capabilities.General)
	view := &snapshot{
		client:  clientAbilities(params.Capabilities, encoding),
		folders: workspaceFolders(params),
	}
	view.loader = config.NewLoader(s.rules)
	view.chosen.window = s.understood(params.InitializationOptions, s.rules)
	view.project = s.projectOf(view)
	view.checker = s.checkerFor(view)
	s.session.set(view)
	s.log.setTrace(params.Trace)
	if params.ProcessID != nil {
		go s.watchParent(int(*params.ProcessID))
	}
	s.phase.Store(phaseRunning)

	yes := true
	incremental := protocol.TextDocumentSyncKindIncremental
	result := &protocol.InitializeResult{
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding:     kind,
			TextDocumentSync:     &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &incremental, Save: protocol.Boolean(true)},
			NotebookDocumentSync: notebookSelector(),
			HoverProvider:        protocol.Boolean(true),
			CodeActionProvider: &protocol.CodeActionOptions{
				CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, fixAllKind},
				ResolveProvider: &yes,
			},
			DocumentLinkProvider: &protocol.DocumentLinkOptions{},
			ExecuteCommandProvider: protocol.ExecuteCommandOptions{
				WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: &yes},
				Commands:                []string{diagnoseCommand, explainCommand, searchCommand, scanCommand, fixCommand, pageCommand},
			},
			Workspace: &protocol.WorkspaceOptions{
				WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
					Supported:           &yes,
					ChangeNotifications: protocol.Boolean(true),
				},
				FileOperations: fileOperations(),
			},
		},
		ServerInfo: protocol.ServerInfo{Name: "graphleak", Version: protocol.NewOptional(s.opts.Version)},
	}
	if view.client.asks {
		result.Capabilities.DiagnosticProvider = diagnosticProvider()
	}
	return result, nil
}

// initialized begins what the client may have to answer to.
func (s *server) initialized(*protocol.InitializedParams) error {
	view := s.session.snapshot()
	go func() {
		s.register(view)
		if view.client.configuration {
			s.fetchSettings()
		}
	}()
	s.scan.keep(view, view.chosen.window.Scan == scanWorkspace)
	return nil
}

// negotiateEncoding takes the unit of positions that costs least: of those that
// the client offers UTF-8, then UTF-32, and else UTF-16, which all clients have.
func negotiateEncoding(general *protocol.GeneralClientCapabilities) (text.Encoding, protocol.PositionEncodingKind) {
	if general != nil {
		switch offered := general.PositionEncodings; {
		case slices.Contains(offered, protocol.PositionEncodingKindUTF8):
			return text.UTF8, protocol.PositionEncodingKindUTF8
		case slices.Contains(offered, protocol.PositionEncodingKindUTF32):
			return text.UTF32, protocol.PositionEncodingKindUTF32
		}
	}
	return text.UTF16, protocol.PositionEncodingKindUTF16
}

func clientAbilities(c protocol.ClientCapabilities, encoding text.Encoding) abilities {
	a := abilities{encoding: encoding}
	if w := c.Workspace; w != nil && w.WorkspaceEdit != nil {
		a.documentChanges = is(w.WorkspaceEdit.DocumentChanges)
	}
	if w := c.Workspace; w != nil {
		a.appliesEdits = is(w.ApplyEdit)
		a.configuration = is(w.Configuration)
		if w.Diagnostics != nil {
			a.refreshes = is(w.Diagnostics.RefreshSupport)
		}
		if w.DidChangeConfiguration != nil {
			a.registersConfiguration = is(w.DidChangeConfiguration.DynamicRegistration)
		}
		if w.DidChangeWatchedFiles != nil {
			a.watchesFiles = is(w.DidChangeWatchedFiles.DynamicRegistration)
		}
	}
	if c.Window != nil {
		a.progress = is(c.Window.WorkDoneProgress)
		a.showsPages = c.Window.ShowDocument != nil && c.Window.ShowDocument.Support
	}
	if t := c.TextDocument; t != nil {
		a.asks = t.Diagnostic != nil
		if t.Diagnostic != nil {
			a.relatedInformation = is(t.Diagnostic.RelatedInformation)
		} else if t.PublishDiagnostics != nil {
			a.relatedInformation = is(t.PublishDiagnostics.RelatedInformation)
		}
		if actions := t.CodeAction; actions != nil {
			a.resolvesEdits = is(actions.DataSupport) && slices.Contains(actions.ResolveSupport.Properties, "edit")
		}
		if t.Hover != nil {
			// The client lists the formats in the order of its preference.
			formats := t.Hover.ContentFormat
			a.markdown = len(formats) > 0 && formats[0] == protocol.MarkupKindMarkdown
		}
	}
	return a
}

// workspaceFolders are the folders that the client has open. Old clients name
// one root.
func workspaceFolders(params *protocol.InitializeParams) []protocol.WorkspaceFolder {
	if folders, ok := params.WorkspaceFolders.Get(); ok {
		return folders
	}
	//lint:ignore SA1019 these are all that old clients send
	root, rootPath := params.RootURI, params.RootPath
	if root != nil {
		return []protocol.WorkspaceFolder{{URI: *root}}
	}
	if path, ok := rootPath.Get(); ok && path != "" {
		return []protocol.WorkspaceFolder{{URI: uri.File(path)}}
	}
	return nil
}

// shutdown prepares for exit: all checks end, and requests that wait for news are
// answered.
func (s *server) shutdown() error {
	s.phase.Store(phaseShutdown)
	close(s.ending)
	s.scan.drop()
	for _, p := range s.session.snapshot().programs {
		p.check.cancel()
	}
	return nil
}

// exit ends the session. It must not close the connection itself, which would
// wait for this very handler to return.
func (s *server) exit() error {
	s.stop(errLeft)
	return nil
}

func (s *server) setTrace(params *protocol.SetTraceParams) error {
	s.log.setTrace(params.Value)
	return nil
}
