package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/flow"
)

func TestGraphsOfGradients(t *testing.T) {
	const loop = `net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(net(x), y)
    loss.backward(create_graph=True)
`
	const each = `for x, y in loader:
    net = nn.Linear(4, 4)
    F.mse_loss(net(x), y).backward(create_graph=True)
`
	tests := []struct {
		name, src string
		want      []flow.GradientGrowth
	}{
		{"never reset", loop, []flow.GradientGrowth{flow.GradientsAdded}},
		{"zeroed", loop + "    optimizer.zero_grad()\n", []flow.GradientGrowth{flow.GradientsReset}},
		{"zeroed at times", loop + "    if y.sum() > 0:\n        net.zero_grad()\n", []flow.GradientGrowth{flow.GradientsReset}},
		{"zeroed in place, with their graphs", loop + "    for p in net.parameters():\n        p.grad.zero_()\n", []flow.GradientGrowth{flow.GradientsAdded}},
		{"detached", loop + "    for p in net.parameters():\n        p.grad.detach_()\n", []flow.GradientGrowth{flow.GradientsReset}},
		{"set to None", loop + "    for p in net.parameters():\n        p.grad = None\n", nil},
		{"set to None by the optimizer", loop + "    optimizer.zero_grad(set_to_none=True)\n", nil},
		{"of a model that is dropped", each, []flow.GradientGrowth{flow.ModelsDropped}},
		{"of a model that is dropped, zeroed before", `for x, y in loader:
    net = nn.Linear(4, 4)
    net.zero_grad()
    F.mse_loss(net(x), y).backward(create_graph=True)
`, []flow.GradientGrowth{flow.ModelsDropped}},
		{"of a model that is dropped without them", each + "    net.zero_grad(set_to_none=True)\n", nil},
		{"in a function that a loop calls", `net = nn.Linear(4, 4)
def step(x, y):
    F.mse_loss(net(x), y).backward(create_graph=True)
for x, y in loader:
    step(x, y)
`, []flow.GradientGrowth{flow.GradientsAdded}},
		{"in a function that nothing calls", `def step(net: nn.Module, x, y):
    F.mse_loss(net(x), y).backward(create_graph=True)
`, []flow.GradientGrowth{flow.GradientsReset}},
		{"without a graph", "for x, y in loader:\n    with torch.no_grad():\n        x.backward(create_graph=True)\n", nil},
		{"returned instead", loop[:len(loop)-len("    loss.backward(create_graph=True)\n")] + "    torch.autograd.grad(loss, net.weight, create_graph=True)\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []flow.GradientGrowth
			for _, g := range facts(t, tt.src).Gradients {
				assert.Equal(t, "create_graph=True", g.Argument.Text())
				got = append(got, g.Growth)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}
