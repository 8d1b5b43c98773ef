package server

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// asParent makes this program stand in for an editor: it lives until its input
// ends.
const asParent = "GRAPHLEAK_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// startParent starts a process and returns its id and what ends it.
func startParent(t *testing.T) (pid int, end func()) {
	t.Helper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"=1")
	stdin, err := parent.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	end = func() {
		_ = stdin.Close()
		_ = parent.Wait()
	}
	t.Cleanup(end)
	return parent.Process.Pid, end
}

func TestServerEndsWithItsParent(t *testing.T) {
	pid, end := startParent(t)
	e := launch(t, rules.NewChecker(leaks.All()...))
	id := int32(pid)
	params := new(protocol.InitializeParams)
	params.ProcessID = &id
	_, err := e.server.Initialize(e.context(), params)
	require.NoError(t, err)
	e.alive()
	end()
	assert.Equal(t, ErrParentExited, e.waitForEnd())
}

func TestWaitForProcess(t *testing.T) {
	pid, end := startParent(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.False(t, waitForProcess(ctx, pid, time.Millisecond), "the process lives")
	end()
	assert.True(t, waitForProcess(t.Context(), pid, time.Millisecond), "the process has ended")
	assert.True(t, waitForProcess(t.Context(), pid, time.Hour), "the process has ended long ago")
}
