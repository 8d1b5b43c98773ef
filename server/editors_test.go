//go:build editors

package server

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoLeaks leaks twice, each time after the backward pass.
const twoLeaks = `import torch
import torch.nn.functional as F


def train(model: torch.nn.Module, loader):
    total_loss = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        note = "é😀"; total_loss += loss
    print(total_loss)


def validate(model: torch.nn.Module, loader):
    total_loss = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        total_loss += loss
    print(total_loss)
`

// Other editors than VS Code drive the program as it is installed. The scripts
// say what they do; make test-editors installs the editors where it can.
func TestEditors(t *testing.T) {
	program := filepath.Join(t.TempDir(), "graphleak")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	scripts, err := filepath.Abs("testdata")
	require.NoError(t, err)
	for name, command := range map[string][]string{
		"Neovim": {"nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile " + filepath.Join(scripts, "neovim.lua")},
		"Emacs":  {"emacs", "-q", "--batch", "-l", filepath.Join(scripts, "emacs.el")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			editor := exec.CommandContext(ctx, command[0], command[1:]...)
			editor.Dir = project(t, map[string]string{"train.py": metered, "meter.py": leakyMeter, "other.py": twoLeaks, ".git/HEAD": ""})
			editor.Env = append(os.Environ(), "GRAPHLEAK="+program, "HOME="+t.TempDir(), "TERM=dumb")
			began := time.Now()
			out, err := editor.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "PASSED")
			t.Logf("%s took %v", name, time.Since(began).Round(time.Millisecond))
		})
	}
}
