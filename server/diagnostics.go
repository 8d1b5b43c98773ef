package server

import (
	"encoding/json"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// diagnosticSource is who the client shows the diagnostics to be from.
const diagnosticSource = "graphleak"

// publisher sends diagnostics. One goroutine does so at a time: between the
// look at which version is the newest and the message, nothing may come.
type publisher struct{ mu sync.Mutex }

// diagnostics sends the outcome of the check of doc, unless it is outdated.
func (p *publisher) diagnostics(s *server, view *snapshot, doc *document) {
	diagnostics := view.diagnostics(doc)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.session.snapshot().documents[doc.uri] != doc {
		return
	}
	params := &protocol.PublishDiagnosticsParams{
		URI:         doc.uri,
		Version:     protocol.NewOptional(doc.version),
		Diagnostics: diagnostics,
	}
	if err := s.client.PublishDiagnostics(s.ctx, params); err != nil {
		s.log.warnf("publishing the diagnostics of %s: %v", doc.uri, err)
	}
}

// clear takes away the diagnostics of a document that is no longer open.
func (p *publisher) clear(s *server, id uri.URI) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := s.session.snapshot().documents[id]; open {
		return
	}
	params := &protocol.PublishDiagnosticsParams{URI: id, Diagnostics: []protocol.Diagnostic{}}
	if err := s.client.PublishDiagnostics(s.ctx, params); err != nil {
		s.log.warnf("clearing the diagnostics of %s: %v", id, err)
	}
}

// diagnostics is what the check of doc gave, for the client.
func (v *snapshot) diagnostics(doc *document) []protocol.Diagnostic {
	out, _ := doc.check.outcome()
	if out.skipped != "" {
		return []protocol.Diagnostic{{
			Range:    v.span(doc, doc.mapper().Line(0)),
			Severity: protocol.DiagnosticSeverityInformation,
			Source:   protocol.NewOptional(diagnosticSource),
			Message:  protocol.String("Not analysed: " + out.skipped),
		}}
	}
	diagnostics := make([]protocol.Diagnostic, len(out.findings))
	for i, f := range out.findings {
		diagnostics[i] = v.diagnostic(doc, f)
	}
	return diagnostics
}

// diagnostic is one finding in doc, for the client.
func (v *snapshot) diagnostic(doc *document, f rules.Finding) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Range:           v.span(doc, f.Span),
		Severity:        severity(f.Severity),
		Code:            protocol.String(f.Code),
		CodeDescription: protocol.CodeDescription{Href: v.page(f)},
		Source:          protocol.NewOptional(diagnosticSource),
		Message:         protocol.String(f.Message),
		Data:            v.diagnosticData(doc, f),
	}
	if v.client.relatedInformation {
		for _, e := range f.Evidence {
			if at, ok := v.location(doc, e.Path, e.Span); ok {
				d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{Location: at, Message: e.Message})
			}
		}
	}
	return d
}

// diagnosticData is the data of a diagnostic. See docs/protocol.md.
type diagnosticData struct {
	Version int32     `json:"version"` // of the document that the edits are for
	Memory  string    `json:"memory"`
	Keeps   string    `json:"keeps"`
	Fixes   []fixData `json:"fixes"`
}

type fixData struct {
	Title  string          `json:"title"`
	Safety rules.Safety    `json:"safety"`
	Edit   json.RawMessage `json:"edit"` // an LSP WorkspaceEdit
}

func (v *snapshot) diagnosticData(doc *document, f rules.Finding) protocol.LSPAny {
	data := diagnosticData{Version: doc.version, Memory: string(f.Memory), Keeps: string(f.Keeps), Fixes: []fixData{}}
	for _, fix := range f.Fixes {
		edit, ok := v.workspaceEdit(doc, fix.Edits)
		if !ok {
			continue
		}
		raw, err := protocol.Marshal(edit)
		if err != nil {
			continue
		}
		data.Fixes = append(data.Fixes, fixData{Title: fix.Title, Safety: fix.Safety, Edit: raw})
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil
	}
	return raw
}

// page is the address of what there is to read about the rule of f.
func (v *snapshot) page(f rules.Finding) uri.URI {
	for _, rule := range v.checker.Rules() {
		if rule.Code == f.Code {
			return uri.URI(rule.URL())
		}
	}
	return ""
}

func severity(s rules.Severity) protocol.DiagnosticSeverity {
	switch s {
	case rules.Error:
		return protocol.DiagnosticSeverityError
	case rules.Warning:
		return protocol.DiagnosticSeverityWarning
	default:
		return protocol.DiagnosticSeverityHint
	}
}

// location is a place in a file: in doc, in another open document or, if the
// file is not open, as it is on disk. It fails if the file cannot be read.
func (v *snapshot) location(doc *document, path string, span text.Span) (protocol.Location, bool) {
	if path != doc.path {
		other, open := v.document(path)
		if !open {
			src, err := sources.Read(path, syntax.MaxBytes)
			if err != nil {
				return protocol.Location{}, false
			}
			return protocol.Location{URI: uri.File(path), Range: v.rangeOf(text.NewMapper(src), span)}, true
		}
		doc = other
	}
	return protocol.Location{URI: doc.uri, Range: v.span(doc, span)}, true
}
