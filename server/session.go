package server

import (
	"maps"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
)

// session is the state that notifications change. It is a sequence of
// snapshots, of which it holds the newest.
type session struct {
	mu  sync.Mutex
	now *snapshot
}

// snapshot is the session at one moment. It is immutable.
type snapshot struct {
	client    abilities
	folders   []protocol.WorkspaceFolder
	checker   checker // of the documents; imports do not lead out of the folders
	documents map[uri.URI]*document
}

// snapshot returns the newest snapshot.
func (s *session) snapshot() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = new(snapshot)
	}
	return s.now
}

// set replaces the newest snapshot. Only the reading goroutine may call it, so
// nothing is lost between its reading one snapshot and setting the next.
func (s *session) set(next *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
}

// with is v with docs in place of the versions of them that v has.
func (v *snapshot) with(docs ...*document) *snapshot {
	next := *v
	next.documents = maps.Clone(v.documents)
	if next.documents == nil {
		next.documents = make(map[uri.URI]*document)
	}
	for _, doc := range docs {
		next.documents[doc.uri] = doc
	}
	return &next
}

// without is v without the document named id.
func (v *snapshot) without(id uri.URI) *snapshot {
	next := *v
	next.documents = maps.Clone(v.documents)
	delete(next.documents, id)
	return &next
}

// withFolders is v after a change of its workspace folders. Its checker is still
// that of v.
func (v *snapshot) withFolders(event protocol.WorkspaceFoldersChangeEvent) *snapshot {
	next := *v
	next.folders = slices.Clone(v.folders)
	for _, gone := range event.Removed {
		next.folders = slices.DeleteFunc(next.folders, func(f protocol.WorkspaceFolder) bool { return f.URI == gone.URI })
	}
	for _, folder := range event.Added {
		if !slices.ContainsFunc(next.folders, func(f protocol.WorkspaceFolder) bool { return f.URI == folder.URI }) {
			next.folders = append(next.folders, folder)
		}
	}
	return &next
}

// document is the open document of a path as a checker names it.
func (v *snapshot) document(path string) (*document, bool) {
	for _, doc := range v.documents {
		if doc.path == path {
			return doc, true
		}
	}
	return nil, false
}

// text is the text of the open document of a path.
func (v *snapshot) text(path string) ([]byte, bool) {
	doc, open := v.document(path)
	if !open {
		return nil, false
	}
	return doc.text, true
}

// roots are the workspace folders that are directories here.
func (v *snapshot) roots() []string {
	var roots []string
	for _, f := range v.folders {
		if f.URI.IsFile() {
			roots = append(roots, f.URI.FsPath())
		}
	}
	return roots
}

// abilities is what the client can do, as far as it matters here.
type abilities struct {
	encoding           text.Encoding
	documentChanges    bool // versioned workspace edits
	relatedInformation bool
	markdown           bool // in hovers
}
