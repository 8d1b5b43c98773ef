package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRecoveriesInHandlers(t *testing.T) {
	const program = `net = nn.Linear(4, 4)


def again(x):
    return net(x)


def report(text):
    print(text)


def missing(error):
    return "out of memory" in str(error)


for x in loader:
    try:
        y = again(x)
    except %s
`
	tests := []struct{ name, handler, first string }{
		{"by its class", "torch.cuda.OutOfMemoryError:\n        y = again(x[:2])", "y = again(x[:2])"},
		{"by its text", "RuntimeError as e:\n        if 'out of memory' in str(e):\n            y = again(x[:2])\n        else:\n            raise", "y = again(x[:2])"},
		{"by a function", "RuntimeError as e:\n        if not missing(e):\n            raise\n        report('again')\n        y = again(x[:2])", "y = again(x[:2])"},
		{"another call of the model", "torch.OutOfMemoryError:\n        y = net(x[:2])", "y = net(x[:2])"},
		{"nothing is computed", "torch.OutOfMemoryError:\n        report('skipped')\n        torch.cuda.empty_cache()", ""},
		{"gradients are reset", "torch.OutOfMemoryError:\n        net.zero_grad()", ""},
		{"another error", "ValueError:\n        y = again(x[:2])", ""},
		{"it is raised again", "torch.OutOfMemoryError:\n        report('failed')\n        raise\n        y = again(x)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := facts(t, fmt.Sprintf(program, tt.handler)).Recoveries
			if tt.first == "" {
				assert.Empty(t, got)
				return
			}
			if assert.Len(t, got, 1) {
				assert.Equal(t, tt.first, got[0].First.Text())
			}
		})
	}
}

func TestExceptionsKeepWhatTheirFramesHold(t *testing.T) {
	const program = `net = nn.Linear(4, 4)
errors = []


def attempt(x):
    error = None
    try:
        %s
    except ValueError as e:
        %s


for x in loader:
    attempt(x)
`
	tests := []struct {
		name, body, handler string
		growths, kept       int
	}{
		{"collected", "net(x)", "errors.append(e)", 1, 0},
		{"collected as text", "net(x)", "errors.append(str(e))", 0, 0},
		{"in a variable", "net(x)", "error = e", 0, 1},
		{"in a variable that is dropped", "net(x)", "error = e\n    print(error)\n    error = None", 0, 0},
		{"in a variable that is deleted", "net(x)", "error = e\n    del error", 0, 0},
		{"of code without tensors", "int(x)", "errors.append(e); error = e", 0, 0},
		{"of code without a graph", "net(x) if False else None", "errors.append(e)", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := facts(t, fmt.Sprintf(program, tt.body, tt.handler))
			if assert.Len(t, got.Growths, tt.growths) && tt.growths > 0 {
				assert.True(t, got.Growths[0].Caught)
			}
			assert.Len(t, got.Exceptions, tt.kept)
		})
	}
}
