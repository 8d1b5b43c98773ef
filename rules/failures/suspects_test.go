package failures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// inProject diagnoses a log beside the files of a project, given as name, text,
// name, text…
func inProject(t *testing.T, log string, files ...string) *crash.Diagnosis {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		full := filepath.Join(root, filepath.FromSlash(files[i]))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(files[i+1]), 0o644))
	}
	d := NewDiagnoser(Options{Roots: []string{root}, Checker: rules.NewChecker(leaks.All()...)})
	got, err := d.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: strings.NewReader(log)}})
	require.NoError(t, err)
	return got
}

const evaluation = `import torch.nn.functional as F
from torch import nn


def evaluate(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y)
    print(float(total) / len(loader))
`

const training = `from torch import nn
from evaluation import evaluate


def fit(model: nn.Module, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    evaluate(model, loader)
`

// The calls are in the training, what filled the device is in a file that it
// imports.
func TestWhatTheFilesOfTheTracebackImportIsSuspectToo(t *testing.T) {
	log := "step 900 loss 0.1\nTraceback (most recent call last):\n  File \"/app/training.py\", line 8, in fit\n    model(x).sum().backward()\n" + full
	got := inProject(t, log, "training.py", training, "evaluation.py", evaluation)
	require.NotEmpty(t, got.Suspects)
	s := got.Suspects[0]
	assert.Equal(t, "evaluation.py", s.Path)
	assert.Equal(t, 8, s.Range.Start.Line)
	assert.Contains(t, s.Why, "in a file that training.py imports")
	assert.Equal(t, "memory.cuda-oom.graph-retained", got.Failure)
	assert.Equal(t, crash.Low, got.Confidence, "it was not on the stack")
}

// A project says in its configuration what it does not take for a leak, and where
// imports lead. A comment that silences nothing keeps no memory.
func TestSuspectsAreThoseOfTheConfiguration(t *testing.T) {
	log := "step 900 loss 0.1\nTraceback (most recent call last):\n  File \"/app/training.py\", line 8, in fit\n    model(x).sum().backward()\n" + full
	const commented = "x = 1  # graphleak: ignore\n"
	got := inProject(t, log, "training.py", training+commented, "evaluation.py", evaluation, "pyproject.toml", "[tool.graphleak]\nignore = [\"GL101\"]\n")
	assert.Empty(t, got.Suspects)
	got = inProject(t, log, "training.py", training+commented, "lib/evaluation.py", evaluation)
	assert.Empty(t, got.Suspects, "nothing leads there")
	got = inProject(t, log, "training.py", training, "lib/evaluation.py", evaluation, "pyproject.toml", "[tool.graphleak]\nsrc = [\"lib\"]\n")
	require.NotEmpty(t, got.Suspects)
	assert.Equal(t, "lib/evaluation.py", got.Suspects[0].Path)
}

func TestSuspectInACellOfANotebook(t *testing.T) {
	cell := func(number int, source string) map[string]any {
		return map[string]any{"cell_type": "code", "execution_count": number, "source": source, "metadata": map[string]any{}, "outputs": []any{}}
	}
	raw, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{},
		"cells": []any{
			map[string]any{"cell_type": "markdown", "source": "# Birds", "metadata": map[string]any{}},
			cell(1, "%matplotlib inline\nimport torch.nn.functional as F\nfrom torch import nn"),
			cell(4, strings.TrimPrefix(evaluation, "import torch.nn.functional as F\nfrom torch import nn\n\n\n")),
			cell(5, "evaluate(model, loader)"),
		},
	})
	require.NoError(t, err)
	log := `---------------------------------------------------------------------------
OutOfMemoryError                          Traceback (most recent call last)
Cell In[5], line 1
----> 1 evaluate(model, loader)

Cell In[4], line 4, in evaluate(model, loader)
      2 total = 0.0
      3 for x, y in loader:
----> 4     total += F.cross_entropy(model(x), y)

` + strings.Replace(full, "torch.OutOfMemoryError", "OutOfMemoryError", 1)
	got := inProject(t, log, "work/birds.ipynb", string(raw), "other.py", training)
	require.NotEmpty(t, got.Suspects)
	s := got.Suspects[0]
	assert.Equal(t, "work/birds.ipynb", s.Path)
	assert.Equal(t, 3, s.Cell)
	assert.Equal(t, 4, s.Range.Start.Line)
	assert.Contains(t, s.Why, "t a line of the traceback")
	assert.Contains(t, got.Text(100, false), "work/birds.ipynb:cell 3:4:18 GL101")
}

// The same two suspects, and three courses of the memory: what the log shows
// decides which comes first.
func TestMeasuredGrowthRanksSuspects(t *testing.T) {
	const script = `import torch
import torch.nn.functional as F
from torch import nn


def fit(model: nn.Module, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    aux = 0.0
    for x, y in loader:
        aux += F.cross_entropy(model(x), y)
    print(float(total), float(aux))
`
	first := func(mibs float64) crash.Suspect {
		var log strings.Builder
		for step := 0; step < 2000; step += 20 {
			fmt.Fprintf(&log, "step %d allocated %.3f MiB\n", step, 1000+mibs*float64(step))
		}
		log.WriteString("Traceback (most recent call last):\n  File \"/app/train.py\", line 16, in fit\n    print(float(total), float(aux))\n" + full)
		got := inProject(t, log.String(), "train.py", script)
		require.Len(t, got.Suspects, 2)
		return got.Suspects[0]
	}
	assert.Equal(t, 15, first(4.5).Range.Start.Line, "a graph each step")
	assert.Contains(t, first(4.5).Why, "an be the 4.50 MiB a step in the log")
	assert.Equal(t, 12, first(0.02).Range.Start.Line, "a scalar and its nodes each step")
}

func TestAutogradErrorIsTracedToItsCause(t *testing.T) {
	const script = `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 8)
        self.state = torch.zeros(1, 8)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state


def train(net: Net, loader, optimizer):
    for x, y in loader:
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
`
	log := "step 2 loss 0.1\nTraceback (most recent call last):\n  File \"/app/train.py\", line 19, in train\n    loss.backward()\n" +
		"RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad().\n"
	got := inProject(t, log, "train.py", script)
	assert.Equal(t, "autograd.backward-twice", got.Failure)
	require.NotEmpty(t, got.Suspects)
	assert.Equal(t, 12, got.Suspects[0].Range.Start.Line)
	assert.Contains(t, got.Cause, "In the code that is train.py:12 (GL405).")
	assert.Equal(t, "Fix GL405 in train.py:12", got.Fix[0].Title)
}

// A sum that nothing runs backward on keeps nodes, but makes no backward raise; a
// state that is added to the next one does.
func TestWhatCannotMakeABackwardRaiseIsNoSuspect(t *testing.T) {
	const script = `import torch
from torch import nn


def train(cell: nn.Linear, head: nn.Linear, loader, optimizer):
    state = torch.zeros(8, 32)
    total = 0.0
    for x in loader:
        state = torch.sigmoid(cell(x) + state)
        loss = head(state).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
`
	log := "Traceback (most recent call last):\n  File \"/app/train.py\", line 12, in train\n    loss.backward()\n" +
		"RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed).\n"
	got := inProject(t, log, "train.py", script)
	assert.Equal(t, "autograd.backward-twice", got.Failure)
	require.Len(t, got.Suspects, 1)
	assert.Equal(t, "GL405", got.Suspects[0].Code)
	assert.Equal(t, 9, got.Suspects[0].Range.Start.Line)
}

// What a backward leaves of each step's graph is host memory.
func TestProcessThatRanOutOfHostMemoryIsTracedToItsCause(t *testing.T) {
	const script = `import torch.nn.functional as F
from torch import nn


def fit(model: nn.Module, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    print(float(total))
`
	var log strings.Builder
	for step := 0; step < 2000; step += 20 {
		fmt.Fprintf(&log, "step %d rss %.1f MiB\n", step, 1000+2.1*float64(step))
	}
	log.WriteString("Traceback (most recent call last):\n  File \"/app/train.py\", line 8, in fit\n    loss = F.cross_entropy(model(x), y)\n" +
		"RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4096 bytes. Error code 12 (Cannot allocate memory)\n")
	got := inProject(t, log.String(), "train.py", script)
	assert.Equal(t, "memory.host-oom.allocator", got.Failure)
	require.NotEmpty(t, got.Suspects)
	assert.Equal(t, 11, got.Suspects[0].Range.Start.Line)
	assert.Contains(t, got.Suspects[0].Why, "can be the 2.10 MiB a step in the log")
	assert.Equal(t, "Fix GL101 in train.py:11", got.Fix[0].Title)
	require.NotNil(t, got.Growth)
	assert.Equal(t, "host", got.Growth.Quantity)
}
