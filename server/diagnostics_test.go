package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

func TestDiagnosticCarriesAllThatIsKnownOfAFinding(t *testing.T) {
	e := launch(t, explained)
	e.initialize(`{"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`)
	e.open(script, 4, "first\nloss = 1\n")
	diagnostics := e.diagnosticsOf(script, 4)
	require.Len(t, diagnostics, 1)
	d := diagnostics[0]
	assert.Equal(t, span(1, 0, 1, 4), d.Range)
	assert.Equal(t, protocol.DiagnosticSeverityError, d.Severity)
	assert.Equal(t, protocol.String("GL101"), d.Code)
	assert.Equal(t, uri.URI(leaks.All()[1].URL()), d.CodeDescription.Href)
	source, _ := d.Source.Get()
	assert.Equal(t, "graphleak", source)
	assert.Equal(t, "`total` keeps the graph.", message(t, d))
	assert.Equal(t, []protocol.DiagnosticRelatedInformation{{
		Location: protocol.Location{URI: script, Range: span(0, 0, 0, 5)},
		Message:  "made here",
	}}, d.RelatedInformation)
	version := int32(4)
	assert.Equal(t, diagnosticData{Version: &version, Memory: "device", Keeps: "graph", Fixes: []fixData{}}, data(t, d))
}

func TestEvidenceInFilesThatAreNotOpenIsReadFromDisk(t *testing.T) {
	meter := filepath.Join(t.TempDir(), "meter.py")
	require.NoError(t, os.WriteFile(meter, []byte("# 😀\nself.sum += value\n"), 0o600))
	e := launch(t, checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
		return rules.Report{Findings: []rules.Finding{{
			Evidence: []rules.Evidence{{Path: meter, Span: text.Span{Start: 7, End: 24}, Message: "kept here"}},
		}}}, nil
	}))
	e.initialize(`{"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`)
	e.open(script, 1, "x")
	assert.Equal(t, []protocol.DiagnosticRelatedInformation{{
		Location: protocol.Location{URI: uri.File(meter), Range: span(1, 0, 1, 17)},
		Message:  "kept here",
	}}, e.diagnosticsOf(script, 1)[0].RelatedInformation)
}

func TestDiagnosticsLeaveOutWhatTheClientCannotShow(t *testing.T) {
	e := launch(t, explained)
	e.initialize(`{}`)
	e.open(script, 1, "first\nloss = 1\n")
	assert.Empty(t, e.diagnosticsOf(script, 1)[0].RelatedInformation)
}

func TestDiagnosticDataCarriesTheFixes(t *testing.T) {
	e := launch(t, lines)
	e.initialize(versionedEdits)
	e.open(script, 3, "leak\n")
	fixes := data(t, e.diagnosticsOf(script, 3)[0]).Fixes
	require.Len(t, fixes, 1)
	assert.Equal(t, "Detach", fixes[0].Title)
	assert.Equal(t, rules.Safe, fixes[0].Safety)
	assert.JSONEq(t, `{"documentChanges":[{
		"textDocument":{"uri":"file:///project/train.py","version":3},
		"edits":[{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":4}},"newText":".detach()"}]
	}]}`, string(fixes[0].Edit))
}

func TestSeverities(t *testing.T) {
	assert.Equal(t, protocol.DiagnosticSeverityError, severity(rules.Error))
	assert.Equal(t, protocol.DiagnosticSeverityWarning, severity(rules.Warning))
	assert.Equal(t, protocol.DiagnosticSeverityHint, severity(rules.Hint))
}
