package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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

const trainingNotebook uri.URI = "file:///project/train.ipynb"

// cellURI names a cell as VS Code does.
func cellURI(name string) uri.URI {
	return uri.URI("vscode-notebook-cell:/project/train.ipynb#" + name)
}

func codeCell(name string) protocol.NotebookCell {
	return protocol.NotebookCell{Kind: protocol.NotebookCellKindCode, Document: cellURI(name)}
}

func pythonCell(name, src string) protocol.TextDocumentItem {
	return protocol.TextDocumentItem{URI: cellURI(name), LanguageID: protocol.LanguageKindPython, Version: 1, Text: src}
}

// openNotebook opens a notebook with cells named a, b, and so on.
func (e *editor) openNotebook(sources ...string) {
	e.t.Helper()
	params := &protocol.DidOpenNotebookDocumentParams{
		NotebookDocument: protocol.NotebookDocument{URI: trainingNotebook, NotebookType: "jupyter-notebook", Version: 1, Cells: []protocol.NotebookCell{}},
	}
	for i, src := range sources {
		name := string(rune('a' + i))
		params.NotebookDocument.Cells = append(params.NotebookDocument.Cells, codeCell(name))
		params.CellTextDocuments = append(params.CellTextDocuments, pythonCell(name, src))
	}
	require.NoError(e.t, e.conn.Notify(e.context(), protocol.MethodNotebookDocumentDidOpen, params))
}

// changeNotebook tells of a change of the cells of the notebook.
func (e *editor) changeNotebook(version int32, changes protocol.NotebookDocumentCellChanges) {
	e.t.Helper()
	require.NoError(e.t, e.conn.Notify(e.context(), protocol.MethodNotebookDocumentDidChange, &protocol.DidChangeNotebookDocumentParams{
		NotebookDocument: protocol.VersionedNotebookDocumentIdentifier{URI: trainingNotebook, Version: version},
		Change:           protocol.NotebookDocumentChangeEvent{Cells: &changes},
	}))
}

// splice replaces cells of the notebook.
func splice(start, deleted uint32, cells ...protocol.NotebookCell) protocol.NotebookCellArrayChange {
	return protocol.NotebookCellArrayChange{Start: start, DeleteCount: deleted, Cells: cells}
}

// cellEdit replaces a range of the text of a cell.
func cellEdit(name string, version int32, r protocol.Range, text string) protocol.NotebookDocumentCellContentChanges {
	return protocol.NotebookDocumentCellContentChanges{
		Document: protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: cellURI(name)}, Version: version},
		Changes:  []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangePartial{Range: r, Text: text}},
	}
}

// The loop of the training stands in a cell of its own.
var trainingCells = []string{
	"%matplotlib inline\n!pip install torch\nimport torch\nimport torch.nn.functional as F\nmodel = torch.nn.Linear(2, 2)\n",
	"total_loss = 0",
	"for x, y in loader:\n    loss = F.cross_entropy(model(x), y)\n    note = \"é😀\"; total_loss += loss",
	"print(total_loss)\nawait done()\ntotal_loss?",
}

func TestNotebookIsOneProgram(t *testing.T) {
	for encoding, capabilities := range encodings {
		t.Run(capabilities, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initialize(strings.TrimSuffix(capabilities, "}") + `,"workspace":{"workspaceEdit":{"documentChanges":true}},"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`)
			e.openNotebook(trainingCells...)
			diagnostics := e.diagnosticsOf(cellURI("c"), 1)
			require.Len(t, diagnostics, 1)
			d := diagnostics[0]
			assert.Equal(t, protocol.String("GL101"), d.Code)
			m := text.NewMapper([]byte(trainingCells[2]))
			assert.Equal(t, "loss", trainingCells[2][offset(m, d.Range.Start, encoding):offset(m, d.Range.End, encoding)])
			require.NotEmpty(t, d.RelatedInformation)
			for _, related := range d.RelatedInformation {
				assert.Equal(t, cellURI("c"), related.Location.URI)
			}

			hover, err := e.hover(cellURI("c"), d.Range.Start)
			require.NoError(t, err)
			require.NotNil(t, hover)
			assert.Equal(t, d.Range, *hover.Range)
			hover, err = e.hover(cellURI("b"), protocol.Position{})
			require.NoError(t, err)
			assert.Nil(t, hover)

			actions, err := e.codeActions(cellURI("c"), d.Range)
			require.NoError(t, err)
			require.NotEmpty(t, actions)
			change := actions[0].Edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
			assert.Equal(t, cellURI("c"), change.TextDocument.URI)
			assert.Equal(t, int32(1), *change.TextDocument.Version)
			edit := change.Edits[0].(*protocol.TextEdit)
			assert.Equal(t, d.Range.End, edit.Range.Start)
			e.changeNotebook(2, protocol.NotebookDocumentCellChanges{TextContent: []protocol.NotebookDocumentCellContentChanges{cellEdit("c", 2, edit.Range, edit.NewText)}})
			assert.Empty(t, e.diagnosticsOf(cellURI("c"), 2))
		})
	}
}

func TestFixAllOfANotebookReachesAllCells(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	loop := "for x, y in loader:\n    loss = F.cross_entropy(model(x), y)\n    loss.backward()\n    %s += loss\nprint(%[1]s)"
	e.openNotebook(trainingCells[0], "first = second = 0", fmt.Sprintf(loop, "first"), fmt.Sprintf(loop, "second"))
	require.Len(t, e.diagnosticsOf(cellURI("c"), 1), 1)
	actions, err := e.codeActions(cellURI("d"), span(0, 0, 0, 0), fixAllKind)
	require.NoError(t, err)
	require.Len(t, actions, 1)
	assert.Len(t, actions[0].Edit.Changes[cellURI("c")], 1)
	assert.Len(t, actions[0].Edit.Changes[cellURI("d")], 1)
}

// told is a checker whose findings are the lines "leak", each with the text of
// all cells so far, so that one knows what was checked.
var told = checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
	var report rules.Report
	for at := 0; ; {
		i := strings.Index(string(src.Text[at:]), "leak")
		if i < 0 {
			return report, nil
		}
		at += i + len("leak")
		words := strings.Fields(string(src.Text[:at]))
		words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains("pass # the next cell of the notebook", w) })
		report.Findings = append(report.Findings, rules.Finding{
			Path: src.Path, Span: text.Span{Start: at - len("leak"), End: at}, Severity: rules.Hint, Message: strings.Join(words, " "),
		})
	}
})

func TestChangesOfTheCells(t *testing.T) {
	markup := func(name string) protocol.NotebookCell {
		return protocol.NotebookCell{Kind: protocol.NotebookCellKindMarkup, Document: cellURI(name)}
	}
	structure := func(array protocol.NotebookCellArrayChange, opened ...protocol.TextDocumentItem) protocol.NotebookDocumentCellChanges {
		return protocol.NotebookDocumentCellChanges{Structure: &protocol.NotebookDocumentCellChangeStructure{Array: array, DidOpen: opened}}
	}
	tests := []struct {
		name    string
		changes []protocol.NotebookDocumentCellChanges
		want    map[string]string // the message in each cell that has one
	}{
		{"nothing", nil, map[string]string{"c": "one two leak"}},
		{"a cell in front", []protocol.NotebookDocumentCellChanges{structure(splice(0, 0, codeCell("x")), pythonCell("x", "zero"))},
			map[string]string{"c": "zero one two leak"}},
		{"a cell with a finding at the end", []protocol.NotebookDocumentCellChanges{structure(splice(3, 0, codeCell("x")), pythonCell("x", "leak"))},
			map[string]string{"c": "one two leak", "x": "one two leak leak"}},
		{"cells removed", []protocol.NotebookDocumentCellChanges{{Structure: &protocol.NotebookDocumentCellChangeStructure{
			Array: splice(0, 2), DidClose: []protocol.TextDocumentIdentifier{{URI: cellURI("a")}, {URI: cellURI("b")}}}}},
			map[string]string{"c": "leak"}},
		{"a cell moved", []protocol.NotebookDocumentCellChanges{structure(splice(0, 3, codeCell("c"), codeCell("a"), codeCell("b")))},
			map[string]string{"c": "leak"}},
		{"a cell moved by removing and adding it", []protocol.NotebookDocumentCellChanges{structure(splice(2, 1)), structure(splice(0, 0, codeCell("c")))},
			map[string]string{"c": "leak"}},
		{"a cell closed and opened in one step", []protocol.NotebookDocumentCellChanges{{Structure: &protocol.NotebookDocumentCellChangeStructure{
			Array: splice(0, 1, codeCell("a")), DidOpen: []protocol.TextDocumentItem{pythonCell("a", "uno")}, DidClose: []protocol.TextDocumentIdentifier{{URI: cellURI("a")}}}}},
			map[string]string{"c": "uno two leak"}},
		{"edits of several cells", []protocol.NotebookDocumentCellChanges{{TextContent: []protocol.NotebookDocumentCellContentChanges{
			cellEdit("a", 2, span(0, 0, 0, 3), "uno leak"), cellEdit("c", 2, span(0, 0, 0, 0), "three ")}}},
			map[string]string{"a": "uno leak", "c": "uno leak two three leak"}},
		{"a new cell and an edit of it in one step", []protocol.NotebookDocumentCellChanges{{
			Structure:   &protocol.NotebookDocumentCellChangeStructure{Array: splice(1, 1, codeCell("x")), DidOpen: []protocol.TextDocumentItem{pythonCell("x", "x")}},
			TextContent: []protocol.NotebookDocumentCellContentChanges{cellEdit("x", 2, span(0, 1, 0, 1), "yz")}}},
			map[string]string{"c": "one xyz leak"}},
		{"a cell becomes text", []protocol.NotebookDocumentCellChanges{{Data: []protocol.NotebookCell{markup("b")}}},
			map[string]string{"c": "one leak"}},
		{"a cell has run", []protocol.NotebookDocumentCellChanges{{Data: []protocol.NotebookCell{{
			Kind: protocol.NotebookCellKindCode, Document: cellURI("b"), ExecutionSummary: &protocol.ExecutionSummary{ExecutionOrder: 7}}}}},
			map[string]string{"c": "one two leak"}},
		{"a cell of another language", []protocol.NotebookDocumentCellChanges{structure(splice(0, 1, codeCell("x")),
			protocol.TextDocumentItem{URI: cellURI("x"), LanguageID: "julia", Version: 1, Text: "zero leak"})},
			map[string]string{"c": "two leak"}},
		{"the finding goes", []protocol.NotebookDocumentCellChanges{structure(splice(2, 1))}, nil},
		{"no such cells", []protocol.NotebookDocumentCellChanges{structure(splice(7, 1)), structure(splice(2, 1<<31)),
			{TextContent: []protocol.NotebookDocumentCellContentChanges{cellEdit("y", 2, span(0, 0, 0, 0), "x")}}},
			map[string]string{"c": "one two leak"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := launch(t, told)
			e.initialize(`{}`)
			e.openNotebook("one", "two", "leak")
			require.Len(t, e.diagnosticsOf(cellURI("c"), 1), 1)
			for i, change := range test.changes {
				e.changeNotebook(int32(i+2), change)
			}
			got := e.messages()
			assert.Equal(t, test.want, got)
		})
	}
}

// messages are what the hovers over the first line of each cell say.
func (e *editor) messages() map[string]string {
	e.t.Helper()
	var got map[string]string
	for _, name := range []string{"a", "b", "c", "x"} {
		for column := range uint32(12) {
			hover, err := e.hover(cellURI(name), protocol.Position{Character: column})
			require.NoError(e.t, err)
			if hover == nil {
				continue
			}
			if got == nil {
				got = make(map[string]string)
			}
			_, message, _ := strings.Cut(hover.Contents.(*protocol.MarkupContent).Value, "\n\n")
			got[name], _, _ = strings.Cut(message, "\n")
			break
		}
	}
	return got
}

func TestMetadataOfANotebookChangeNothing(t *testing.T) {
	e := launch(t, told)
	e.initialize(`{}`)
	e.openNotebook("leak")
	require.Len(t, e.diagnosticsOf(cellURI("a"), 1), 1)
	e.send(frame(`{"jsonrpc":"2.0","method":"notebookDocument/didChange","params":{"notebookDocument":{"uri":"` + string(trainingNotebook) +
		`","version":2},"change":{"metadata":{"kernelspec":{"language":"python"}}}}}`))
	assert.Equal(t, map[string]string{"a": "leak"}, e.messages())
	assert.Empty(t, e.published, "nothing was checked again")
}

func TestDiagnosticsOfCellsThatAreGoneAreTakenAway(t *testing.T) {
	e := launch(t, told)
	e.initialize(`{}`)
	e.openNotebook("leak", "leak")
	require.Len(t, e.diagnosticsOf(cellURI("b"), 1), 1)
	gone := func(id uri.URI) {
		t.Helper()
		for {
			if p := <-e.published; p.URI == id {
				assert.Empty(t, p.Diagnostics)
				return
			}
		}
	}
	e.changeNotebook(2, protocol.NotebookDocumentCellChanges{Structure: &protocol.NotebookDocumentCellChangeStructure{Array: splice(1, 1)}})
	gone(cellURI("b"))
	require.NoError(t, e.conn.Notify(e.context(), protocol.MethodNotebookDocumentDidClose, &protocol.DidCloseNotebookDocumentParams{
		NotebookDocument: protocol.NotebookDocumentIdentifier{URI: trainingNotebook}, CellTextDocuments: []protocol.TextDocumentIdentifier{{URI: cellURI("a")}},
	}))
	gone(cellURI("a"))
	assert.Nil(t, e.messages())

	e.openNotebook("leak")
	assert.Len(t, e.diagnosticsOf(cellURI("a"), 1), 1, "it can be opened again")
}

func TestHalfTypedCellsKeepTheirFindings(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.openNotebook(trainingCells...)
	require.Len(t, e.diagnosticsOf(cellURI("c"), 1), 1)
	for i, key := range "losses.append(torch." {
		e.changeNotebook(int32(i+2), protocol.NotebookDocumentCellChanges{TextContent: []protocol.NotebookDocumentCellContentChanges{
			cellEdit("b", int32(i+2), span(0, uint32(14+i), 0, uint32(14+i)), map[bool]string{true: "\n" + string(key), false: string(key)}[i == 0]),
		}})
		hover, err := e.hover(cellURI("c"), protocol.Position{Line: 2, Character: 35})
		require.NoError(t, err)
		assert.NotNil(t, hover, "after %d keys", i+1)
	}
	e.changeNotebook(100, protocol.NotebookDocumentCellChanges{Structure: &protocol.NotebookDocumentCellChangeStructure{
		Array: splice(0, 0, codeCell("x")), DidOpen: []protocol.TextDocumentItem{pythonCell("x", "# above\nf(")},
	}})
	hover, err := e.hover(cellURI("c"), protocol.Position{Line: 2, Character: 35})
	require.NoError(t, err)
	assert.NotNil(t, hover, "it moves with its cell")
}

// Whatever the order of edits and moves, what is found is what a fresh look at
// the same cells finds.
func TestRandomChangesOfNotebooks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	e := launch(t, told)
	e.initialize(`{}`)
	type cell struct {
		name, src string
		version   int32
	}
	var cells []cell
	e.openNotebook()
	names := 0
	for version := int32(2); version < 400; version++ {
		var changes protocol.NotebookDocumentCellChanges
		action := random.IntN(4)
		if len(cells) == 10 && action == 0 {
			action = 1
		}
		switch at := random.IntN(len(cells) + 1); action {
		case 0: // add
			names++
			c := cell{fmt.Sprint("cell", names), []string{"leak", "é leak\n", "", "x = 1\nleak\nleak"}[random.IntN(4)], 1}
			cells = slices.Insert(cells, at, c)
			changes.Structure = &protocol.NotebookDocumentCellChangeStructure{Array: splice(uint32(at), 0, codeCell(c.name)), DidOpen: []protocol.TextDocumentItem{pythonCell(c.name, c.src)}}
		case 1: // remove
			if at == len(cells) {
				continue
			}
			changes.Structure = &protocol.NotebookDocumentCellChangeStructure{Array: splice(uint32(at), 1), DidClose: []protocol.TextDocumentIdentifier{{URI: cellURI(cells[at].name)}}}
			cells = slices.Delete(cells, at, at+1)
		case 2: // reverse the order
			slices.Reverse(cells[at:])
			changes.Structure = &protocol.NotebookDocumentCellChangeStructure{Array: splice(uint32(at), uint32(len(cells)-at))}
			for _, c := range cells[at:] {
				changes.Structure.Array.Cells = append(changes.Structure.Array.Cells, codeCell(c.name))
			}
		case 3: // edit
			if at == len(cells) {
				continue
			}
			c := &cells[at]
			c.version++
			piece := []string{"y", "leak ", "\n", "😀"}[random.IntN(4)]
			c.src = piece + c.src
			changes.TextContent = []protocol.NotebookDocumentCellContentChanges{cellEdit(c.name, c.version, span(0, 0, 0, 0), piece)}
		}
		e.changeNotebook(version, changes)
	}
	var sources []string
	for _, c := range cells {
		sources = append(sources, c.src)
	}
	fresh := launch(t, told)
	fresh.initialize(`{}`)
	fresh.openNotebook(sources...)
	for i, c := range cells {
		_, err := e.codeActions(cellURI(c.name), span(0, 0, 1000, 0))
		require.NoError(t, err)
		for line := range uint32(4) {
			want, err := fresh.hover(cellURI(string(rune('a'+i))), protocol.Position{Line: line, Character: 1})
			require.NoError(t, err)
			got, err := e.hover(cellURI(c.name), protocol.Position{Line: line, Character: 1})
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	}
	require.NotEmpty(t, cells)
}

func TestCellsWithoutTheirNotebookAreCheckedOneByOne(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.open(cellURI("z"), 1, "%matplotlib inline\n!pip install torch\n"+training)
	diagnostics := e.diagnosticsOf(cellURI("z"), 1)
	require.Len(t, diagnostics, 1)
	assert.Equal(t, protocol.String("GL101"), diagnostics[0].Code)
	assert.Equal(t, uint32(10), diagnostics[0].Range.Start.Line)

	e.openNotebook("x = 1")
	e.open(cellURI("a"), 1, "y = 2")
	e.waitForLog("is open as a cell of")
}
