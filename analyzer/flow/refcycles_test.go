package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFunctionsThatReferToThemselves(t *testing.T) {
	const program = `net = nn.Linear(4, 4)


def use(x):
    h = net(x)
    %s


for x in loader:
    print(use(x))
`
	tests := []struct {
		name, body string
		path       []string
	}{
		{"by its own name", "def f(n): return h.numel() if n == 0 else f(n - 1)\n    return f(2)", []string{"f"}},
		{"a lambda", "f = lambda n: h.numel() if n == 0 else f(n - 1)\n    return f(2)", []string{"f"}},
		{"through another", "def f(n): return g(n)\n    def g(n): return f(n - 1) + h.numel()\n    del h\n    h = net(x)\n    return f(2)", []string{"g", "f"}},
		{"it holds no tensor", "def f(n): return n if n == 0 else f(n - 1)\n    return f(h.numel())", nil},
		{"it calls no one", "def f(n): return h.numel()\n    return f(2)", nil},
		{"its name is given away", "def f(n): return h.numel() if n == 0 else f(n - 1)\n    n = f(2)\n    f = None\n    return n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := facts(t, fmt.Sprintf(program, tt.body)).References
			if tt.path == nil {
				assert.Empty(t, found)
			} else if assert.NotEmpty(t, found) {
				assert.Equal(t, tt.path, found[0].Path)
				assert.True(t, found[0].Function && found[0].Graph)
				assert.Equal(t, "h", found[0].Holds)
			}
		})
	}
}

func TestObjectsThatReferToThemselves(t *testing.T) {
	const program = `net = nn.Linear(4, 4)


class Box:
    def __init__(self, value=None):
        self.value = value

    def get(self):
        return self.value


kept = []
last = None
for x in loader:
    %s
`
	tests := []struct {
		name, body string
		path       []string
	}{
		{"a method of its own", "b = Box(net(x)); b.read = b.get", []string{".read"}},
		{"through another", "b = Box(net(x)); c = Box(); b.next = c; c.back = b", []string{".next", ".back"}},
		{"through a list", "b = Box(net(x)); c = Box(); b.all = [c]; c.back = b", []string{".all", ".back"}},
		{"a lambda", "b = Box(net(x)); b.read = (lambda o: lambda: o.value)(b)", []string{".read", "o"}},
		{"no way back", "b = Box(net(x)); c = Box(); b.next = c", nil},
		{"no tensors", "b = Box(len(x)); b.read = b.get", nil},
		{"something else keeps it", "b = Box(net(x).argmax()); b.read = b.get; kept.append(b)", nil},
		{"the one before", "b = Box(net(x).argmax()); b.back = last; last = b", nil},
		{"cut", "b = Box(net(x)); b.read = b.get; b.read = None", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := facts(t, fmt.Sprintf(program, tt.body)).References
			if tt.path == nil {
				assert.Empty(t, found)
			} else if assert.Len(t, found, 1) {
				assert.Equal(t, tt.path, found[0].Path)
				assert.Equal(t, "Box", found[0].Name)
			}
		})
	}
}

func TestHooksThatPackTensorsAsTheyAre(t *testing.T) {
	const program = `net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())


def twice(pair):
    return pair, pair


for x in loader:
    with torch.autograd.graph.saved_tensors_hooks(%s, unpack):
        y = net(x)
    %s
`
	tests := []struct {
		name, pack, after string
		want              int
	}{
		{"the tensor", "lambda t: t", "pass", 1},
		{"in a tuple", "lambda t: (t.device, t)", "pass", 1},
		{"by another function", "lambda t: twice(t)", "pass", 1},
		{"detached", "lambda t: t.detach()", "pass", 0},
		{"copied", "lambda t: t.clone()", "pass", 0},
		{"numbers", "lambda t: t.tolist()", "pass", 0},
		{"unknown", "pack", "pass", 0},
		{"a backward frees it", "lambda t: t", "y.sum().backward()", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Len(t, facts(t, fmt.Sprintf(program, tt.pack, tt.after)).Packed, tt.want)
		})
	}
}
