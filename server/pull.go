package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// diagnosticProvider announces that clients may ask for diagnostics.
func diagnosticProvider() *protocol.DiagnosticOptions {
	name := diagnosticSource
	return &protocol.DiagnosticOptions{Identifier: &name, InterFileDependencies: true, WorkspaceDiagnostics: true}
}

// errOutdated answers a request for the diagnostics of a version of a document
// that is no longer the newest. With another code clients would take them away.
var errOutdated = func() *jsonrpc2.Error {
	err := jsonrpc2.Errorf(jsonrpc2.Code(protocol.LSPErrorCodesServerCancelled), "the document has changed")
	if data, e := protocol.Marshal(protocol.DiagnosticServerCancellationData{RetriggerRequest: true}); e == nil {
		err.Data = data
	}
	return err
}()

// documentDiagnostic is the report of an open document as of its check, or of a
// file that is not open as it is on disk.
func (s *server) documentDiagnostic(ctx context.Context, view *snapshot, params *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	id := uri.URI(strings.Clone(string(params.TextDocument.URI)))
	var told report
	if part, ok := view.open(id); ok {
		if _, err := part.program.check.wait(ctx); errors.Is(err, protocol.ErrContentModified) {
			return nil, errOutdated
		} else if err != nil {
			return nil, err
		}
		told = newReport(&part.version, view.diagnostics(part))
		defer s.reports.tell(view, id, told)
	} else if id.IsFile() {
		var err error
		if told, err = s.scan.check(ctx, view, id.FsPath()); err != nil {
			return nil, err
		}
	}
	if params.PreviousResultID != nil && *params.PreviousResultID == told.id {
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: unchanged(told.id)}, nil
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: full(told)}, nil
}

func full(r report) protocol.FullDocumentDiagnosticReport {
	out := protocol.FullDocumentDiagnosticReport{Kind: "full", Items: r.diagnostics}
	if out.Items == nil {
		out.Items = []protocol.Diagnostic{}
	}
	if r.id != "" {
		out.ResultID = &r.id
	}
	return out
}

func unchanged(id string) protocol.UnchangedDocumentDiagnosticReport {
	return protocol.UnchangedDocumentDiagnosticReport{Kind: "unchanged", ResultID: id}
}

// newsPause is how long news are collected before they are sent.
const newsPause = 50 * time.Millisecond

// workspaceDiagnostic tells what the client does not know of all files and
// documents. While the workspace is being checked, what is found is sent bit by
// bit, if the client takes that. The answer comes when all is checked; if there
// is nothing to tell by then it waits for news, so that a client may ask again
// and again at no cost.
func (s *server) workspaceDiagnostic(ctx context.Context, _ *snapshot, params *protocol.WorkspaceDiagnosticParams) (*protocol.WorkspaceDiagnosticReport, error) {
	known := make(map[uri.URI]string)
	for _, previous := range params.PreviousResultIds {
		known[previous.URI] = previous.Value
	}
	streamed := false
	for {
		busy := s.scan.busy() // before the look at what there is
		news, more := s.reports.news(known)
		items := workspaceItems(news)
		switch {
		case busy && len(items) > 0 && params.PartialResultToken != nil:
			value, err := protocol.Marshal(protocol.WorkspaceDiagnosticReportPartialResult{Items: items})
			if err != nil {
				return nil, err
			}
			if err := s.client.Progress(s.ctx, &protocol.ProgressParams{Token: params.PartialResultToken, Value: value}); err != nil {
				return nil, err
			}
			for id, r := range news {
				known[id] = r.id
			}
			streamed = true
		case !busy && (streamed || len(items) > 0):
			return &protocol.WorkspaceDiagnosticReport{Items: items}, nil
		}
		select {
		case <-more:
		case <-s.scan.settled():
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.ending:
			return &protocol.WorkspaceDiagnosticReport{Items: workspaceItems(nil)}, nil
		}
		select { // what comes soon goes along
		case <-time.After(newsPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func workspaceItems(news map[uri.URI]report) []protocol.WorkspaceDocumentDiagnosticReport {
	items := []protocol.WorkspaceDocumentDiagnosticReport{}
	for _, id := range slices.Sorted(maps.Keys(news)) {
		r := news[id]
		items = append(items, &protocol.WorkspaceFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: full(r), URI: id, Version: r.version})
	}
	return items
}
