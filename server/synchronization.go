package server

import (
	"fmt"
	"os"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/usage"
	"github.com/graphleak/graphleak/rules"
)

// checkerFor is a checker whose imports are read from the documents that are
// open at that time, and else from disk within the folders of view. Files are
// checked as they are configured, with the client's settings on top.
func (s *server) checkerFor(view *snapshot) checker {
	open := func(path string) ([]byte, bool) { return s.session.snapshot().text(path) }
	return s.reading(rules.Files{Open: open, Within: view.roots(), Project: view.project}, view.loader, view.layer)
}

// projectOf is what is known of the files of the workspace, as they are open at that
// time.
func (s *server) projectOf(view *snapshot) *usage.Project {
	open := func(path string) ([]byte, bool) { return s.session.snapshot().code(path) }
	return usage.New(view.roots(), open, func(path string) *names.Resolver { return view.checker.Resolver(path) })
}

// anew is view with a checker that has read nothing yet, no configuration either.
func (s *server) anew(view *snapshot) *snapshot {
	next := *view
	next.loader = view.loader.Again()
	next.project = s.projectOf(&next)
	next.checker = s.checkerFor(&next)
	next.generation++
	return &next
}

// checkAgain makes view the newest snapshot and has those of its programs that
// again lists checked once more, after a delay.
func (s *server) checkAgain(view *snapshot, again []*program, delay time.Duration) {
	for i, p := range again {
		check := p.check.next(s)
		check.delay = max(check.delay, delay)
		again[i] = p.again(check)
		p.check.cancel()
	}
	view = view.with(again...)
	s.session.set(view)
	for _, p := range again {
		s.startCheck(view, p)
	}
}

// put makes view with p, a new version or a new program, the newest snapshot
// and has p checked, and later what imports it.
func (s *server) put(view *snapshot, p *program) {
	view = view.with(p)
	view.project.Changed(view.pathsOf(p)...)
	s.checkAgain(view, view.affected(view.pathsOf(p)), importDelay)
	s.startCheck(view, p)
}

// didOpen takes over a document from the client and has it checked.
func (s *server) didOpen(params *protocol.DidOpenTextDocumentParams) error {
	view := s.session.snapshot()
	if owner, ok := view.owners[params.TextDocument.URI]; ok {
		return fmt.Errorf("%s is open as a cell of %s", params.TextDocument.URI, owner)
	}
	p := single(openDocument(&params.TextDocument))
	p.check = s.newCheck()
	if before, ok := view.programs[p.id()]; ok {
		before.check.cancel() // opened twice: the client forgot to close it
	}
	s.moved(view, p)
	s.put(view.linked(p.path), p)
	return nil
}

// moved has checkers look again where imports lead, if p is, or was, in the client
// only.
func (s *server) moved(view *snapshot, p *program) {
	if p.path == "" {
		return
	}
	if _, err := os.Stat(p.path); err != nil {
		view.checker.Moved()
		view.project.Moved()
		s.scan.moved()
	}
}

// didChange makes the next version of a document. The check of the version
// before has become pointless.
func (s *server) didChange(params *protocol.DidChangeTextDocumentParams) error {
	view := s.session.snapshot()
	before, ok := view.programs[programID{params.TextDocument.URI, false}]
	if !ok {
		return fmt.Errorf("%s is not open", params.TextDocument.URI)
	}
	doc, edits, err := before.docs[0].next(params.TextDocument.Version, params.ContentChanges, view.client.encoding)
	if err != nil {
		return err
	}
	p := single(doc)
	p.held, p.rests = shifted(before.findings(), before.part(0), edits), before.dependencies()
	p.check = before.check.next(s)
	before.check.cancel()
	s.put(view, p)
	return nil
}

// didSave is told of documents whose text is now that of the file.
func (s *server) didSave(params *protocol.DidSaveTextDocumentParams) error {
	s.saved(params.TextDocument.URI)
	return nil
}

// saved checks what imports the file that was saved. Clients that watch no files
// have no other way to tell of changes: there all other programs are checked.
func (s *server) saved(id uri.URI) {
	view := s.session.snapshot()
	if s.reconfigured(view) {
		view = s.anew(view)
		s.scan.anew()
	}
	if !view.client.watchesFiles {
		s.checkAgain(view, view.files(func(p *program) bool { return p.uri != id }), 0)
	}
	if id.IsFile() {
		s.scan.touched(view, []string{id.FsPath()})
	}
}

// didClose forgets a document, and takes its diagnostics away from the client.
func (s *server) didClose(params *protocol.DidCloseTextDocumentParams) error {
	view := s.session.snapshot()
	p, ok := view.programs[programID{params.TextDocument.URI, false}]
	if !ok {
		return fmt.Errorf("%s is not open", params.TextDocument.URI)
	}
	s.moved(view, p)
	s.closed(view, view.without(p.id()).unlinked(p.path), p)
	return nil
}

// closed is what follows when p, which was open in before, is closed in view.
func (s *server) closed(before, view *snapshot, p *program) {
	p.check.cancel()
	view.project.Changed(before.pathsOf(p)...)
	s.checkAgain(view, view.affected(before.pathsOf(p)), importDelay)
	if p.path != "" {
		view.checker.Forget(p.path)
	}
	if p.configures() {
		go func() {
			s.reports.close(view, p.uri)
			s.retellProblems(view, p.path)
		}()
		return
	}
	if !p.python() {
		return
	}
	followed := s.scan.follows(p.path)
	if followed {
		s.scan.add([]string{p.path}, true)
	}
	for _, doc := range p.docs {
		if !followed || doc.uri != p.uri { // else the file takes the place of the document
			go s.reports.close(view, doc.uri)
		}
	}
}

// didChangeWorkspaceFolders adds and removes workspace folders. Imports may lead
// to other files then.
func (s *server) didChangeWorkspaceFolders(params *protocol.DidChangeWorkspaceFoldersParams) error {
	view := s.anew(s.session.snapshot().withFolders(params.Event))
	s.checkAgain(view, view.files(func(*program) bool { return true }), 0)
	s.scan.anew()
	if view.client.configuration {
		go s.fetchSettings() // of the new folders
	}
	return nil
}
