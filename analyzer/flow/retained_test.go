package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRetainedGraphs(t *testing.T) {
	const trains = `net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(net(x), y)
    loss.backward(retain_graph=True)
    optimizer.step()
`
	tests := []struct {
		name, src      string
		needless, seen bool
	}{
		{"one backward", trains, true, true},
		{"a second one over the same loss", trains + "    loss.backward()\n", false, false},
		{"a second one over another graph", trains + "    F.l1_loss(nn.Linear(4, 4)(x), y).backward()\n", true, true},
		{"gradients of it", trains + "    torch.autograd.grad(loss, list(net.parameters()))\n", false, false},
		{"code that is not there gets it", trains + "    inspect(loss)\n", false, false},
		{"code that is not there gets its number", trains + "    inspect(loss.item())\n", true, true},
		{"a logger gets it", trains + "    logger.info(loss)\n", true, true},
		{"the next iteration runs through it", `net = nn.Linear(4, 4)
state = torch.zeros(4)
for x, y in loader:
    state = net(x + state)
    F.mse_loss(state, y).backward(retain_graph=True)
`, false, false},
		{"a function that returns the loss", `def step(net: nn.Module, batches):
    for x, y in batches:
        loss = F.mse_loss(net(x), y)
        loss.backward(retain_graph=True)
    return loss
`, false, false},
		{"a model that was not seen", `def train(net: nn.Module, batches):
    for x, y in batches:
        F.mse_loss(net(x), y).backward(retain_graph=True)
`, true, false},
		{"what a caller computed", `def step(net: nn.Module, code, y):
    F.mse_loss(net(code), y).backward(retain_graph=True)
`, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := facts(t, tt.src).Retentions
			if !tt.needless {
				assert.Empty(t, got)
				return
			}
			if assert.Len(t, got, 1) {
				assert.Equal(t, "retain_graph=True", got[0].Argument.Text())
				assert.Equal(t, tt.seen, got[0].Seen)
				assert.NotEmpty(t, got[0].Made)
			}
		})
	}
}

// TestGraphsCollectedBeforeALoop runs epochs over the values of a rollout that
// were stored with their graph.
func TestGraphsCollectedBeforeALoop(t *testing.T) {
	const src = `critic = nn.Linear(4, 1)
optimizer = torch.optim.Adam(critic.parameters())
values = torch.zeros(100)
for i in range(len(steps)):
    values[i] = critic(torch.randn(4))
for epoch in range(epochs):
    F.mse_loss(values, torch.ones(100)).backward(retain_graph=True)
`
	assert.Empty(t, facts(t, src).Retentions, "without a step the graph is just used again")
	got := facts(t, src+"    optimizer.step()\n").Retentions
	if assert.Len(t, got, 1) {
		assert.Equal(t, []string{"critic(torch.randn(4))"}, texts(got[0].Collected))
	}
}
