package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/flow"
)

func TestOptimizersThatTakeOneStep(t *testing.T) {
	const program = `def fit(model: nn.Module, loader, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            %s
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
`
	tests := []struct {
		name, made string
		want       bool
	}{
		{"Adam", "optimizer = torch.optim.Adam(model.parameters())", true},
		{"with momentum", "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)", true},
		{"without", "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)", false},
		{"without, and a scheduler", "optimizer = torch.optim.SGD(model.parameters(), lr=0.1); s = torch.optim.lr_scheduler.StepLR(optimizer, 1)", true},
		{"of another model each time", "other = nn.Linear(4, 4); optimizer = torch.optim.Adam(other.parameters())", false},
		{"the model starts again", "model.load_state_dict(start); optimizer = torch.optim.Adam(model.parameters())", false},
		{"unknown parameters", "optimizer = torch.optim.Adam(groups(model))", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := facts(t, fmt.Sprintf(program, tt.made)).Remade
			if !tt.want {
				assert.Empty(t, found)
			} else if assert.Len(t, found, 1) {
				assert.Equal(t, flow.RemadeOptimizer, found[0].Kind)
				assert.Equal(t, "optimizer.step()", found[0].Used.Text())
				assert.Equal(t, "for x, y in loader", found[0].Loop.Text()[:18])
			}
		})
	}
}

func TestTracesAndIterators(t *testing.T) {
	const program = `model = nn.Linear(4, 4)
loader = torch.utils.data.DataLoader(data, %s)
for x in requests:
    %s
`
	tests := []struct {
		workers, body string
		kind          flow.RemadeKind
		want          bool
	}{
		{"num_workers=2", "torch.jit.trace(model, x)(x)", flow.RemadeTrace, true},
		{"num_workers=2", "torch.jit.trace(nn.Linear(4, 4), x)(x)", 0, false},
		{"num_workers=2", "torch.jit.script(model)(x)", 0, false},
		{"num_workers=2", "y = next(iter(loader))", flow.RemadeIterator, true},
		{"num_workers=n", "y = next(iter(loader))", flow.RemadeIterator, true},
		{"num_workers=0", "y = next(iter(loader))", 0, false},
		{"batch_size=2", "y = next(iter(loader))", 0, false},
		{"num_workers=2", "y = next(iter(x))", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.body+" "+tt.workers, func(t *testing.T) {
			found := facts(t, fmt.Sprintf(program, tt.workers, tt.body)).Remade
			if !tt.want {
				assert.Empty(t, found)
			} else if assert.Len(t, found, 1) {
				assert.Equal(t, tt.kind, found[0].Kind)
			}
		})
	}
}
