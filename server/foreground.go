package server

import (
	"context"
	"sync"
)

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
