package flow_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// A library of which nothing is known, and files of the project that the claims
// are about.
func TestClaims(t *testing.T) {
	const around = `import torch
from torch import nn
import lab
from lab import ops
from tools.values import host, History

model = nn.Linear(2, 1)
`
	tests := []struct {
		name   string
		src    string
		claims []torch.Claim
		// The places that grow without the claims and with them.
		without, with []string
	}{
		{
			"a library function passes the graph on",
			"total = torch.zeros(())\nfor x in loader:\n    total = total + ops.scale(model(x).mean())\n",
			[]torch.Claim{{Name: "lab.ops.scale", Role: torch.Passes}}, nil, []string{"total"},
		},
		{
			"a function of the project detaches, whatever it does",
			"total = 0.0\nfor x in loader:\n    total += host(model(x).mean())\n",
			[]torch.Claim{{Name: "tools.values.host", Role: torch.Cuts}}, []string{"total"}, nil,
		},
		{
			"the same by the name of the package",
			"total = 0.0\nfor x in loader:\n    total += host(model(x).mean())\n",
			[]torch.Claim{{Name: "tools.host", Role: torch.Cuts}}, []string{"total"}, nil,
		},
		{
			"one of another module",
			"total = 0.0\nfor x in loader:\n    total += host(model(x).mean())\n",
			[]torch.Claim{{Name: "others.host", Role: torch.Cuts}}, []string{"total"}, []string{"total"},
		},
		{
			"a library makes a model",
			"net = lab.build(3)\ntotal = 0.0\nfor x in loader:\n    total += net(x).mean()\n",
			[]torch.Claim{{Name: "lab.build", Role: torch.MakesModel}}, nil, []string{"total"},
		},
		{
			"a library runs the backward pass",
			"total = 0.0\nfor x in loader:\n    total = total + model(x).mean()\nlab.engine.run(total)\n",
			[]torch.Claim{{Name: "lab.engine.run", Role: torch.Shows}}, nil, []string{"total"},
		},
		{
			"a method of a library stores what it is given",
			"history = lab.History()\nfor x in loader:\n    loss = model(x).mean()\n    loss.backward()\n    history.record(loss)\n",
			[]torch.Claim{{Name: "lab.History.record", Role: torch.Collects}}, nil, []string{"history freed"},
		},
		{
			"and another one drops it",
			"history = lab.History()\nfor x in loader:\n    loss = model(x).mean()\n    loss.backward()\n    history.add(loss)\n    history.flush()\n",
			[]torch.Claim{{Name: "lab.History.add", Role: torch.Collects}, {Name: "lab.History.flush", Role: torch.Resets}}, []string{"history freed"}, nil,
		},
		{
			"a method of the project drops what it stored",
			"history = History()\nfor x in loader:\n    history.add(model(x).mean())\n",
			[]torch.Claim{{Name: "tools.values.History.add", Role: torch.Shows}}, []string{"self.values"}, nil,
		},
		{
			"unseen code calls a method each step",
			"class Watch(lab.Callback):\n    def __init__(self):\n        self.total = 0.0\n\n    def on_batch(self, x):\n        self.total = self.total + model(x).mean()\n",
			[]torch.Claim{{Name: "lab.Callback.on_batch", Called: torch.EachStep}}, nil, []string{"self.total"},
		},
		{
			"unseen code calls a function each step",
			"seen = []\n\n\ndef observe(x):\n    seen.append(model(x).mean())\n",
			[]torch.Claim{{Name: "main.observe", Called: torch.EachStep}}, nil, []string{"seen"},
		},
		{
			"unseen code trains with what a method returns",
			"class Task:\n    def __init__(self):\n        self.total = 0.0\n\n    def loss(self, x):\n        out = model(x).mean()\n        self.total = self.total + out\n        return out\n",
			[]torch.Claim{{Name: "main.Task.loss", Called: torch.TrainingStep}}, nil, []string{"self.total freed"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			workspace := files{
				"pyproject.toml":    "",
				"tools/__init__.py": "",
				"tools/values.py":   "class History:\n    def __init__(self):\n        self.values = []\n\n    def add(self, value):\n        self.values.append(value)\n\n\ndef host(value):\n    return value\n",
				"main.py":           around + tt.src,
			}
			for name, src := range workspace {
				path := filepath.Join(root, filepath.FromSlash(name))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(src), 0o600))
			}
			grows := func(claims ...torch.Claim) []string {
				disk := names.NewDisk(nil, root)
				facts, err := flow.NewWorkspace(names.NewResolver(disk), claims...).Analyze(t.Context(), disk.Module(t.Context(), filepath.Join(root, "main.py")))
				require.NoError(t, err)
				var out []string
				for _, g := range facts.Growths {
					place := g.Target.Module.Tree.Text(g.Target.Node)
					if !g.Activations {
						place += " freed"
					}
					out = append(out, place)
				}
				return out
			}
			assert.Equal(t, tt.without, grows(), "without claims")
			assert.Equal(t, tt.with, grows(tt.claims...), "with claims")
		})
	}
}
