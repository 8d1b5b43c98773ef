package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// patience is how long a command may take before it shows its progress.
const patience = time.Second

// progress is a bar on the terminal for commands that take long. Its methods
// may be called from many goroutines.
type progress struct {
	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil where nobody watches
	start time.Time
	done  int
}

// newProgress returns the progress of total steps. It shows nothing unless w is
// a terminal.
func newProgress(w io.Writer, total int) *progress {
	p := &progress{start: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription("Checking"),
			progressbar.OptionSetRenderBlankState(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// step says that one more piece of work is done.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.bar != nil && time.Since(p.start) > patience {
		_ = p.bar.Set(p.done) // a bar that cannot be drawn is no reason to stop
	}
}

// finish removes the bar from the terminal.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && time.Since(p.start) > patience {
		_ = p.bar.Finish()
	}
}
