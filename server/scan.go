package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/sources"
)

// scanner checks the files of the workspace that are not open in the client, in
// the background: it starts no file while a program that the user sees is being
// checked.
type scanner struct {
	server *server

	mu sync.Mutex
	// keeps says that all of the workspace is kept checked, not only looked at
	// now and then.
	keeps   bool
	queue   []string // files to check, the next one first
	queued  map[string]bool
	running int
	checked int                           // since the queue was empty
	known   map[string]names.Dependencies // of each file that was checked
	changed map[string][]string           // of each file that is being checked, others that have changed since
	done    chan struct{}                 // closed when nothing is left to do

	// checker is what files are checked with. A checker keeps all that it has
	// read, which for a large workspace is too much, so from time to time another
	// takes its place.
	checker checker
	made    int // when checker was made, in generations of snapshots
	read    int // bytes, by checker

	scanning bool // the whole workspace, in the background
	again    bool // once more after that

	// ctx ends when what is queued and running has become pointless.
	ctx    context.Context
	cancel context.CancelFunc
}

func newScanner(s *server) *scanner {
	c := &scanner{server: s, queued: make(map[string]bool), known: make(map[string]names.Dependencies), changed: make(map[string][]string), done: make(chan struct{})}
	close(c.done)
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// busy reports whether there are files left to check.
func (c *scanner) busy() bool {
	select {
	case <-c.settled():
		return false
	default:
		return true
	}
}

// settled is closed when nothing is left to do.
func (c *scanner) settled() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

// add has files checked, before those that are waiting already if they are
// urgent.
func (c *scanner) add(paths []string, urgent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return c.queued[path] })
	if len(paths) == 0 {
		return
	}
	for _, path := range paths {
		c.queued[path] = true
	}
	if len(c.queue) == 0 && c.running == 0 {
		c.done = make(chan struct{})
		c.checked = 0
	}
	if urgent {
		c.queue = slices.Concat(paths, c.queue)
	} else {
		c.queue = append(c.queue, paths...)
	}
	for range paths {
		if c.running < maxChecks() {
			c.running++
			go c.work()
		}
	}
}

// work checks files until none is left.
func (c *scanner) work() {
	for {
		path, ctx, ok := c.next()
		if !ok {
			return
		}
		if c.server.foreground.wait(ctx) == nil {
			c.update(ctx, path)
		}
	}
}

// next takes a file from the queue. If there is none the worker has ended.
func (c *scanner) next() (path string, ctx context.Context, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		if c.running--; c.running == 0 {
			close(c.done)
		}
		return "", nil, false
	}
	path, c.queue = c.queue[0], c.queue[1:]
	delete(c.queued, path)
	c.checked++
	return path, c.ctx, true
}

// drop ends what is running and forgets what is queued.
func (c *scanner) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	c.ctx, c.cancel = context.WithCancel(c.server.ctx)
	c.queue = nil
	clear(c.queued)
}

// update checks the file at path as it is on disk now and reports what it gives,
// unless it is open in the client.
func (c *scanner) update(ctx context.Context, path string) {
	view := c.server.session.snapshot()
	if _, open := view.file(path); open || view.isOpen(uri.File(path)) {
		return
	}
	c.mu.Lock()
	c.changed[path] = nil
	c.mu.Unlock()
	p, err := c.load(ctx, view, path)
	c.mu.Lock()
	changed := c.changed[path]
	delete(c.changed, path)
	c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.forget(view, path)
	default:
		rests := p.dependencies()
		c.mu.Lock()
		c.known[path] = rests
		c.mu.Unlock()
		if slices.Contains(changed, path) || slices.ContainsFunc(changed, rests.On) {
			c.add([]string{path}, true)
		}
		c.server.reports.file(view, p.uri, newReport(nil, view.diagnostics(p.part(0))))
		c.server.tellProblems(view)
	}
}

// forget takes away what was said about a file that is gone or no longer of
// interest.
func (c *scanner) forget(view *snapshot, path string) {
	c.mu.Lock()
	delete(c.known, path)
	c.mu.Unlock()
	c.server.reports.file(view, uri.File(path), report{})
}

// load reads the file at path and checks it. It fails if there is no such file,
// or ctx ends first.
func (c *scanner) load(ctx context.Context, view *snapshot, path string) (*program, error) {
	source, err := sources.Load(path)
	if err != nil {
		if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
			return nil, err
		}
		p := onDisk(sources.Source{Path: path})
		p.check = ended(outcome{skipped: err.Error()})
		return p, nil
	}
	p := onDisk(source)
	began := time.Now()
	rep, err := c.server.checkSource(ctx, c.checkerFor(view, len(p.code)), p.source())
	if err != nil {
		return nil, err
	}
	if took := time.Since(began); took > slow {
		c.server.log.infof("checking %s took %v", path, took.Round(time.Millisecond))
	}
	p.check = ended(outcome{findings: rep.Findings, rests: rep.Dependencies, skipped: rep.Skipped})
	return p, nil
}

// maxRead is how much one checker reads of files that are not open.
const maxRead = 4 << 20

// checkerFor is the checker for one more file of a size.
func (c *scanner) checkerFor(view *snapshot, size int) checker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read += size; c.checker == nil || c.made != view.generation || c.read > maxRead {
		c.checker, c.made, c.read = c.server.checkerFor(view), view.generation, size
	}
	return c.checker
}

// moved tells the checker that files have come or gone.
func (c *scanner) moved() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checker != nil {
		c.checker.Moved()
	}
}

// check checks the file at path now, for a client that asks about it.
func (c *scanner) check(ctx context.Context, view *snapshot, path string) (report, error) {
	if !sources.IsPython(path) {
		return report{}, nil
	}
	p, err := c.load(ctx, view, path)
	if err != nil {
		return report{}, ctx.Err()
	}
	return newReport(nil, view.diagnostics(p.part(0))), nil
}

// touched has files that were changed checked again if they were before or if
// the whole workspace is kept checked, and with them what rests on them.
func (c *scanner) touched(view *snapshot, paths []string) {
	roots := view.roots()
	c.mu.Lock()
	var again []string
	for _, path := range paths {
		_, known := c.known[path]
		if known || c.keeps && sources.IsPython(path) && within(path, roots) {
			again = append(again, path)
		}
	}
	for path, rests := range c.known {
		if !slices.Contains(again, path) && slices.ContainsFunc(paths, rests.On) {
			again = append(again, path)
		}
	}
	for path := range c.changed {
		c.changed[path] = append(c.changed[path], paths...)
	}
	c.mu.Unlock()
	c.add(again, true)
}
