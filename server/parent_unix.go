//go:build unix

package server

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// waitForProcess returns true when there is no process pid any more, or false
// when ctx ends before that. Unix tells of the end of a process to nobody but
// its parent, so others have to look again and again.
func waitForProcess(ctx context.Context, pid int, interval time.Duration) bool {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		// Signal 0 is only checked for whether it could be sent.
		if pid <= 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
}
