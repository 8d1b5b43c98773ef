package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/flow"
)

func TestGuardsWithoutEffect(t *testing.T) {
	tests := []struct {
		name, src string
		why       flow.GuardFailure
		runs      string
	}{
		{"a statement", "def f(model: nn.Module, x):\n    torch.no_grad()\n    return model(x)\n", flow.NeverEntered, "torch.no_grad()"},
		{"a coroutine", "@torch.no_grad()\nasync def f(): pass\n", flow.CoroutineLater, "async def f(): pass"},
		{"a class", "@torch.no_grad()\nclass A: pass\n", flow.ConstructorOnly, "class A: pass"},
		{"a generator", "def f(xs):\n    model = nn.Linear(2, 2)\n    with torch.no_grad():\n        g = (model(x) for x in xs)\n    return list(g)\n", flow.GeneratorLater, "(model(x) for x in xs)"},
		{"a thread", "import threading\nmodel = nn.Linear(2, 2)\ndef work():\n    model(1)\ndef f():\n    with torch.no_grad():\n        threading.Thread(target=work).start()\n", flow.OtherThread, "threading.Thread(target=work)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := facts(t, tt.src)
			if assert.Len(t, found.Guards, 1) {
				assert.Equal(t, tt.why, found.Guards[0].Why)
				assert.Equal(t, tt.runs, found.Guards[0].Runs.Text())
			}
		})
	}
	assert.Empty(t, facts(t, "def f(model: nn.Module, x):\n    with torch.no_grad():\n        return model(x)\n").Guards)
}
