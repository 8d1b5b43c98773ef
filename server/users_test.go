package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// evaluator keeps a graph in an attribute, which other files may use.
const evaluator = `import torch.nn.functional as F
from torch import nn


class Evaluator:
    def __init__(self, model: nn.Module):
        self.model, self.total = model, 0.0

    def run(self, batches):
        for x, y in batches:
            self.total += F.mse_loss(self.model(x), y)
`

const (
	showsTotal = "from evaluator import Evaluator\nprint(Evaluator(m).total)\n"
	usesTotal  = "from evaluator import Evaluator\nEvaluator(m).total.backward()\n"
)

// TestWhatOtherFilesDoDecidesWhichFixIsSafe: in the editor and on disk, and when it
// changes.
func TestWhatOtherFilesDoDecidesWhichFixIsSafe(t *testing.T) {
	folder := project(t, map[string]string{".git/HEAD": "", "evaluator.py": evaluator, "main.py": showsTotal})
	checked, main := uri.File(filepath.Join(folder, "evaluator.py")), uri.File(filepath.Join(folder, "main.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(versionedEdits, `{}`, folder)
	e.open(checked, 1, evaluator)
	becomes := func(want bool, why string) {
		t.Helper()
		assert.Eventually(t, func() bool {
			actions, err := e.codeActions(checked, span(10, 26, 10, 26)) // fails while it is checked again
			fixes := fixesAmong(actions)
			return err == nil && len(fixes) > 0 && *fixes[0].IsPreferred == want
		}, patience, 5*time.Millisecond, why)
	}
	becomes(true, "the file on disk prints a number")

	e.open(main, 1, showsTotal)
	e.change(main, 2, span(1, 0, 2, 0), "Evaluator(m).total.backward()\n")
	becomes(false, "the open document runs a backward")
	e.closeDocument(main)
	becomes(true, "nobody has saved it")

	require.NoError(t, os.WriteFile(main.FsPath(), []byte(usesTotal), 0o600))
	require.NoError(t, e.server.DidChangeWatchedFiles(e.context(), &protocol.DidChangeWatchedFilesParams{Changes: []protocol.FileEvent{{URI: main, Type: protocol.FileChangeTypeChanged}}}))
	becomes(false, "the file on disk does now")
}

func TestFixWorkspaceLooksAtTheUsersInAllFiles(t *testing.T) {
	other := strings.ReplaceAll(evaluator, "total", "mean")
	folder := project(t, map[string]string{".git/HEAD": "", "evaluator.py": evaluator, "other.py": other, "main.py": showsTotal + "import other\nother.Evaluator(m).mean.backward()\n"})
	checked, left := uri.File(filepath.Join(folder, "evaluator.py")), uri.File(filepath.Join(folder, "other.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	texts := map[uri.URI]string{checked: evaluator, left: other}
	e.applies(texts)
	e.initializeIn(appliesEdits, `{}`, folder)
	raw, err := e.command("graphleak.fixWorkspace", "token")
	require.NoError(t, err)
	assert.JSONEq(t, `{"files":1,"fixes":1}`, string(raw))
	assert.Contains(t, texts[checked], ".detach()")
	assert.Equal(t, other, texts[left])
}

func TestAPartOfAProjectDoesNotKnowTheUsers(t *testing.T) {
	folder := project(t, map[string]string{".git/HEAD": "", "part/evaluator.py": evaluator, "main.py": usesTotal})
	checked := uri.File(filepath.Join(folder, "part", "evaluator.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(versionedEdits, `{}`, filepath.Join(folder, "part"))
	e.open(checked, 1, evaluator)
	actions, err := e.codeActions(checked, span(10, 26, 10, 26))
	require.NoError(t, err)
	fixes := fixesAmong(actions)
	require.NotEmpty(t, fixes)
	assert.False(t, *fixes[0].IsPreferred)
	assert.Contains(t, fixes[0].Title, "other files were not looked at")
}
