package flow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// inMemory is a workspace of files that are open in an editor.
type inMemory struct {
	files map[string]string
	disk  *names.Disk
	*Workspace
}

func newInMemory(files map[string]string) *inMemory {
	m := &inMemory{files: files}
	m.disk = names.NewDisk(func(path string) ([]byte, bool) {
		src, ok := m.files[path]
		return []byte(src), ok
	}, "/w")
	m.Workspace = NewWorkspace(names.NewResolver(m.disk))
	return m
}

// growths is how many places grow in a file.
func (m *inMemory) growths(t *testing.T, path string) int {
	t.Helper()
	module := m.disk.Module(t.Context(), path)
	require.NotNil(t, module)
	facts, err := m.Analyze(t.Context(), module)
	require.NoError(t, err)
	return len(facts.Growths)
}

// uses are how calls of a name of tools.py use its summaries.
func (m *inMemory) uses(name string) []summaryUse {
	var out []summaryUse
	for key, s := range m.summaries {
		if definedAs(key.module, key.node) == name && key.module.Path == "/w/tools.py" {
			out = append(out, s.use)
		}
	}
	return out
}

const torchImports = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"

// TestSummaryUse asks whether a call of f, or of a class or method of that
// name, can be told from a summary.
func TestSummaryUse(t *testing.T) {
	for _, tt := range []struct {
		name, tools, call string
		want              []summaryUse
	}{
		{"it computes", "def f(x, y):\n    return F.mse_loss(x, y)\n", "f(x, y)", []summaryUse{summarised}},
		{"it collects in loops within each other", "class f:\n    def __init__(self, data):\n        self.packs = []\n        for sample in data:\n            for part in sample:\n                self.packs.append(torch.zeros(3))\n", "f(config.data)", []summaryUse{summarised}},
		{"it makes objects", "class A:\n    def __init__(self, n):\n        self.n = [n, nn.Linear(n, n)]\ndef f(n):\n    return {'a': A(n)}\n", "f(3)", []summaryUse{summarised}},
		{"a constructor", "class f(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(1, 1)\n", "f()", []summaryUse{summarised}},
		{"a method of what a summary made", "class f:\n    def __init__(self):\n        self.scale = 2\n    def apply(self, x):\n        return x * self.scale\n", "f().apply(x)", []summaryUse{summarised, summarised}},
		{"it stores in its argument", "def f(kept, x):\n    kept.append(x)\n", "f(kept, x)", []summaryUse{inlined}},
		{"it stores in a global", "SEEN = []\ndef f(x):\n    SEEN.append(x)\n", "f(x)", []summaryUse{inlined}},
		{"it sets a field of its argument", "def f(config, x):\n    config.last = x\n", "f(config, x)", []summaryUse{inlined}},
		{"it runs a backward", "def f(x):\n    x.sum().backward()\n", "f(x)", []summaryUse{inlined}},
		{"it steps an optimizer", "def f(optimizer):\n    optimizer.zero_grad()\n    optimizer.step()\n", "f(optimizer)", []summaryUse{inlined}},
		{"it changes the mode of a model", "def f(model):\n    model.eval()\n", "f(config.model)", []summaryUse{inlined}},
		{"it returns what its scope holds", "def f(x):\n    return lambda: x\n", "f(x)", []summaryUse{inlined}},
		{"it always raises", "def f(x):\n    raise ValueError(x)\n", "f(x)", []summaryUse{unknowable}},
		{"one for each kind of argument", "def f(x):\n    return x\n", "f(x); f(2); f(3); f('a'); f(None)", []summaryUse{summarised, summarised, summarised, summarised}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newInMemory(map[string]string{
				"/w/tools.py": torchImports + tt.tools,
				"/w/train.py": torchImports + "from tools import f\ndef main(config, optimizer):\n    kept = []\n    x = torch.ones(3, requires_grad=True) * 2\n    y = torch.ones(3)\n    " + tt.call + "\n",
			})
			w.growths(t, "/w/train.py")
			assert.Equal(t, tt.want, w.uses("f"))
		})
	}
}

// TestSummaryKeepsWhatMatters runs loops whose growth depends on what a function
// of another file does with the graphs it is given.
func TestSummaryKeepsWhatMatters(t *testing.T) {
	for _, tt := range []struct {
		name, tools, loop string
		grows             int
	}{
		{"an operation", "def f(x):\n    return x.mean()\n", "total += f(loss)", 1},
		{"nothing", "def f(x):\n    return x\n", "total += f(loss)", 1},
		{"a cut", "def f(x):\n    return x.detach()\n", "total += f(loss)", 0},
		{"a number", "def f(x):\n    return x.item()\n", "total += f(loss)", 0},
		{"one of two elements, the attached one", "def f(x):\n    return x, x.detach()\n", "total += f(loss)[0]", 1},
		{"one of two elements, the other", "def f(x):\n    return x, x.detach()\n", "total += f(loss)[1]", 0},
		{"an element of a dict", "def f(x):\n    return {'loss': x, 'value': x.item()}\n", "total += f(loss)['loss']", 1},
		{"another element of the dict", "def f(x):\n    return {'loss': x, 'value': x.item()}\n", "total += f(loss)['value']", 0},
		{"a field of an object", "class R:\n    def __init__(self, x):\n        self.kept, self.cut = x, x.detach()\ndef f(x):\n    return R(x)\n", "total += f(loss).kept", 1},
		{"another field", "class R:\n    def __init__(self, x):\n        self.kept, self.cut = x, x.detach()\ndef f(x):\n    return R(x)\n", "total += f(loss).cut", 0},
		{"the accumulator itself", "def f(total, x):\n    return total + x\n", "total = f(total, loss)", 1},
		{"the accumulator without its graph", "def f(total, x):\n    return total + x.detach()\n", "total = f(total, loss)", 0},
		{"no recording", "@torch.no_grad()\ndef f(x):\n    return x * 2\n", "total += f(loss)", 0},
		{"a sum in a loop", "def f(x):\n    s = 0\n    for k in range(100):\n        s = s + x * k\n    return s\n", "total += f(loss)", 1},
		{"a call of a function that is given", "def f(g, x):\n    return g(x)\n", "total += f(torch.sqrt, loss)", 1},
		{"a call of a function that cuts", "def f(g, x):\n    return g(x)\n", "total += f(torch.argmax, loss)", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newInMemory(map[string]string{
				"/w/tools.py": torchImports + tt.tools,
				"/w/train.py": torchImports + "from tools import f\nmodel = nn.Linear(2, 2)\ntotal = 0.0\nfor x, y in loader:\n    loss = F.mse_loss(model(x), y)\n    " + tt.loop + "\nprint(float(total))\n",
			})
			assert.Equal(t, tt.grows, w.growths(t, "/w/train.py"))
		})
	}
}

// TestSummaryFollowsEdits edits a file in the middle of a chain of imports.
func TestSummaryFollowsEdits(t *testing.T) {
	w := newInMemory(map[string]string{
		"/w/deep.py":  torchImports + "def value(x):\n    return x\n",
		"/w/tools.py": torchImports + "from deep import value\ndef f(x):\n    return value(x)\n",
		"/w/train.py": torchImports + "from tools import f\nmodel = nn.Linear(2, 2)\ntotal = 0.0\nfor x, y in loader:\n    total += f(F.mse_loss(model(x), y))\nprint(float(total))\n",
	})
	assert.Equal(t, 1, w.growths(t, "/w/train.py"))
	before := len(w.summaries)
	assert.Equal(t, 1, w.growths(t, "/w/train.py"))
	assert.Len(t, w.summaries, before, "the second analysis finds what the first made")

	w.files["/w/deep.py"] = torchImports + "def value(x):\n    return x.item()\n"
	assert.Equal(t, 0, w.growths(t, "/w/train.py"), "what f does depends on deep.py")
	w.files["/w/deep.py"] = torchImports + "def value(x):\n    return x * 2\n"
	assert.Equal(t, 1, w.growths(t, "/w/train.py"))
}

// TestSummariesOfRecursions asks for functions that call each other in either
// order.
func TestSummariesOfEditedFilesAreForgotten(t *testing.T) {
	net := "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n    def forward(self, x):\n        return self.fc(x)\n"
	m := newInMemory(map[string]string{
		"/w/tools.py": torchImports + "def f(build, x):\n    return build()(x)\n",
		"/w/main.py":  torchImports + "from tools import f\n" + net + "for x in data:\n    f(Net, x)\n    Net()(x)\n",
	})
	m.growths(t, "/w/main.py")
	require.NotEmpty(t, m.uses("f"))
	kept, about := len(m.summaries), len(m.about)
	for range 5 {
		m.files["/w/main.py"] += "\n"
		m.growths(t, "/w/main.py")
	}
	assert.Len(t, m.summaries, kept)
	assert.Len(t, m.about, about)
}

func TestSummariesOfRecursions(t *testing.T) {
	const tools = torchImports + `def even(n, x):
    return x if n == 0 else odd(n - 1, x)

def odd(n, x):
    return x.detach() if n == 0 else even(n - 1, x)
`
	main := func(first, second string) string {
		return torchImports + "from tools import even, odd\nmodel = nn.Linear(2, 2)\ntotal = 0.0\nfor x, y in loader:\n    loss = F.mse_loss(model(x), y)\n    total += " +
			first + "(3, loss)\n    " + second + "(3, loss)\nprint(float(total))\n"
	}
	for _, order := range [][2]string{{"even", "odd"}, {"odd", "even"}} {
		both := newInMemory(map[string]string{"/w/tools.py": tools, "/w/train.py": main(order[0], order[1]), "/w/other.py": main(order[1], order[0])})
		alone := newInMemory(map[string]string{"/w/tools.py": tools, "/w/train.py": main(order[0], order[1])})
		both.growths(t, "/w/other.py")
		assert.Equal(t, alone.growths(t, "/w/train.py"), both.growths(t, "/w/train.py"), "whatever was asked before")
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	w := newInMemory(map[string]string{})
	source := strings.Repeat("value = 1  # "+strings.Repeat("x", 87)+"\n", 1<<19/101)
	tree, err := syntax.Parse([]byte(source))
	require.NoError(t, err)
	for i := range 100 {
		path := fmt.Sprintf("/w/m%d.py", i)
		key := summaryKey{module: names.NewModule(path, tree)}
		w.keep(key, &summary{})
		assert.NotNil(t, w.known(key))
		assert.LessOrEqual(t, w.bytes, maxSources+len(source))
		assert.Equal(t, w.bytes, len(w.newest)*len(source))
		if i%2 == 1 {
			w.Forget(path)
			assert.Nil(t, w.known(key))
			assert.Len(t, w.summaries, len(w.newest))
		}
	}
}
