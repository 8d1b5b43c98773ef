package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// cellScheme is the scheme under which editors sync the text of a notebook's
// cell as a document of its own.
const cellScheme = "vscode-notebook-cell"

// openNotebook is one version of a notebook that is open in the client: which
// cells it has, in what order, and their texts. It is immutable. The Python
// cells among them are the program that is checked.
type openNotebook struct {
	uri   uri.URI
	cells []cell
	texts map[uri.URI]*document
}

// cell is a cell of a notebook.
type cell struct {
	uri  uri.URI
	code bool // not markup
}

// notebookSelector says that the client should send Python cells, of whatever
// kind of notebook.
func notebookSelector() *protocol.NotebookDocumentSyncOptions {
	yes := true
	return &protocol.NotebookDocumentSyncOptions{
		NotebookSelector: []protocol.NotebookSelector{
			&protocol.NotebookDocumentFilterWithCells{Cells: []protocol.NotebookCellLanguage{{Language: string(protocol.LanguageKindPython)}}},
		},
		Save: &yes,
	}
}

// python are the cells that make up the program, in order.
func (n *openNotebook) python() []*document {
	var docs []*document
	for _, c := range n.cells {
		if doc := n.texts[c.uri]; doc != nil && c.code && doc.python() {
			docs = append(docs, doc)
		}
	}
	return docs
}

// cellsOf copies what is kept of cells: they share the memory of the message.
func cellsOf(list []protocol.NotebookCell) []cell {
	cells := make([]cell, len(list))
	for i, c := range list {
		cells[i] = cell{uri: uri.URI(strings.Clone(string(c.Document))), code: c.Kind == protocol.NotebookCellKindCode}
	}
	return cells
}

// didOpenNotebook takes over a notebook from the client and has it checked.
func (s *server) didOpenNotebook(params *protocol.DidOpenNotebookDocumentParams) error {
	view := s.session.snapshot()
	n := &openNotebook{
		uri:   uri.URI(strings.Clone(string(params.NotebookDocument.URI))),
		cells: cellsOf(params.NotebookDocument.Cells),
		texts: make(map[uri.URI]*document),
	}
	for i := range params.CellTextDocuments {
		doc := openDocument(&params.CellTextDocuments[i])
		n.texts[doc.uri] = doc
	}
	p := joined(n.uri, n.python())
	p.check = s.newCheck()
	before, again := view.programs[programID{n.uri, true}]
	if again { // opened twice: the client forgot to close it
		before.check.cancel()
	}
	s.put(view.withNotebook(n).linked(p.path), p)
	if again {
		s.clearMissing(before, p)
	}
	return nil
}

// didChangeNotebook makes the next version of a notebook: cells were added,
// removed or moved, or their texts were edited. What cells have put out, and
// what the metadata say, makes no difference here.
func (s *server) didChangeNotebook(params *protocol.DidChangeNotebookDocumentParams) error {
	view := s.session.snapshot()
	id := params.NotebookDocument.URI
	before, ok := view.notebooks[id]
	if !ok {
		return fmt.Errorf("%s is not open", id)
	}
	changes := params.Change.Cells
	if changes == nil {
		return nil
	}
	// Findings move with each step, from program to program.
	n, p := before, view.programs[programID{id, true}]
	held := p.findings()
	step := func(next *openNotebook) {
		to := joined(next.uri, next.python())
		held = rebase(held, p, to)
		n, p = next, to
	}
	if changes.Structure != nil {
		next, err := n.restructured(changes.Structure)
		if err != nil {
			return err
		}
		step(next)
	}
	if next, ok := n.reclassified(cellsOf(changes.Data)); ok {
		step(next)
	}
	for _, content := range changes.TextContent {
		doc, ok := n.texts[content.Document.URI]
		if !ok {
			return fmt.Errorf("%s is no cell of %s", content.Document.URI, id)
		}
		doc, edits, err := doc.next(content.Document.Version, content.Changes, view.client.encoding)
		if err != nil {
			return err
		}
		if part, ok := p.find(doc.uri); ok {
			held = shifted(held, part, edits)
		}
		n = n.with(doc)
		p = joined(n.uri, n.python())
	}
	if n == before {
		return nil
	}
	old := view.programs[programID{id, true}]
	p.held, p.rests, p.check = held, old.dependencies(), old.check.next(s)
	old.check.cancel()
	s.put(view.withNotebook(n), p)
	s.clearMissing(old, p)
	return nil
}

// clearMissing takes away the diagnostics of the documents of old that p does
// not have.
func (s *server) clearMissing(old, p *program) {
	view := s.session.snapshot()
	for _, doc := range old.docs {
		if _, ok := p.find(doc.uri); !ok {
			go s.reports.close(view, doc.uri)
		}
	}
}

// didSaveNotebook does for notebooks what didSave does.
func (s *server) didSaveNotebook(params *protocol.DidSaveNotebookDocumentParams) error {
	s.saved(params.NotebookDocument.URI)
	return nil
}

// didCloseNotebook forgets a notebook, and takes its diagnostics away.
func (s *server) didCloseNotebook(params *protocol.DidCloseNotebookDocumentParams) error {
	view := s.session.snapshot()
	n, ok := view.notebooks[params.NotebookDocument.URI]
	if !ok {
		return fmt.Errorf("%s is not open", params.NotebookDocument.URI)
	}
	p := view.programs[programID{n.uri, true}]
	s.closed(view, view.withoutNotebook(n).unlinked(p.path), p)
	return nil
}

// restructured is the notebook with other cells, or its cells in another order.
func (n *openNotebook) restructured(change *protocol.NotebookDocumentCellChangeStructure) (*openNotebook, error) {
	start, deleted := int(change.Array.Start), int(change.Array.DeleteCount)
	if start < 0 || deleted < 0 || start > len(n.cells) || deleted > len(n.cells)-start {
		return nil, fmt.Errorf("%s has %d cells, not %d more from %d on", n.uri, len(n.cells), deleted, start)
	}
	next := &openNotebook{uri: n.uri, texts: maps.Clone(n.texts)}
	next.cells = slices.Concat(n.cells[:start], cellsOf(change.Array.Cells), n.cells[start+deleted:])
	for _, doc := range change.DidClose {
		delete(next.texts, doc.URI)
	}
	for i := range change.DidOpen {
		doc := openDocument(&change.DidOpen[i])
		next.texts[doc.uri] = doc
	}
	return next, nil
}

// reclassified is the notebook with changed kinds of cells, if any of cells has
// changed its kind.
func (n *openNotebook) reclassified(cells []cell) (*openNotebook, bool) {
	next := &openNotebook{uri: n.uri, cells: slices.Clone(n.cells), texts: n.texts}
	for _, c := range cells {
		if i := slices.IndexFunc(next.cells, func(old cell) bool { return old.uri == c.uri }); i >= 0 {
			next.cells[i] = c
		}
	}
	return next, !slices.Equal(n.cells, next.cells)
}

// with is the notebook with a new version of the text of a cell.
func (n *openNotebook) with(doc *document) *openNotebook {
	next := *n
	next.texts = maps.Clone(n.texts)
	next.texts[doc.uri] = doc
	return &next
}
