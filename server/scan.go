package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/uri"

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
	checked int                        // since the queue was empty
	known   map[string]map[string]bool // the words of the imports of each file that was checked
	done    chan struct{}              // closed when nothing is left to do

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
	c := &scanner{server: s, queued: make(map[string]bool), known: make(map[string]map[string]bool), done: make(chan struct{})}
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
	p, err := c.load(ctx, view, path)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.forget(view, path)
	default:
		c.mu.Lock()
		c.known[path] = p.imported()
		c.mu.Unlock()
		c.server.reports.file(view, p.uri, newReport(nil, view.diagnostics(p.part(0))))
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
	p.check = ended(outcome{findings: rep.Findings, skipped: rep.Skipped})
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
// the whole workspace is kept checked, and with them what may import them.
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
	for path, words := range c.known {
		if !slices.Contains(again, path) && slices.ContainsFunc(paths, func(changed string) bool { return namesFile(words, changed) }) {
			again = append(again, path)
		}
	}
	c.mu.Unlock()
	c.add(again, true)
}

// list is the files of the workspace that are not open, those that open programs
// may import first.
func (c *scanner) list(ctx context.Context, view *snapshot) ([]string, error) {
	roots := slices.DeleteFunc(view.roots(), func(root string) bool {
		_, err := os.Stat(root)
		return err != nil // one that is gone must not hide the others
	})
	listing, err := sources.Find(ctx, roots)
	if err != nil {
		return nil, err
	}
	imported := make(map[string]bool)
	for _, p := range view.programs {
		if p.python() {
			maps.Copy(imported, p.imported())
		}
	}
	rank := func(path string) int {
		if namesFile(imported, path) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(listing.Files, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return listing.Files, nil
}

// scanResult is what graphleak.scanWorkspace returns.
type scanResult struct {
	Files    int `json:"files"`    // checked, open ones included
	Findings int `json:"findings"` // in all of them
}

// all checks the whole workspace and waits for the end. tell is told of the
// progress.
func (c *scanner) all(ctx context.Context, view *snapshot, tell func(done, total int)) (scanResult, error) {
	files, err := c.list(ctx, view)
	if err != nil {
		return scanResult{}, err
	}
	listed := len(files)
	if files, err = c.relevant(ctx, files); err != nil {
		return scanResult{}, err
	}
	c.prune(view, files)
	c.add(files, false)
	for tick := time.NewTicker(progressPause); ; {
		select {
		case <-c.settled():
			tick.Stop()
			return c.result(listed), nil
		case <-tick.C:
			c.mu.Lock()
			done, left := c.checked-c.running, len(c.queue)+c.running
			c.mu.Unlock()
			tell(max(done, 0), max(done, 0)+left)
		case <-ctx.Done():
			tick.Stop()
			c.drop()
			return scanResult{}, ctx.Err()
		}
	}
}

// progressPause is how often progress is told.
const progressPause = 100 * time.Millisecond

// prune forgets files that were checked and are not among those of the
// workspace any more.
func (c *scanner) prune(view *snapshot, files []string) {
	present := make(map[string]bool, len(files))
	for _, path := range files {
		present[path] = true
	}
	c.mu.Lock()
	var gone []string
	for path := range c.known {
		if !present[path] {
			gone = append(gone, path)
		}
	}
	c.mu.Unlock()
	for _, path := range gone {
		c.forget(view, path)
	}
}

func (c *scanner) result(files int) scanResult {
	result := scanResult{Files: files}
	reports, _ := c.server.reports.news(nil)
	for _, r := range reports {
		for _, d := range r.diagnostics {
			if d.Code != nil {
				result.Findings++
			}
		}
	}
	return result
}

// follows reports whether a file that is closed is still checked.
func (c *scanner) follows(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.known[path]
	return path != "" && (known || c.keeps)
}

// keep says whether the whole workspace is kept checked from now on. If it is
// no longer, what was said about files that are not open is taken away.
func (c *scanner) keep(view *snapshot, keeps bool) {
	c.mu.Lock()
	before := c.keeps
	c.keeps = keeps
	c.mu.Unlock()
	switch {
	case keeps && !before:
		c.anew()
	case before && !keeps:
		c.drop()
		c.prune(view, nil)
	}
}

// anew looks at the whole workspace again, in the background, if it is kept
// checked. The client shows the progress, and can cancel.
func (c *scanner) anew() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.keeps:
	case c.scanning:
		c.again = true
	default:
		c.scanning = true
		go func() {
			for more := true; more; {
				c.inBackground()
				c.mu.Lock()
				more = c.again && c.server.ctx.Err() == nil
				c.again, c.scanning = false, more
				c.mu.Unlock()
			}
		}()
	}
}

func (c *scanner) inBackground() {
	s := c.server
	view := s.session.snapshot()
	began := time.Now()
	ctx, work := s.progress.start(s.ctx, s, view, "Checking the workspace")
	defer work.end()
	switch result, err := c.all(ctx, view, work.report); {
	case s.ctx.Err() != nil:
	case ctx.Err() != nil:
		s.log.infof("the check of the workspace was cancelled")
	case err != nil:
		s.log.warnf("checking the workspace: %v", err)
	default:
		s.log.infof("checked %d files of the workspace in %v: %d findings", result.Files, time.Since(began).Round(time.Millisecond), result.Findings)
	}
}

// ended is a check that has given out.
func ended(out outcome) *check {
	c := &check{ended: make(chan struct{}), out: out}
	close(c.ended)
	return c
}

// foreground counts the checks of programs that the user sees.
type foreground struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when there are none; nil for always
}

func (f *foreground) enter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n == 1 {
		f.idle = make(chan struct{})
	}
}

func (f *foreground) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 {
		close(f.idle)
		f.idle = nil
	}
}

// wait returns when there are none, or ctx ends.
func (f *foreground) wait(ctx context.Context) error {
	for {
		f.mu.Lock()
		idle := f.idle
		f.mu.Unlock()
		if idle == nil {
			return ctx.Err()
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
