package server

import (
	"context"
	"os"
	"time"
)

// waitForProcess returns true when there is no process pid any more, or false
// when ctx ends before that. On Windows any process can be waited for.
func waitForProcess(ctx context.Context, pid int, _ time.Duration) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = process.Wait()
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}
