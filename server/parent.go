package server

import (
	"time"
)

// parentInterval is how often a look is taken at whether the parent lives.
const parentInterval = 2 * time.Second

// watchParent ends the session when the process pid ends: an editor that was
// killed has asked nobody to shut down.
func (s *server) watchParent(pid int) {
	if waitForProcess(s.ctx, pid, parentInterval) {
		s.stop(ErrParentExited)
	}
}
