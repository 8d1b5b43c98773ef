package flow_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
)

// files are the sources of a workspace by their path.
type files map[string]string

// analyzeFiles writes a workspace and analyses the file called main.
func analyzeFiles(t testing.TB, workspace files, main string) []flow.Growth {
	t.Helper()
	root := t.TempDir()
	for name, src := range workspace {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(src), 0o644))
	}
	disk := names.NewDisk(nil, root)
	module := disk.Module(t.Context(), filepath.Join(root, filepath.FromSlash(main)))
	require.NotNil(t, module)
	facts, err := flow.NewWorkspace(names.NewResolver(disk)).Analyze(t.Context(), module)
	require.NoError(t, err)
	return facts.Growths
}

// withTools is a workspace with a package of tools and what train.py holds.
func withTools(train string) files {
	return files{
		"pyproject.toml": "",
		"tools/__init__.py": `from .meters import Meter
from .meters import Meter as Average
`,
		"tools/meters.py": `class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += value


class Careful(Meter):
    def update(self, value):
        super().update(value.item())
`,
		"tools/losses.py": `import torch.nn.functional as F


def measured(model, x, y):
    loss = F.mse_loss(model(x), y)
    return loss, loss.item()


def mean(model, x, y):
    return measured(model, x, y)[0] / len(x)
`,
		"loop.py": `from tools.meters import Meter


class Loop:
    def __init__(self):
        self.meter = Meter()

    def run(self, model, loader):
        for x in loader:
            loss = model(x).mean()
            loss.backward()
            self.meter.update(loss)
`,
		"train.py": "import torch.nn as nn\n" + train,
	}
}

func inTrain(imports, made, kept string) files {
	return withTools(imports + `

def train(model: nn.Module, loader):
    meter, total = ` + made + `, 0.0
    for x, y in loader:
        loss = model(x).mean()
        loss.backward()
        ` + kept + "\n")
}

func TestMetersOfOtherFiles(t *testing.T) {
	grows := []string{"loss: nodes, through a call"}
	for _, tt := range []struct {
		imports, made string
		want          []string
	}{
		{"from tools.meters import Meter", "Meter()", grows},
		{"from tools import Meter", "Meter()", grows},
		{"from tools import Average", "Average()", grows},
		{"from tools.meters import *", "Meter()", grows},
		{"import tools.meters", "tools.meters.Meter()", grows},
		{"import tools.meters as m", "m.Meter()", grows},
		{"from tools import meters", "meters.Meter()", grows},
		{"from tools.meters import Meter as M", "M()", grows},
		{"from tools.meters import Careful", "Careful()", nil},
		{"from elsewhere import Meter", "Meter()", nil},
	} {
		growths := analyzeFiles(t, inTrain(tt.imports, tt.made, "meter.update(loss)"), "train.py")
		assert.Equal(t, tt.want, described(growths), tt.imports)
		for _, g := range growths {
			assert.Equal(t, "self.total += value", g.Store.Text(), tt.imports)
			assert.Equal(t, "meters.py", filepath.Base(g.Store.Module.Path), tt.imports)
			assert.Equal(t, "train.py", filepath.Base(g.Kept.Module.Path), tt.imports)
		}
	}
}

func TestResultsOfFunctionsOfOtherFiles(t *testing.T) {
	const imports = "from tools.losses import mean, measured"
	for _, tt := range []struct {
		kept string
		want []string
	}{
		{"total += measured(model, x, y)[0]", []string{"measured(model, x, y)[0]: activations"}},
		{"total += measured(model, x, y)[1]", nil},
		{"total += mean(model, x, y)", []string{"mean(model, x, y): activations"}},
		{"total += mean(model, x, y).item()", nil},
	} {
		growths := analyzeFiles(t, inTrain(imports, "None", tt.kept), "train.py")
		assert.Equal(t, tt.want, described(growths), tt.kept)
	}
}

func TestEachFileTellsItsOwnGrowth(t *testing.T) {
	workspace := withTools(`from loop import Loop


def train(model: nn.Module, loader):
    Loop().run(model, loader)
`)
	assert.Empty(t, analyzeFiles(t, workspace, "train.py"), "the loop is in another file")
	assert.Equal(t, []string{"loss: nodes, through a call"}, described(analyzeFiles(t, workspace, "loop.py")))
}

func TestFilesThatImportEachOther(t *testing.T) {
	growths := analyzeFiles(t, files{
		"a.py": `from b import B


class A:
    def __init__(self):
        self.seen = []

    def keep(self, value):
        self.seen.append(value)
`,
		"b.py": `from a import A
import train


class B(A):
    pass
`,
		"train.py": `from torch import nn

from b import B


def train(model: nn.Module, loader):
    log = B()
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        log.keep(loss)
`,
	}, "train.py")
	assert.Equal(t, []string{"loss: nodes, collects, through a call"}, described(growths))
}

func TestAProgramWithoutTorchIsNotRun(t *testing.T) {
	// The helper that mentions PyTorch is two imports away: that counts.
	dir := t.TempDir()
	write := func(name, src string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(src), 0o600))
		return path
	}
	write("pyproject.toml", "")
	main := "from helper import step\n\ntotal = 0\nfor x in open('data'):\n    total = total + step(x)\nprint(float(total))\n"
	write("helper.py", "from deep import step\n")
	write("deep.py", "import torch.nn as nn\n\nnet = nn.Linear(1, 1)\n\n\ndef step(x):\n    return net(x).mean()\n")
	disk := names.NewDisk(nil)
	facts, err := flow.NewWorkspace(names.NewResolver(disk)).Analyze(t.Context(), disk.Module(t.Context(), write("main.py", main)))
	require.NoError(t, err)
	assert.Len(t, facts.Growths, 1)
	write("deep.py", "def step(x):\n    return net(x).mean()\n")
	facts, err = flow.NewWorkspace(names.NewResolver(disk)).Analyze(t.Context(), disk.Module(t.Context(), filepath.Join(dir, "main.py")))
	require.NoError(t, err)
	assert.Empty(t, facts.Growths)
}
