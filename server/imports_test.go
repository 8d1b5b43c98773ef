package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

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

func TestOnlyWhatMayImportAChangedDocumentIsCheckedAgain(t *testing.T) {
	var checks [3]atomic.Int32
	paths := []string{"/project/train.py", "/project/metrics/meter.py", "/project/other.py"}
	e := launch(t, checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
		var report rules.Report
		for i, path := range paths {
			if src.Path == path {
				report.Findings = append(report.Findings, rules.Finding{Message: fmt.Sprint(checks[i].Add(1))})
			}
		}
		return report, nil
	}))
	e.initialize(`{}`)
	for i, src := range []string{"from metrics import Meter\n", "class Meter: ...\n", "meter = 1\n"} {
		e.open(uri.File(paths[i]), 1, src)
		e.diagnosticsOf(uri.File(paths[i]), 1)
	}
	before := checks[0].Load()
	for version := int32(2); version < 10; version++ {
		e.change(uri.File(paths[1]), version, span(0, 0, 0, 0), "#")
	}
	e.diagnosticsOf(uri.File(paths[0]), 1)
	assert.Equal(t, before+1, checks[0].Load(), "once, when the user pauses")
	assert.Equal(t, int32(1), checks[2].Load())
}

func TestImportersAreFoundByTheNamesInImports(t *testing.T) {
	at := func(path, src string) *program {
		return single(openDocument(&protocol.TextDocumentItem{URI: uri.File(path), LanguageID: protocol.LanguageKindPython, Text: src}))
	}
	model := at("/project/models/resnet.py", "")
	for src, want := range map[string]bool{
		"import models.resnet":                 true,
		"import os, models.resnet as r":        true,
		"from models.resnet import Net":        true,
		"from .models import *":                true,
		"from . import (\n  vgg,\n  resnet\n)": true,
		"from . import vgg, \\\n  resnet":      true,
		"if x: import resnet":                  true,
		"import vgg\nresnet = 1":               false,
		"import vgg\n(resnet)":                 false,
		"from .resnet50 import Net":            false,
		"important = resnet":                   false,
		"":                                     false,
	} {
		assert.Equal(t, want, at("/project/train.py", src).mayImport(model), "%q", src)
	}
	assert.False(t, at("/project/train.py", "import a").mayImport(&program{}), "nothing imports what is not a file")

	view := new(snapshot).with(model,
		at("/project/a.py", "import b"), at("/project/b.py", "import resnet"), at("/project/resnet_test.py", "import a\nimport b"), at("/project/c.py", ""))
	var found []string
	for _, p := range view.importers(model) {
		found = append(found, p.path)
	}
	assert.ElementsMatch(t, []string{"/project/a.py", "/project/b.py", "/project/resnet_test.py"}, found)
}
