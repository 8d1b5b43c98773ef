//go:build unix

package crash

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Opening a pipe would wait for someone to write to it.
func TestPipesAreNotOpened(t *testing.T) {
	root := project(t, "train.py")
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe.py"), 0o600))
	_, err := located(t, root, "pipe.py")
	assert.ErrorIs(t, err, fs.ErrInvalid)
}
