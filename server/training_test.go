package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// training leaks: no backward runs, so every step's graph stays. The leak is
// behind characters that count differently in each unit.
const training = `import torch
import torch.nn.functional as F


def train(model: torch.nn.Module, loader):
    total_loss = 0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        note = "é😀"; total_loss += loss
    print(total_loss / len(loader))


def report(value):
    return f"{value:.3f}"
`

// apply makes the edits of an action in src as a client does.
func apply(t *testing.T, src string, id uri.URI, edit *protocol.WorkspaceEdit, enc text.Encoding) string {
	t.Helper()
	m := text.NewMapper([]byte(src))
	var edits []text.Edit
	for _, e := range edit.Changes[id] {
		edits = append(edits, text.Edit{
			Span: text.Span{Start: offset(m, e.Range.Start, enc), End: offset(m, e.Range.End, enc)},
			New:  e.NewText,
		})
	}
	out, err := text.Apply([]byte(src), edits)
	require.NoError(t, err)
	return string(out)
}

func TestLeakIsFoundExplainedAndFixed(t *testing.T) {
	for encoding, capabilities := range encodings {
		t.Run(capabilities, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initialize(strings.TrimSuffix(capabilities, "}") + `,"textDocument":{"publishDiagnostics":{"relatedInformation":true},"hover":{"contentFormat":["markdown"]}}}`)
			e.open(script, 1, training)
			diagnostics := e.diagnosticsOf(script, 1)
			require.Len(t, diagnostics, 1)
			d := diagnostics[0]
			assert.Equal(t, protocol.String("GL101"), d.Code)
			assert.Equal(t, protocol.DiagnosticSeverityError, d.Severity)
			assert.NotEmpty(t, d.RelatedInformation)
			m := text.NewMapper([]byte(training))
			start, end := offset(m, d.Range.Start, encoding), offset(m, d.Range.End, encoding)
			assert.Equal(t, "loss", training[start:end])
			assert.Equal(t, strings.Index(training, "+= loss")+len("+= "), start)

			hover, err := e.hover(script, d.Range.Start)
			require.NoError(t, err)
			require.NotNil(t, hover)
			assert.Contains(t, hover.Contents.(*protocol.MarkupContent).Value, message(t, d))

			actions, err := e.codeActions(script, d.Range)
			require.NoError(t, err)
			require.NotEmpty(t, actions)
			fixed := apply(t, training, script, actions[0].Edit, encoding)
			assert.Contains(t, fixed, "total_loss += loss.")
			e.changes(script, 2, &protocol.TextDocumentContentChangeWholeDocument{Text: fixed})
			assert.Empty(t, e.diagnosticsOf(script, 2))
		})
	}
}

func TestHalfTypedCodeKeepsItsFindings(t *testing.T) {
	// at is the line that starts with a text.
	at := func(start string) uint32 {
		index := strings.Index(training, "\n"+start)
		require.GreaterOrEqual(t, index, 0)
		return uint32(strings.Count(training[:index], "\n")) + 1
	}
	end := uint32(strings.Count(training, "\n"))
	tests := []struct {
		name  string
		line  uint32 // in front of which the text is typed, in a line of its own
		typed string
	}{
		{"behind the loop", at("    print(total_loss"), "    print("},
		{"an open string", at("    print(total_loss"), "    print(\""},
		{"an attribute", at("    print(total_loss"), "    loss."},
		{"in the loop", at("        note = "), "        x = model("},
		{"an operator in the loop", at("        note = "), "        x = y +"},
		{"a condition in the loop", at("        note = "), "        if x"},
		{"a dictionary in front of the loop", at("    for x"), "    options = {\"a\": [1, "},
		{"a block in front of the loop", at("    for x"), "    with torch"},
		{"in another function", end, "    x = ("},
		{"a new function", end, "\n\ndef new(self, "},
		{"a new function in front", at("def train"), "def new(self, a=\"x"},
		{"a decorator", at("def train"), "@torch.compile("},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initialize(`{}`)
			e.open(script, 0, training)
			require.Len(t, e.diagnosticsOf(script, 0), 1)
			e.change(script, 1, span(test.line, 0, test.line, 0), "\n")
			require.Len(t, e.diagnosticsOf(script, 1), 1)
			version, cursor := int32(1), protocol.Position{Line: test.line}
			for _, key := range test.typed {
				version++
				e.change(script, version, protocol.Range{Start: cursor, End: cursor}, string(key))
				if cursor.Character++; key == '\n' {
					cursor = protocol.Position{Line: cursor.Line + 1}
				}
				diagnostics := e.diagnosticsOf(script, version)
				require.Len(t, diagnostics, 1, "after %q", test.typed[:version-1])
				assert.Equal(t, protocol.String("GL101"), diagnostics[0].Code)
			}
		})
	}
}

func TestBrokenLinesKeepTheFindingsAround(t *testing.T) {
	for _, line := range []struct{ whole, broken string }{
		{"for x, y in loader:", "for x, y in loader"},
		{"for x, y in loader:", "for x, y in"},
		{"for x, y in loader:", "for"},
		{"F.cross_entropy(model(x), y)", "F.cross_entropy(model(x), y"},
		{"F.cross_entropy(model(x), y)", "F."},
		{"F.cross_entropy(model(x), y)", ""},
		{"total_loss = 0", "total_loss ="},
		{"def train(model: torch.nn.Module, loader):", "def train(model: torch.nn.Module, loader)"},
		{"def train(model: torch.nn.Module, loader):", "def train(model: torch.nn.Module, lo"},
		{"def train(model: torch.nn.Module, loader):", "def train("},
	} {
		t.Run(line.broken, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initialize(`{}`)
			e.open(script, 1, training)
			whole := e.diagnosticsOf(script, 1)
			require.Len(t, whole, 1)
			e.changes(script, 2, &protocol.TextDocumentContentChangeWholeDocument{Text: strings.Replace(training, line.whole, line.broken, 1)})
			broken := e.diagnosticsOf(script, 2)
			require.Len(t, broken, 1)
			assert.Equal(t, whole[0].Range, broken[0].Range)
			for _, fix := range data(t, broken[0]).Fixes {
				assert.Equal(t, rules.Unsafe, fix.Safety, "the broken line may use the value")
			}
			e.changes(script, 3, &protocol.TextDocumentContentChangeWholeDocument{Text: training})
			again := e.diagnosticsOf(script, 3)
			require.Len(t, again, 1)
			require.NotEmpty(t, data(t, again[0]).Fixes)
			assert.Equal(t, rules.Safe, data(t, again[0]).Fixes[0].Safety)
		})
	}
}

func TestDocumentsThatAreNoPythonSayWhy(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	for i, src := range []string{"\x00\x01\x02", strings.Repeat("x = 1\n", 300_000)} {
		id := uri.URI(fmt.Sprintf("file:///project/bad%d.py", i))
		e.open(id, 1, src)
		diagnostics := e.diagnosticsOf(id, 1)
		require.Len(t, diagnostics, 1)
		assert.Equal(t, protocol.DiagnosticSeverityInformation, diagnostics[0].Severity)
		assert.Contains(t, message(t, diagnostics[0]), "Not analysed: ")
	}
}

func TestDiagnoseNamesTheLeakInTheWorkspace(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "train.py"), []byte(training), 0o600))
	log, err := json.Marshal(diagnoseArgument{Text: fmt.Sprintf(`Traceback (most recent call last):
  File "%s", line 8, in train
    loss = F.cross_entropy(model(x), y)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.05 GiB is free. Including non-PyTorch memory, this process has 78.09 GiB memory in use. Of the allocated memory 76.41 GiB is allocated by PyTorch, and 1.19 GiB is reserved by PyTorch but unallocated.
`, filepath.ToSlash(filepath.Join(folder, "train.py")))})
	require.NoError(t, err)
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	var result struct {
		Diagnosis struct {
			Failure  string
			Suspects []struct {
				Path  string
				Code  string
				Range struct{ Start struct{ Line int } }
			}
		}
	}
	diagnose := func() {
		t.Helper()
		raw, err := e.command("graphleak.diagnose", "", string(log))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &result))
	}
	diagnose()
	require.Empty(t, result.Diagnosis.Suspects, "the file lies outside of the workspace")

	added := protocol.WorkspaceFolder{URI: uri.File(folder), Name: "project"}
	require.NoError(t, e.server.DidChangeWorkspaceFolders(e.context(), &protocol.DidChangeWorkspaceFoldersParams{
		Event: protocol.WorkspaceFoldersChangeEvent{Added: []protocol.WorkspaceFolder{added}, Removed: []protocol.WorkspaceFolder{}},
	}))
	diagnose()
	assert.Equal(t, "memory.cuda-oom.graph-retained", result.Diagnosis.Failure)
	require.Len(t, result.Diagnosis.Suspects, 1)
	suspect := result.Diagnosis.Suspects[0]
	assert.Equal(t, "train.py", suspect.Path)
	assert.Equal(t, "GL101", suspect.Code)
	assert.Equal(t, 9, suspect.Range.Start.Line)

	e.open(uri.File(filepath.Join(folder, "train.py")), 1, "# edited\n"+training)
	diagnose()
	require.Len(t, result.Diagnosis.Suspects, 1)
	assert.Equal(t, 10, result.Diagnosis.Suspects[0].Range.Start.Line, "where it is in the editor")
}
