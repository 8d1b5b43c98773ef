package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
	"github.com/graphleak/graphleak/rules/leaks"
)

const scanning = `{"scan":"workspace"}`

func TestFilesOfTheWorkspaceAreCheckedOnRequest(t *testing.T) {
	folder := project(t, map[string]string{"a.py": training, "b.ipynb": `{"nbformat":4,"cells":[{"cell_type":"code","source":["` +
		strings.Join(strings.Split(strings.ReplaceAll(training, `"`, `\"`), "\n"), `\n","`) + `"]}]}`, "env/pyvenv.cfg": "", "env/x.py": training})
	for options, checked := range map[string]bool{`null`: false, `{}`: false, `{"scan":"openFiles"}`: false, scanning: true, `{"graphleak":` + scanning + `}`: true} {
		t.Run(options, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initializeIn(`{"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`, options, folder)
			if !checked {
				e.alive()
				time.Sleep(20 * time.Millisecond)
				assert.Empty(t, e.published)
				return
			}
			d := e.fileDiagnostics(uri.File(filepath.Join(folder, "a.py")), 1)[0]
			assert.Equal(t, protocol.String("GL101"), d.Code)
			assert.Nil(t, data(t, d).Version)
			require.NotEmpty(t, data(t, d).Fixes)
			assert.NotEmpty(t, d.RelatedInformation)
			e.waitForLog("checked 2 files of the workspace in")
		})
	}
	// A notebook that is not open is the JSON that it is on disk.
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, scanning, folder)
	d := e.fileDiagnostics(uri.File(filepath.Join(folder, "b.ipynb")), 1)[0]
	assert.Zero(t, d.Range.Start.Line)
	raw, err := os.ReadFile(filepath.Join(folder, "b.ipynb"))
	require.NoError(t, err)
	assert.Equal(t, "loss", string([]rune(string(raw))[d.Range.Start.Character-1:d.Range.End.Character-1]), "behind a character of two units")
}

func TestDocumentsTakeThePlaceOfTheirFiles(t *testing.T) {
	folder := project(t, map[string]string{"a.py": "torch on disk"})
	a := uri.File(filepath.Join(folder, "a.py"))
	e := launch(t, echo)
	e.initializeIn(`{}`, scanning, folder)
	assert.Equal(t, "torch on disk", message(t, e.fileDiagnostics(a, 1)[0]))
	e.open(a, 1, "in the editor")
	assert.Equal(t, "in the editor", message(t, e.diagnosticsOf(a, 1)[0]))
	e.filesChanged(protocol.FileChangeTypeChanged, a)
	e.closeDocument(a)
	assert.Equal(t, "torch on disk", message(t, e.fileDiagnostics(a, 1)[0]), "nothing was saved")

	e.open(a, 2, "again")
	require.Len(t, e.diagnosticsOf(a, 2), 1)
	require.NoError(t, os.Remove(a.FsPath()))
	e.closeDocument(a)
	e.fileDiagnostics(a, 0)
}

func TestOpenDocumentsAndTheirImportsComeFirst(t *testing.T) {
	files := map[string]string{"helper.py": "torch"}
	for i := range 20 {
		files[fmt.Sprintf("f%02d.py", i)] = "torch"
	}
	folder := project(t, files)
	var mu sync.Mutex
	var order []string
	hold := make(chan struct{})
	e := launch(t, checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
		mu.Lock()
		order = append(order, filepath.Base(src.Path))
		mu.Unlock()
		if filepath.Base(src.Path) == "f19.py" {
			<-hold
		}
		time.Sleep(2 * time.Millisecond)
		return rules.Report{}, nil
	}))
	e.initializeIn(`{}`, `{}`, folder)
	e.open(uri.File(filepath.Join(folder, "f19.py")), 1, "import helper")
	require.NoError(t, e.server.DidChangeConfiguration(e.context(), &protocol.DidChangeConfigurationParams{Settings: protocol.LSPAny(scanning)}))
	time.Sleep(30 * time.Millisecond)
	mu.Lock()
	assert.Equal(t, []string{"f19.py"}, order, "nothing else while the user waits")
	mu.Unlock()
	close(hold)
	e.waitForLog("checked 21 files")
	mu.Lock()
	defer mu.Unlock()
	assert.Contains(t, order[1:2+maxChecks()], "helper.py")
	assert.Len(t, order, 21)
}

func TestScanCanBeCancelledAndShowsItsProgress(t *testing.T) {
	files := make(map[string]string)
	for i := range 50 {
		files[fmt.Sprintf("f%02d.py", i)] = "torch"
	}
	folder := project(t, files)
	var checks atomic.Int32
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if checks.Add(1) > 10 {
			<-ctx.Done()
			return rules.Report{}, ctx.Err()
		}
		return rules.Report{}, nil
	}))
	tokens := make(chan string, 1)
	e.asked = func(method string, params []byte) (any, error) {
		assert.Equal(t, protocol.MethodWindowWorkDoneProgressCreate, method)
		tokens <- string(params)
		return nil, nil
	}
	e.initializeIn(`{"window":{"workDoneProgress":true}}`, scanning, folder)
	assert.JSONEq(t, `{"token":"graphleak/1"}`, <-tokens)
	shown := func(text string) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.ContainsFunc(e.progress, func(p string) bool { return strings.Contains(p, text) })
	}
	require.Eventually(t, func() bool { return shown("of 50 files") }, patience, time.Millisecond)
	require.NoError(t, e.server.WorkDoneProgressCancel(e.context(), &protocol.WorkDoneProgressCancelParams{Token: protocol.String("graphleak/1")}))
	e.waitForLog("the check of the workspace was cancelled")
	require.Eventually(t, func() bool { return shown(`"kind":"end"`) }, patience, time.Millisecond)
}

func TestScanCommand(t *testing.T) {
	folder := project(t, map[string]string{"a.py": training, "b.py": "x = 1\n"})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, `{}`, folder, filepath.Join(folder, "gone"))
	raw, err := e.command("graphleak.scanWorkspace", "token")
	require.NoError(t, err)
	assert.JSONEq(t, `{"files":2,"findings":1}`, string(raw))
	a := uri.File(filepath.Join(folder, "a.py"))
	e.fileDiagnostics(a, 1)

	// What was checked once is kept up to date.
	require.NoError(t, os.WriteFile(a.FsPath(), []byte(strings.Replace(training, "+= loss", "+= loss.item()", 1)), 0o600))
	e.filesChanged(protocol.FileChangeTypeChanged, a)
	e.fileDiagnostics(a, 0)

	_, err = e.command("graphleak.scanWorkspace", "")
	require.NoError(t, err)
}

func TestSettingsChangeAtRunTime(t *testing.T) {
	folder := project(t, map[string]string{"a.py": "torch"})
	a := uri.File(filepath.Join(folder, "a.py"))
	e := launch(t, echo)
	var mu sync.Mutex
	answer := `{}`
	say := func(s string) {
		mu.Lock()
		answer = s
		mu.Unlock()
	}
	registered := make(chan string, 1)
	e.asked = func(method string, params []byte) (any, error) {
		switch method {
		case protocol.MethodWorkspaceConfiguration:
			assert.JSONEq(t, fmt.Sprintf(`{"items":[{"section":"graphleak"},{"section":"graphleak","scopeUri":%q}]}`, uri.File(folder)), string(params))
			mu.Lock()
			defer mu.Unlock()
			return []protocol.LSPAny{protocol.LSPAny(answer), protocol.LSPAny(answer)}, nil
		case protocol.MethodClientRegisterCapability:
			registered <- string(params)
			return nil, nil
		}
		return nil, fmt.Errorf("asked for %s", method)
	}
	changed := func() {
		t.Helper()
		e.send(frame(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":null}}`))
	}
	e.initializeIn(`{"workspace":{"configuration":true,"didChangeConfiguration":{"dynamicRegistration":true},"didChangeWatchedFiles":{"dynamicRegistration":true}}}`, `{}`, folder)
	params := <-registered
	assert.Contains(t, params, `"workspace/didChangeConfiguration"`)
	assert.Contains(t, params, `"section":"graphleak"`)
	assert.Contains(t, params, `"globPattern":"**/*.ipynb"`)

	say(scanning)
	changed()
	e.fileDiagnostics(a, 1)
	say(`{"scan":"everything"}`)
	changed()
	e.waitForLog(`graphleak.scan is "everything", which is neither "openFiles" nor "workspace"`)
	e.fileDiagnostics(a, 0)
	say(`["scan"]`)
	changed()
	e.waitForLog("the settings of graphleak are not understood")
	e.alive()
}

func TestFoldersThatAreRemovedTakeTheirFindingsAway(t *testing.T) {
	one, two := project(t, map[string]string{"a.py": "torch"}), project(t, map[string]string{"b.py": "torch"})
	a, b := uri.File(filepath.Join(one, "a.py")), uri.File(filepath.Join(two, "b.py"))
	e := launch(t, echo)
	e.initializeIn(`{}`, scanning, one)
	e.fileDiagnostics(a, 1)
	require.NoError(t, e.server.DidChangeWorkspaceFolders(e.context(), &protocol.DidChangeWorkspaceFoldersParams{
		Event: protocol.WorkspaceFoldersChangeEvent{
			Added:   []protocol.WorkspaceFolder{{URI: uri.File(two), Name: "two"}, {URI: "vscode-vfs://github/owner/repo", Name: "virtual"}},
			Removed: []protocol.WorkspaceFolder{{URI: uri.File(one), Name: "one"}},
		},
	}))
	e.fileDiagnostics(a, 0)
	e.fileDiagnostics(b, 1)
}

func TestFilesAwayFromPyTorchAreNotParsed(t *testing.T) {
	files := map[string]string{
		"model.py":           "import torch\n",
		"train.py":           "from model import Net\n",
		"run.py":             "import train\n",
		"main.py":            "from run import main\n",
		"far.py":             "import main\n", // four imports away
		"views.py":           "from django import http\n",
		"models/__init__.py": "from transformers import Trainer\n",
		"models/plain.py":    "from . import settings\n",
		"models/settings.py": "DEBUG = True\n",
		"other.py":           "import models\n",
		"broken.py":          "\x00",
		"pyproject.toml":     "[tool.graphleak.contracts]\ntrains = [\"lab.fit\"]\n",
		"fit.py":             "from lab import fit\n",
		"notes.ipynb":        `{"nbformat":4,"cells":[{"cell_type":"code","source":"import json"}]}`,
		"train.ipynb":        `{"nbformat":4,"cells":[{"cell_type":"code","source":"import torch"}]}`,
	}
	folder := project(t, files)
	var all []string
	for name := range files {
		if name == "pyproject.toml" {
			continue
		}
		all = append(all, filepath.Join(folder, filepath.FromSlash(name)))
	}
	slices.Sort(all)
	ctx, cancel := context.WithCancel(t.Context())
	c := &scanner{server: &server{ctx: ctx}}
	loader := config.NewLoader(leaks.All())
	view := &snapshot{loader: loader, checker: configuredChecker(rules.NewChecker(leaks.All()...))(rules.Files{}, loader, func(string) config.Layer { return config.Layer{} })}
	found, err := c.relevant(ctx, view, all)
	require.NoError(t, err)
	var names []string
	for _, path := range found {
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		names = append(names, filepath.ToSlash(name))
	}
	assert.Equal(t, []string{"fit.py", "main.py", "model.py", "models/__init__.py", "models/plain.py", "other.py", "run.py", "train.ipynb", "train.py"}, names)

	run := single(openDocument(&protocol.TextDocumentItem{URI: uri.File(filepath.Join(folder, "run.py")), LanguageID: protocol.LanguageKindPython, Text: "import train"}))
	found, err = c.relevant(ctx, view.with(run), all)
	require.NoError(t, err)
	require.Len(t, found, 9)
	assert.Equal(t, []string{"run.py", "train.py", "model.py", "fit.py"}, []string{filepath.Base(found[0]), filepath.Base(found[1]), filepath.Base(found[2]), filepath.Base(found[3])}, "what is open, and its imports, come first")

	cancel()
	_, err = c.relevant(ctx, view, all)
	require.Error(t, err)
}
