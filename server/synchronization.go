package server

import (
	"fmt"
	"time"

	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/rules"
)

// checkerFor is a checker whose imports are read from the documents that are
// open at that time, and else from disk within the folders of view.
func (s *server) checkerFor(view *snapshot) checker {
	open := func(path string) ([]byte, bool) { return s.session.snapshot().text(path) }
	return s.reading(rules.Files{Open: open, Within: view.roots()})
}

// checkAgain makes view the newest snapshot and has those of its documents that
// again lists checked once more, after a delay.
func (s *server) checkAgain(view *snapshot, again []*document, delay time.Duration) {
	for i, doc := range again {
		check := doc.check.next(s)
		check.delay = max(check.delay, delay)
		again[i] = doc.again(check)
		doc.check.cancel()
	}
	view = view.with(again...)
	s.session.set(view)
	for _, doc := range again {
		s.startCheck(view, doc)
	}
}

// put makes view with doc, a new version or a new document, the newest snapshot
// and has doc checked, and later what may import it.
func (s *server) put(view *snapshot, doc *document) {
	view = view.with(doc)
	s.checkAgain(view, view.importers(doc), importDelay)
	s.startCheck(view, doc)
}

// didOpen takes over a document from the client and has it checked.
func (s *server) didOpen(params *protocol.DidOpenTextDocumentParams) error {
	doc := openDocument(&params.TextDocument, s.newCheck())
	view := s.session.snapshot()
	if before, ok := view.documents[doc.uri]; ok {
		before.check.cancel() // opened twice: the client forgot to close it
	}
	s.put(view, doc)
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
	s.put(view, doc)
	return nil
}

// didSave checks all other documents again. They may import what was saved
// through files that are not open, and what else changed on disk is seen, too.
func (s *server) didSave(params *protocol.DidSaveTextDocumentParams) error {
	view := s.session.snapshot()
	s.checkAgain(view, view.files(func(doc *document) bool { return doc.uri != params.TextDocument.URI }), 0)
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
	view = view.without(doc.uri)
	s.checkAgain(view, view.importers(doc), importDelay)
	if doc.python() {
		go s.publish.clear(s, doc.uri)
	}
	return nil
}

// didChangeWorkspaceFolders adds and removes workspace folders. Imports may lead
// to other files then.
func (s *server) didChangeWorkspaceFolders(params *protocol.DidChangeWorkspaceFoldersParams) error {
	view := s.session.snapshot().withFolders(params.Event)
	view.checker = s.checkerFor(view)
	s.checkAgain(view, view.files(func(*document) bool { return true }), 0)
	return nil
}
