package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHooksThatReferToTheirTensor runs a function with a hook in a loop.
func TestHooksThatReferToTheirTensor(t *testing.T) {
	const program = `import functools

trunk, head = nn.Linear(4, 4), nn.Linear(4, 1)


def weigh(weight, grad):
    return grad * weight.mean()


def step(x):
    early = torch.relu(trunk(x))
    h = torch.sigmoid(early)
    late = head(h)
    values = h.detach()
    %s
    late.sum().backward()


for x in loader:
    step(x)
`
	tests := []struct {
		name, register, captured string
		itself                   bool
	}{
		{"its variable", "h.register_hook(lambda grad: grad * h.mean())", "h", true},
		{"its variable, detached too late", "h.register_hook(lambda grad: grad * h.detach().mean())", "h", true},
		{"a default", "h.register_hook(lambda grad, h=h: grad * h.mean())", "h", true},
		{"a bound argument", "h.register_hook(functools.partial(weigh, h))", "h", true},
		{"what was computed from it", "h.register_hook(lambda grad: grad * late.mean())", "late", false},
		{"what it was computed from", "h.register_hook(lambda grad: grad * early.mean())", "", false},
		{"a detached copy", "h.register_hook(lambda grad: grad * values.mean())", "", false},
		{"nothing", "h.register_hook(lambda grad: grad * 2)", "", false},
		{"the argument of the same name", "h.register_hook(lambda h: h * 2)", "", false},
		{"a function of the module", "h.register_hook(lambda grad: weigh(values, grad))", "", false},
		{"removed", "handle = h.register_hook(lambda grad: grad * h.mean()); late.sum().backward(); handle.remove(); return", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := facts(t, fmt.Sprintf(program, tt.register)).Cycles
			if tt.captured == "" {
				assert.Empty(t, got)
				return
			}
			if assert.Len(t, got, 1) {
				assert.Equal(t, tt.captured, got[0].Captured)
				assert.Equal(t, tt.itself, got[0].Itself)
				assert.Equal(t, "h", got[0].Tensor.Text())
				assert.NotNil(t, got[0].Loop.Module, "a loop calls the function")
			}
		})
	}
}

func TestHooksThatAreNeverRemoved(t *testing.T) {
	tests := []struct {
		name, src, captured string
		want                bool
	}{
		{"in a loop", `net = nn.Linear(4, 4)
for x in loader:
    net.register_forward_hook(lambda m, i, o: None)
    net(x)
`, "", true},
		{"with a list of its own", `net = nn.Linear(4, 4)
for x in loader:
    seen = []
    net.register_forward_hook(lambda m, i, o, seen=seen: seen.append(o.sum().item()))
    net(x)
`, "seen", true},
		{"with the list of all", `net = nn.Linear(4, 4)
seen = []
for x in loader:
    net.register_forward_hook(lambda m, i, o: seen.append(o.sum().item()))
    net(x)
`, "", true},
		{"on a parameter of a trained model", `net = nn.Linear(4, 4)
for x in loader:
    net.weight.register_hook(lambda grad: grad * 2)
    net(x).sum().backward()
`, "", true},
		{"in a function that runs the model", `def features(net: nn.Module, x):
    seen = []
    net.layer.register_forward_hook(lambda m, i, o: seen.append(o))
    net(x)
    return seen[0]
`, "seen", true},
		{"in a function that sets them up", `def prepare(net: nn.Module, log):
    net.layer.register_forward_hook(lambda m, i, o: log(o))
`, "", false},
		{"in a function that loops over the data then", `def train(net: nn.Module, loader):
    net.layer.register_forward_hook(lambda m, i, o: print(o.sum().item()))
    for x in loader:
        net(x).sum().backward()
`, "", false},
		{"whose handles are kept", `net = nn.Linear(4, 4)
handles = []
for x in loader:
    handles.append(net.register_forward_hook(lambda m, i, o: None))
    net(x)
`, "", false},
		{"on a model of each iteration", `for x in loader:
    net = nn.Linear(4, 4)
    net.register_forward_hook(lambda m, i, o: None)
    net(x)
`, "", false},
		{"on each part", `net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
for part in net:
    part.register_forward_hook(lambda m, i, o: None)
net(torch.zeros(4))
`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := facts(t, tt.src).Hooks
			if !tt.want {
				assert.Empty(t, got)
				return
			}
			if assert.Len(t, got, 1) {
				assert.Equal(t, tt.captured, got[0].Captured)
			}
		})
	}
}
