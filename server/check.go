package server

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

const (
	// maxDelay bounds how long a check waits for the user to pause.
	maxDelay = 250 * time.Millisecond
	// importDelay is how long the user has to pause in one document before
	// those that import it are checked again.
	importDelay = 400 * time.Millisecond
)

// maxChecks is how many checks run at once.
func maxChecks() int { return runtime.GOMAXPROCS(0) }

// check is the one check of one version of a program.
type check struct {
	// ctx ends when the version is no longer the newest, or with the session.
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{} // closed when out is set
	out    outcome

	delay time.Duration // before the check starts
	// cost is what the last complete check of the document took, as known
	// before this one ends.
	cost time.Duration

	mu      sync.Mutex
	reading bool     // it has begun
	changed []string // files that have changed since
}

// outcome is what a check gave.
type outcome struct {
	findings []rules.Finding
	silenced []rules.Silenced
	problems config.Problems // of a configuration file
	rests    names.Dependencies
	skipped  string // why the document was not checked
	took     time.Duration
	err      error // the check did not come to its end
}

// newCheck is the check of the first version of a document.
func (s *server) newCheck() *check {
	c := &check{ended: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// next is the check of the version after the one that c checks.
//
// The check of a document that is at rest starts at once. While the user types
// faster than checks end, a check waits for about as long as one takes: typing
// keeps no more than half of a processor busy, and where checks are fast there
// is no wait to speak of.
func (c *check) next(s *server) *check {
	next := s.newCheck()
	if out, ok := c.outcome(); ok && out.err == nil {
		next.cost = out.took
	} else {
		next.cost = c.cost
		next.delay = min(c.cost, maxDelay)
	}
	return next
}

// ended is a check that has given out.
func ended(out outcome) *check {
	c := &check{ended: make(chan struct{}), out: out}
	close(c.ended)
	return c
}

// outcome returns what the check gave, if it has ended.
func (c *check) outcome() (outcome, bool) {
	select {
	case <-c.ended:
		return c.out, true
	default:
		return outcome{}, false
	}
}

// wait returns what the check gives. It fails if a newer version of the
// document comes before that, or ctx ends.
func (c *check) wait(ctx context.Context) (outcome, error) {
	select {
	case <-c.ended:
	case <-c.ctx.Done(): // also after it has ended
	case <-ctx.Done():
		return outcome{}, ctx.Err()
	}
	if out, ok := c.outcome(); ok && out.err == nil {
		return out, nil
	}
	return outcome{}, protocol.ErrContentModified
}

// begin notes that the check reads files from now on.
func (c *check) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = true
}

// note notes that files have changed, which the check may have read before that.
func (c *check) note(paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading {
		c.changed = append(c.changed, paths...)
	}
}

// end gives the check its outcome. It reports whether that was out of date before
// it was there.
func (c *check) end(out outcome) (outdated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out, c.reading = out, false
	close(c.ended)
	return slices.ContainsFunc(c.changed, out.rests.On)
}

// startCheck runs the check of p beside everything else and publishes the
// outcome, unless p is out of date by then.
func (s *server) startCheck(view *snapshot, p *program) {
	c := p.check
	if c.delay == 0 {
		s.foreground.enter()
	}
	go func() {
		defer c.cancel()
		outdated := c.end(s.runCheck(c, view.checker, p))
		if c.out.err == nil && p.speaks() {
			s.reports.program(view, p)
			s.tellProblems(view)
		}
		if outdated {
			s.update(func(view *snapshot) {
				if view.programs[p.id()] == p {
					s.checkAgain(view, []*program{p}, importDelay)
				}
			})
		}
	}()
}

// runCheck checks p when its turn has come.
func (s *server) runCheck(c *check, checker checker, p *program) outcome {
	if c.delay > 0 {
		pause := time.NewTimer(c.delay)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-c.ctx.Done():
			return outcome{err: c.ctx.Err()}
		}
		s.foreground.enter()
	}
	defer s.foreground.leave()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-c.ctx.Done():
		return outcome{err: c.ctx.Err()}
	}
	switch {
	case p.configures():
		return outcome{problems: config.Check(p.path, p.code, s.rules)}
	case !p.python():
		return outcome{}
	}
	c.begin()
	began := time.Now()
	src := p.source()
	src.Edited = true
	report, err := s.checkSource(c.ctx, checker, src)
	if err != nil {
		return outcome{err: err}
	}
	out := outcome{findings: report.Findings, silenced: report.Silenced, rests: report.Dependencies, skipped: report.Skipped}
	if len(report.Damaged) > 0 {
		out.findings = despiteDamage(report, p.held)
	}
	if out.took = time.Since(began); out.took > slow {
		s.log.infof("checking %s took %v", p.uri, out.took.Round(time.Millisecond))
	}
	return out
}

// checkSource runs the checker. If that breaks, the source counts as skipped.
// An error means that ctx has ended.
func (s *server) checkSource(ctx context.Context, checker checker, src rules.Source) (report rules.Report, err error) {
	const broken = "an internal error of Graphleak prevented the analysis; its log has the details"
	defer func() {
		if r := recover(); r != nil {
			s.log.errorf("checking %s panicked: %v\n%s", src.Path, r, debug.Stack())
			report, err = rules.Report{Skipped: broken}, nil
		}
	}()
	report, err = checker.Check(ctx, src)
	if err != nil && ctx.Err() == nil {
		s.log.errorf("checking %s: %v", src.Path, err)
		return rules.Report{Skipped: broken}, nil
	}
	return report, err
}
