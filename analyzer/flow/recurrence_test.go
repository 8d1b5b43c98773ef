package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
)

// recurrent is a loop over a sequence whose state starts as given.
const recurrent = `def follow(sequence, optimizer):
    rnn, lstm, cell, read = nn.GRU(8, 8), nn.LSTM(8, 8), nn.GRUCell(8, 8), nn.Linear(8, 8)
    h = %s
    for x, y in sequence:
        %s
`

const (
	vector = "torch.zeros(1, 4, 8)"
	pair   = "(torch.zeros(1, 4, 8), torch.zeros(1, 4, 8))"
)

func TestAStateIsWhatAnIterationMakesOfTheLastOne(t *testing.T) {
	for _, tt := range []struct {
		start, code string
		shape       flow.Shape
	}{
		{vector, "out, h = rnn(x, h)", flow.OneTensor},
		{vector, "h = cell(x, h)", flow.OneTensor},
		{vector, "h = torch.tanh(read(h) + x)", flow.OneTensor},
		{pair, "out, h = lstm(x, h)", flow.TupleOfTensors},
		{"[torch.zeros(4, 8)]", "h = [cell(x, h[0])]", flow.ListOfTensors},
		{"[torch.zeros(4, 8)]", "h[0] = cell(x, h[0])", flow.OneTensor},
	} {
		t.Run(tt.code, func(t *testing.T) {
			g := one(t, fmt.Sprintf(recurrent, tt.start, tt.code))
			assert.True(t, g.State)
			assert.Equal(t, tt.shape, g.Shape)
			assert.True(t, g.Activations)
		})
	}
	for _, code := range []string{
		"out, h = rnn(x, h.detach())", "out, h = rnn(x, torch.zeros_like(h))", "with torch.no_grad():\n            out, h = rnn(x, h)",
		"out, h = rnn(x, h); h = h.detach()", "out, h = rnn(x)", "out, _ = rnn(x, h)",
	} {
		assert.Empty(t, analyze(t, fmt.Sprintf(recurrent, vector, code)), code)
	}
	sum := one(t, fmt.Sprintf(recurrent, vector, "h = h + read(x)"))
	assert.False(t, sum.State, "a sum takes in what it does not depend on")
}

func TestAStepThatNothingFeedsIsAComputation(t *testing.T) {
	assert.Empty(t, analyze(t, `def refine(model: nn.Module, x, steps):
    h = x
    while not done(h):
        h = model(h)
    print(h.shape)
`))
}

func TestABackwardCannotRunThroughAnEarlierIteration(t *testing.T) {
	step := func(state, backward string) string {
		return state + "; optimizer.zero_grad(); " + backward + "; optimizer.step()"
	}
	const through = "out, h = rnn(x, h)"
	for _, tt := range []struct {
		name, code string
		retained   bool
	}{
		{"it was freed", step(through, "F.mse_loss(out, y).backward()"), false},
		{"through the state itself", step("h = cell(x, h)", "read(h).sum().backward()"), false},
		{"the optimizer has stepped", step(through, "out.sum().backward(retain_graph=True)"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := facts(t, fmt.Sprintf(recurrent, vector, tt.code))
			assert.Empty(t, f.Growths, "a program that raises keeps nothing")
			require.Len(t, f.Reuses, 1)
			r := f.Reuses[0]
			assert.Equal(t, "h", r.Target.Text())
			assert.Contains(t, r.Backward.Text(), "backward")
			assert.Equal(t, tt.retained, r.Retained)
			assert.Equal(t, flow.OneTensor, r.Shape)
		})
	}
	for name, code := range map[string]string{
		"cut":                   step("out, h = rnn(x, h.detach())", "out.sum().backward()"),
		"cut after":             step(through, "out.sum().backward()") + "; h = h.detach()",
		"not in the loss":       step("h = cell(x, h)", "read(x).sum().backward()"),
		"retained, no step":     through + "; out.sum().backward(retain_graph=True)",
		"no saved tensors":      step("h = h + read.weight[0]", "h.sum().backward()"),
		"cut once in a while":   step(through, "out.sum().backward()") + "\n        if len(x) % 3 == 0:\n            h = h.detach()",
		"each sequence its own": "h = torch.zeros(1, 4, 8)\n        for part in x:\n            out, h = rnn(part, h)\n        out.sum().backward()",
	} {
		assert.Empty(t, facts(t, fmt.Sprintf(recurrent, vector, code)).Reuses, name)
	}
}
