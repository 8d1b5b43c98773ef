package server

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/analyzer/usage"
	"github.com/graphleak/graphleak/rules/config"
)

// session is the state that notifications change. It is a sequence of
// snapshots, of which it holds the newest.
type session struct {
	// changing is held from the look at the newest snapshot until the next one
	// takes its place, so that nothing is lost between the two.
	changing sync.Mutex

	mu  sync.Mutex
	now *snapshot
}

// snapshot is the session at one moment. It is immutable.
type snapshot struct {
	client     abilities
	chosen     chosen // in the client's settings
	folders    []protocol.WorkspaceFolder
	checker    checker        // of the programs; imports do not lead out of the folders
	project    *usage.Project // of the folders
	loader     *config.Loader // of the configuration of files
	generation int            // how often checker was replaced, since what it had read may no longer hold
	programs   map[programID]*program
	notebooks  map[uri.URI]*openNotebook
	owners     map[uri.URI]uri.URI // the notebook of each cell
	links      map[string]string   // the path of each open file by what it is a link to
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

// set replaces the newest snapshot. Only who holds changing may call it.
func (s *session) set(next *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
}

// with is v with programs in place of the versions of them that v has.
func (v *snapshot) with(programs ...*program) *snapshot {
	next := *v
	next.programs = maps.Clone(v.programs)
	if next.programs == nil {
		next.programs = make(map[programID]*program)
	}
	for _, p := range programs {
		next.programs[p.id()] = p
	}
	return &next
}

// without is v without the program named id.
func (v *snapshot) without(id programID) *snapshot {
	next := *v
	next.programs = maps.Clone(v.programs)
	delete(next.programs, id)
	return &next
}

// withNotebook is v with n in place of the version of it that v has. Its program
// is still that of v.
func (v *snapshot) withNotebook(n *openNotebook) *snapshot {
	next := *v
	next.notebooks = maps.Clone(v.notebooks)
	if next.notebooks == nil {
		next.notebooks = make(map[uri.URI]*openNotebook)
	}
	next.notebooks[n.uri] = n
	if old := v.notebooks[n.uri]; old == nil || !slices.Equal(old.cells, n.cells) {
		next.owners = ownersOf(next.notebooks)
	}
	return &next
}

// withoutNotebook is v without n and its program.
func (v *snapshot) withoutNotebook(n *openNotebook) *snapshot {
	next := v.without(programID{n.uri, true})
	next.notebooks = maps.Clone(v.notebooks)
	delete(next.notebooks, n.uri)
	next.owners = ownersOf(next.notebooks)
	return next
}

func ownersOf(notebooks map[uri.URI]*openNotebook) map[uri.URI]uri.URI {
	owners := make(map[uri.URI]uri.URI)
	for _, n := range notebooks {
		for _, c := range n.cells {
			owners[c.uri] = n.uri
		}
	}
	return owners
}

// open is the open document named id, as a part of its program.
func (v *snapshot) open(id uri.URI) (part, bool) {
	p, ok := v.programs[programID{id, false}]
	if owner, inNotebook := v.owners[id]; inNotebook {
		p, ok = v.programs[programID{owner, true}]
	}
	if !ok {
		return part{}, false
	}
	return p.find(id)
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

// isOpen reports whether a document or a notebook named id is open.
func (v *snapshot) isOpen(id uri.URI) bool {
	return v.programs[programID{id, false}] != nil || v.programs[programID{id, true}] != nil
}

// file is the open program of the file at path, as a checker names it.
func (v *snapshot) file(path string) (*program, bool) {
	if p, ok := v.programs[programID{uri.File(path), sources.IsNotebook(path)}]; ok {
		return p, true
	}
	if link, ok := v.links[path]; ok && link != path {
		return v.file(link)
	}
	return nil, false
}

// linked is v with the place where the file at path really is, if that is
// another one: imports may lead there.
func (v *snapshot) linked(path string) *snapshot {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return v
	}
	next := *v
	next.links = maps.Clone(v.links)
	if next.links == nil {
		next.links = make(map[string]string)
	}
	next.links[real] = path
	return &next
}

// unlinked is v after the file at path was closed.
func (v *snapshot) unlinked(path string) *snapshot {
	if len(v.links) == 0 {
		return v
	}
	next := *v
	next.links = maps.Clone(v.links)
	maps.DeleteFunc(next.links, func(_, link string) bool { return link == path })
	return &next
}

// text is the text of the open Python file at path.
func (v *snapshot) text(path string) ([]byte, bool) {
	p, open := v.file(path)
	if !open || p.cells != nil {
		return nil, false
	}
	return p.code, true
}

// code is that of an open program, of a notebook too.
func (v *snapshot) code(path string) ([]byte, bool) {
	if p, open := v.file(path); open {
		return p.code, true
	}
	return nil, false
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
	appliesEdits       bool // that the server asks for
	relatedInformation bool
	markdown           bool // in hovers

	resolvesEdits bool // of code actions
	showsPages    bool // of the web, if it is asked to

	asks      bool // for diagnostics; others get them published
	refreshes bool // its diagnostics when it is asked to

	configuration          bool // can be asked for settings
	registersConfiguration bool // tells of changed settings if it is asked to
	watchesFiles           bool // if it is asked to
	progress               bool // shows that of work that it has not asked for
}
