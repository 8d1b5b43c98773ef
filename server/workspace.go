package server

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/graphleak/graphleak/analyzer/sources"
)

// list is the Python files and notebooks of the workspace.
func (c *scanner) list(ctx context.Context, view *snapshot) ([]string, error) {
	roots := slices.DeleteFunc(view.roots(), func(root string) bool {
		_, err := os.Stat(root)
		return err != nil // one that is gone must not hide the others
	})
	listing, err := sources.Find(ctx, roots, view.loader.Excludes)
	if err != nil {
		return nil, err
	}
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
	if files, err = c.relevant(ctx, view, files); err != nil {
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
