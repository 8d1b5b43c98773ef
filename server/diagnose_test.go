package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

const crashed = `Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.05 GiB is free. Including non-PyTorch memory, this process has 78.09 GiB memory in use. Of the allocated memory 76.41 GiB is allocated by PyTorch, and 1.19 GiB is reserved by PyTorch but unallocated.
`

func diagnoseFiles(t *testing.T, e *editor, paths ...string) (diagnoseResult, error) {
	t.Helper()
	var files []uri.URI
	for _, path := range paths {
		files = append(files, uri.File(path))
	}
	argument, err := json.Marshal(map[string]any{"files": files})
	require.NoError(t, err)
	raw, err := e.command("graphleak.diagnose", "", string(argument))
	var result diagnoseResult
	if err == nil {
		require.NoError(t, json.Unmarshal(raw, &result))
	}
	return result, err
}

func TestDiagnoseReadsFilesAndFoldersItself(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	first := write("run/0/stderr.log", "step 12 loss 0.5\n"+strings.Repeat("a line of ordinary output\n", 50_000))
	second := write("run/1/stderr.log", crashed)
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)

	one, err := diagnoseFiles(t, e, second)
	require.NoError(t, err)
	assert.Equal(t, map[string]uri.URI{"": uri.File(second)}, one.Logs)
	assert.Equal(t, 4, one.Diagnosis.Initiating.Line)

	want := map[string]uri.URI{"0/stderr.log": uri.File(first), "1/stderr.log": uri.File(second)}
	for name, paths := range map[string][]string{"files": {first, second}, "a folder": {filepath.Join(dir, "run")}} {
		many, err := diagnoseFiles(t, e, paths...)
		require.NoError(t, err, name)
		assert.Equal(t, want, many.Logs, name)
		require.NotNil(t, many.Diagnosis.Initiating, name)
		assert.Equal(t, "1/stderr.log", many.Diagnosis.Initiating.Input, name)
	}

	_, err = diagnoseFiles(t, e, filepath.Join(dir, "missing.log"))
	requireCode(t, jsonrpc2.InvalidParams, err)
	assert.ErrorContains(t, err, "missing.log")
	_, err = e.command("graphleak.diagnose", "", `{"files":["untitled:log"]}`)
	requireCode(t, jsonrpc2.InvalidParams, err)
}

func TestDiagnoseSaysWhereSuspectsAreAndWhatCanBeEdited(t *testing.T) {
	dir := t.TempDir()
	code := "import torch\n\n\ndef train(model, loader):\n    total = 0.0\n    for x in loader:\n        loss = model(x).mean()\n        loss.backward()\n        total += loss\n    return total.item()\n"
	path := filepath.Join(dir, "train.py")
	require.NoError(t, os.WriteFile(path, []byte(code), 0o600))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, `{}`, dir)
	argument, err := json.Marshal(map[string]string{"text": strings.ReplaceAll(crashed, "line 3, in <module>", "line 8, in train")})
	require.NoError(t, err)
	raw, err := e.command("graphleak.diagnose", "", string(argument))
	require.NoError(t, err)
	var result struct {
		Diagnosis struct {
			Memory   json.RawMessage
			Suspects []struct {
				Code  string
				Fixes []struct{ Title, Safety string }
			}
		}
		Suspects []uri.URI
		Redacted string
	}
	require.NoError(t, json.Unmarshal(raw, &result))
	require.NotEmpty(t, result.Diagnosis.Suspects)
	assert.Equal(t, []uri.URI{uri.File(path)}, result.Suspects)
	assert.Equal(t, "GL101", result.Diagnosis.Suspects[0].Code)
	assert.Equal(t, "safe", result.Diagnosis.Suspects[0].Fixes[0].Safety)
	assert.Contains(t, string(result.Diagnosis.Memory), `"live tensors"`)
	assert.Contains(t, result.Redacted, "# ")
}

func TestSearchFindsPagesByMessageAndByWords(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	for text, want := range map[string]string{
		"RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn": "autograd.no-graph",
		"accumulate": "GL101",
		"GL301":      "GL301",
		"shm":        "memory.shm",
	} {
		argument, err := json.Marshal(text)
		require.NoError(t, err)
		raw, err := e.command("graphleak.search", "", string(argument))
		require.NoError(t, err)
		var result explainResult
		require.NoError(t, json.Unmarshal(raw, &result))
		var ids []string
		for _, topic := range result.Topics {
			ids = append(ids, topic.ID)
		}
		assert.Contains(t, ids[:min(len(ids), 5)], want, text)
	}
}
