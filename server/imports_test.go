package server

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

const (
	// metered leaks where the meter that it imports keeps graphs.
	metered = `import torch.nn.functional as F
from torch import nn
from meter import Meter


def train(model: nn.Module, loader):
    losses = Meter()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        losses.update(loss)
    print(losses.sum)
`
	leakyMeter = `class Meter:
    def __init__(self):
        self.sum = 0.0

    def update(self, value):
        self.sum += value
`
)

// closeDocument closes a document of the editor.
func (e *editor) closeDocument(id uri.URI) {
	e.t.Helper()
	require.NoError(e.t, e.server.DidClose(e.context(), &protocol.DidCloseTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: id},
	}))
}

func TestImportsOfOpenDocumentsAreReadAsTheyAreInTheEditor(t *testing.T) {
	folder := t.TempDir()
	train, meter := uri.File(filepath.Join(folder, "train.py")), uri.File(filepath.Join(folder, "meter.py"))
	require.NoError(t, os.WriteFile(meter.FsPath(), []byte(leakyMeter), 0o600))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.open(train, 1, metered)
	onDisk := e.diagnosticsOf(train, 1)
	require.Len(t, onDisk, 1)
	assert.Equal(t, protocol.String("GL103"), onDisk[0].Code)

	e.open(meter, 1, strings.Replace(leakyMeter, "+= value", "+= value.item()", 1))
	assert.Empty(t, e.diagnosticsOf(train, 1), "the meter in the editor keeps numbers")

	end := uint32(strings.Count(leakyMeter, "\n"))
	e.change(meter, 2, span(end-1, 0, end, 0), "        self.sum += value\n")
	assert.Len(t, e.diagnosticsOf(train, 1), 1)

	e.change(meter, 3, span(end-1, 0, end, 0), "        self.sum += float(value)\n")
	assert.Empty(t, e.diagnosticsOf(train, 1))

	e.closeDocument(meter)
	assert.Len(t, e.diagnosticsOf(train, 1), 1, "what was not saved is gone")
}

func TestFilesThatAreOpenedThroughLinksAreTheOnesThatImportsRead(t *testing.T) {
	folder := project(t, map[string]string{".git/HEAD": "", "meter.py": leakyMeter, "train.py": metered})
	link := filepath.Join(folder, "link.py")
	require.NoError(t, os.Symlink(filepath.Join(folder, "meter.py"), link))
	folder, err := filepath.EvalSymlinks(folder)
	require.NoError(t, err)
	train := uri.File(filepath.Join(folder, "train.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.open(uri.File(link), 1, strings.Replace(leakyMeter, "+= value", "+= value.item()", 1))
	e.open(train, 1, metered)
	assert.Empty(t, e.diagnosticsOf(train, 1))
	e.closeDocument(uri.File(link))
	e.change(train, 2, span(0, 0, 0, 0), "#\n")
	assert.Len(t, e.diagnosticsOf(train, 2), 1)
}

func TestImportsDoNotLeadOutOfTheWorkspaceFolders(t *testing.T) {
	project := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, ".git"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(project, "meter.py"), []byte(leakyMeter), 0o600))
	train := uri.File(filepath.Join(project, "training", "train.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.open(train, 1, metered)
	require.Len(t, e.diagnosticsOf(train, 1), 1, "the project reaches up to its repository")

	folder := protocol.WorkspaceFolder{URI: uri.File(filepath.Join(project, "training")), Name: "training"}
	require.NoError(t, e.server.DidChangeWorkspaceFolders(e.context(), &protocol.DidChangeWorkspaceFoldersParams{
		Event: protocol.WorkspaceFoldersChangeEvent{Added: []protocol.WorkspaceFolder{folder}, Removed: []protocol.WorkspaceFolder{}},
	}))
	assert.Empty(t, e.diagnosticsOf(train, 1))
}

func TestOnlyWhatRestsOnAChangedDocumentIsCheckedAgain(t *testing.T) {
	folder := project(t, map[string]string{
		"train.py": metered, "meter.py": "from numbers_of import number\n" + strings.Replace(leakyMeter, "+= value", "+= number(value)", 1),
		"numbers_of.py": "def number(x):\n    return x\n", "other.py": "import torch\nimport meter\nimport numbers_of\n",
	})
	var mu sync.Mutex
	checks := make(map[string]int)
	e := launch(t, observed{checkerFunc(nil), func(src rules.Source, check func() (rules.Report, error)) (rules.Report, error) {
		mu.Lock()
		checks[filepath.Base(src.Path)]++
		mu.Unlock()
		return check()
	}})
	e.initialize(`{}`)
	at := func(name string) uri.URI { return uri.File(filepath.Join(folder, name)) }
	for _, name := range []string{"train.py", "other.py", "numbers_of.py"} {
		src, err := os.ReadFile(at(name).FsPath())
		require.NoError(t, err)
		e.open(at(name), 1, string(src))
		e.diagnosticsOf(at(name), 1)
	}
	mu.Lock()
	before := maps.Clone(checks)
	mu.Unlock()
	e.change(at("numbers_of.py"), 2, span(1, 4, 1, 12), "return x.item()")
	assert.Empty(t, e.diagnosticsOf(at("train.py"), 1), "through a file that is not open")
	for version := int32(3); version < 10; version++ {
		e.change(at("numbers_of.py"), version, span(0, 0, 0, 0), "#\n")
	}
	e.change(at("other.py"), 2, span(0, 0, 0, 0), "#\n")
	e.diagnosticsOf(at("other.py"), 2)
	assert.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return checks["train.py"] >= before["train.py"]+2
	}, patience, time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, before["train.py"]+2, checks["train.py"], "once each time that the user pauses")
}

func TestAFileThatAppearsIsImported(t *testing.T) {
	folder := project(t, map[string]string{".git/HEAD": "", "train.py": metered})
	train, meter := uri.File(filepath.Join(folder, "train.py")), uri.File(filepath.Join(folder, "meter.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.open(train, 1, metered)
	assert.Empty(t, e.diagnosticsOf(train, 1))
	created := func(kind protocol.FileChangeType) {
		require.NoError(t, e.server.DidChangeWatchedFiles(e.context(), &protocol.DidChangeWatchedFilesParams{Changes: []protocol.FileEvent{{URI: meter, Type: kind}}}))
	}
	require.NoError(t, os.WriteFile(meter.FsPath(), []byte(leakyMeter), 0o600))
	created(protocol.FileChangeTypeCreated)
	assert.Len(t, e.diagnosticsOf(train, 1), 1)
	require.NoError(t, os.Remove(meter.FsPath()))
	created(protocol.FileChangeTypeDeleted)
	assert.Empty(t, e.diagnosticsOf(train, 1))

	e.open(meter, 1, leakyMeter)
	assert.Len(t, e.diagnosticsOf(train, 1), 1, "it is there in the editor")
	e.closeDocument(meter)
	assert.Empty(t, e.diagnosticsOf(train, 1))
}

func TestWhatChangesDuringACheckIsNotMissed(t *testing.T) {
	folder := project(t, map[string]string{".git/HEAD": "", "train.py": metered, "meter.py": leakyMeter})
	train, meter := uri.File(filepath.Join(folder, "train.py")), uri.File(filepath.Join(folder, "meter.py"))
	began, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	e := launch(t, observed{checkerFunc(nil), func(src rules.Source, check func() (rules.Report, error)) (rules.Report, error) {
		report, err := check()
		if src.Path == train.FsPath() {
			once.Do(func() {
				close(began)
				<-proceed
			})
		}
		return report, err
	}})
	e.initialize(`{}`)
	e.open(meter, 1, leakyMeter)
	e.diagnosticsOf(meter, 1)
	e.open(train, 1, metered)
	<-began // it has read the meter
	e.change(meter, 2, span(uint32(strings.Count(leakyMeter, "\n")-1), 0, uint32(strings.Count(leakyMeter, "\n")), 0), "        self.sum += value.item()\n")
	e.diagnosticsOf(meter, 2)
	close(proceed)
	assert.Len(t, e.diagnosticsOf(train, 1), 1)
	assert.Empty(t, e.diagnosticsOf(train, 1))
}
