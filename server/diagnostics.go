package server

import (
	"encoding/json"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// diagnosticSource is who the client shows the diagnostics to be from.
const diagnosticSource = "graphleak"

// diagnostics is what the check of its program gave for a document, for the
// client.
func (v *snapshot) diagnostics(of part) []protocol.Diagnostic {
	out, _ := of.program.check.outcome()
	if of.program.configures() {
		return v.problemDiagnostics(of.mapper(), out.problems)
	}
	diagnostics := []protocol.Diagnostic{}
	if out.skipped != "" {
		if of.within == of.program.part(0).within {
			diagnostics = append(diagnostics, protocol.Diagnostic{
				Range:    v.rangeOf(of.mapper(), of.mapper().Line(0)),
				Severity: protocol.DiagnosticSeverityInformation,
				Source:   protocol.NewOptional(diagnosticSource),
				Message:  protocol.String("Not analysed: " + out.skipped),
			})
		}
		return diagnostics
	}
	for _, f := range out.findings {
		if of.has(f) {
			diagnostics = append(diagnostics, v.diagnostic(of, f))
		}
	}
	return diagnostics
}

// diagnostic is one finding in a document, for the client.
func (v *snapshot) diagnostic(of part, f rules.Finding) protocol.Diagnostic {
	_, span, _ := of.program.at(f.Span)
	d := protocol.Diagnostic{
		Range:           v.rangeOf(of.mapper(), span),
		Severity:        severity(f.Severity),
		Code:            protocol.String(f.Code),
		CodeDescription: protocol.CodeDescription{Href: v.page(f)},
		Source:          protocol.NewOptional(diagnosticSource),
		Message:         protocol.String(f.Message),
		Data:            v.diagnosticData(of, f),
	}
	if f.Memory == rules.NoMemory {
		d.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
	}
	if v.client.relatedInformation {
		for _, e := range f.Evidence {
			if at, ok := v.location(of.program, e.Path, e.Span); ok {
				d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{Location: at, Message: e.Message})
			}
		}
	}
	return d
}

// diagnosticData is the data of a diagnostic. See docs/protocol.md.
type diagnosticData struct {
	Version *int32    `json:"version"` // of the document that the edits are for; null for a file
	Memory  string    `json:"memory"`
	Keeps   string    `json:"keeps"`
	Fixes   []fixData `json:"fixes"`
}

type fixData struct {
	Title  string          `json:"title"`
	Safety rules.Safety    `json:"safety"`
	Edit   json.RawMessage `json:"edit"` // an LSP WorkspaceEdit
}

func (v *snapshot) diagnosticData(of part, f rules.Finding) protocol.LSPAny {
	data := diagnosticData{Version: of.published(), Memory: string(f.Memory), Keeps: string(f.Keeps), Fixes: []fixData{}}
	for _, fix := range f.Fixes {
		edit, ok := v.workspaceEdit(of.program, fix.Edits)
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

// location is a place in a file: in the program p, in another open one or, if
// the file is not open, as it is on disk. It fails if the file cannot be read.
func (v *snapshot) location(p *program, path string, span text.Span) (protocol.Location, bool) {
	if path != p.path {
		other, open := v.file(path)
		if !open {
			src, err := sources.Read(path, syntax.MaxBytes)
			if err != nil {
				return protocol.Location{}, false
			}
			return protocol.Location{URI: uri.File(path), Range: v.rangeOf(text.NewMapper(src), span)}, true
		}
		p = other
	}
	part, local, ok := p.at(span)
	if !ok {
		return protocol.Location{}, false
	}
	return protocol.Location{URI: part.uri, Range: v.rangeOf(part.mapper(), local)}, true
}
