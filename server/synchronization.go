package server

import (
	"fmt"

	"go.lsp.dev/protocol"
)

// didOpen takes over a document from the client and has it checked.
func (s *server) didOpen(params *protocol.DidOpenTextDocumentParams) error {
	doc := openDocument(&params.TextDocument, s.newCheck())
	view := s.session.snapshot()
	if before, ok := view.documents[doc.uri]; ok {
		before.check.cancel() // opened twice: the client forgot to close it
	}
	view = view.with(doc)
	s.session.set(view)
	s.startCheck(view, doc)
	return nil
}

// didChange makes the next version of a document. The check of the version
// before has become pointless.
func (s *server) didChange(params *protocol.DidChangeTextDocumentParams) error {
	view := s.session.snapshot()
	before, ok := view.documents[params.TextDocument.URI]
	if !ok {
		return fmt.Errorf("%s is not open", params.TextDocument.URI)
	}
	doc, err := before.next(params.TextDocument.Version, params.ContentChanges, view.client.encoding, before.check.next(s))
	if err != nil {
		return err
	}
	before.check.cancel()
	view = view.with(doc)
	s.session.set(view)
	s.startCheck(view, doc)
	return nil
}

// didSave checks the other documents again: they may import what was saved,
// and files that are imported are read from disk.
func (s *server) didSave(params *protocol.DidSaveTextDocumentParams) error {
	view := s.session.snapshot()
	var again []*document
	for id, doc := range view.documents {
		if id != params.TextDocument.URI && doc.python() {
			again = append(again, doc.again(doc.check.next(s)))
			doc.check.cancel()
		}
	}
	view = view.with(again...)
	s.session.set(view)
	for _, doc := range again {
		s.startCheck(view, doc)
	}
	return nil
}

// didClose forgets a document, and takes its diagnostics away from the client.
func (s *server) didClose(params *protocol.DidCloseTextDocumentParams) error {
	view := s.session.snapshot()
	doc, ok := view.documents[params.TextDocument.URI]
	if !ok {
		return fmt.Errorf("%s is not open", params.TextDocument.URI)
	}
	doc.check.cancel()
	s.session.set(view.without(doc.uri))
	if doc.python() {
		go s.publish.clear(s, doc.uri)
	}
	return nil
}

// didChangeWorkspaceFolders adds and removes workspace folders.
func (s *server) didChangeWorkspaceFolders(params *protocol.DidChangeWorkspaceFoldersParams) error {
	s.session.set(s.session.snapshot().withFolders(params.Event))
	return nil
}
