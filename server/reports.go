package server

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// report is what there is to say of a document, or of a file that is not open.
type report struct {
	version     *int32 // of the document; nil for a file
	diagnostics []protocol.Diagnostic
	// id names what the report says: two reports with one id say the same.
	id string
}

func newReport(version *int32, diagnostics []protocol.Diagnostic) report {
	r := report{version: version, diagnostics: diagnostics}
	if raw, err := protocol.Marshal(diagnostics); err == nil {
		sum := sha256.Sum256(raw)
		r.id = hex.EncodeToString(sum[:8])
	}
	return r
}

// same reports whether a client that has r need not be told of other.
func (r report) same(other report) bool {
	version := func(r report) int64 {
		if r.version == nil {
			return -1 << 32
		}
		return int64(*r.version)
	}
	return r.id == other.id && version(r) == version(other)
}

// reports are the newest reports, and how the client gets to know them. Clients
// that ask for diagnostics are told when to ask again; to others each change is
// published. Between the look at which version is the newest and the message
// nothing may come, so one goroutine at a time does both.
type reports struct {
	server *server

	mu      sync.Mutex
	newest  map[uri.URI]report // files without diagnostics are left out
	asked   map[uri.URI]report // what the client was told of open documents when it asked
	changed chan struct{}      // closed at the next change

	refreshing bool // a refresh is on its way
	outdated   bool // what the client has learned since is outdated again
}

func newReports(s *server) *reports {
	return &reports{server: s, newest: make(map[uri.URI]report), asked: make(map[uri.URI]report), changed: make(chan struct{})}
}

// program takes over the outcome of the check of p, unless it is outdated.
func (r *reports) program(view *snapshot, p *program) {
	parts := p.parts()
	news := make([]report, len(parts))
	for i, part := range parts {
		news[i] = newReport(&part.version, view.diagnostics(part))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server.session.snapshot().programs[p.id()] != p {
		return
	}
	for i, part := range parts {
		r.put(view, part.uri, news[i])
		// The client asks by itself about a version that it has just made. It has
		// no way to know that another document has changed this one's findings.
		if told, ok := r.asked[part.uri]; ok && *told.version == part.version && told.id != news[i].id {
			r.refresh(view)
		}
	}
	if _, text := view.open(p.uri); p.cells != nil && !text {
		r.put(view, p.uri, report{}) // the notebook as a file
	}
}

// file takes over what there is to say of a file that is not open.
func (r *reports) file(view *snapshot, id uri.URI, news report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.server.session.snapshot().isOpen(id) {
		delete(r.asked, id)
		r.put(view, id, news)
	}
}

// close forgets a document that is no longer open.
func (r *reports) close(view *snapshot, id uri.URI) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, open := r.server.session.snapshot().open(id); open {
		return
	}
	delete(r.asked, id)
	r.put(view, id, report{})
}

// put makes news the newest report of a document or file, and publishes it if
// the client does not ask. A report that was never told needs no end.
func (r *reports) put(view *snapshot, id uri.URI, news report) {
	last, known := r.newest[id]
	switch {
	case known && last.same(news), !known && news.version == nil && len(news.diagnostics) == 0:
		return
	case news.version == nil && len(news.diagnostics) == 0:
		delete(r.newest, id)
	default:
		r.newest[id] = news
	}
	close(r.changed)
	r.changed = make(chan struct{})
	if view.client.asks {
		return
	}
	params := &protocol.PublishDiagnosticsParams{URI: id, Diagnostics: news.diagnostics}
	if params.Diagnostics == nil {
		params.Diagnostics = []protocol.Diagnostic{}
	}
	if news.version != nil {
		params.Version = protocol.NewOptional(*news.version)
	}
	if err := r.server.client.PublishDiagnostics(r.server.ctx, params); err != nil {
		r.server.log.warnf("publishing the diagnostics of %s: %v", id, err)
	}
}

// tell notes that the client was told of a report because it asked. If there is
// a newer one by now the client has to ask again.
func (r *reports) tell(view *snapshot, id uri.URI, told report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, open := r.server.session.snapshot().open(id); !open {
		return
	}
	r.asked[id] = told
	if newest, ok := r.newest[id]; ok && newest.version != nil && *newest.version == *told.version && newest.id != told.id {
		r.refresh(view)
	}
}

// refreshPause is how often a client is asked to refresh, at most.
const refreshPause = 100 * time.Millisecond

// refresh asks the client to ask for the diagnostics of open documents again.
// However often this is called, the client gets one request at a time.
func (r *reports) refresh(view *snapshot) {
	if !view.client.refreshes {
		return
	}
	if r.refreshing {
		r.outdated = true
		return
	}
	r.refreshing = true
	go func() {
		for more := true; more; {
			if err := r.server.client.DiagnosticRefresh(r.server.ctx); err != nil && r.server.ctx.Err() == nil {
				r.server.log.warnf("asking for a refresh of the diagnostics: %v", err)
			}
			time.Sleep(refreshPause)
			r.mu.Lock()
			more = r.outdated && r.server.ctx.Err() == nil
			r.outdated, r.refreshing = false, more
			r.mu.Unlock()
		}
	}()
}

// news are the reports that a client does not have which knows, of each document
// and file, a report by its id; and a channel that is closed when there is more.
func (r *reports) news(known map[uri.URI]string) (map[uri.URI]report, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[uri.URI]report)
	for id, newest := range r.newest {
		if known[id] != newest.id {
			out[id] = newest
		}
	}
	for id, told := range known {
		if _, ok := r.newest[id]; !ok && told != "" {
			out[id] = report{}
		}
	}
	return out, r.changed
}
