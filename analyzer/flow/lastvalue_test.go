package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const kept = `class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        h = self.body(x)
        self.last = h
        return h

    def show(self):
        %s
`

func TestLastValueSaysWhereItIs(t *testing.T) {
	found := facts(t, fmt.Sprintf(kept, "print(self.last.detach())")).LastValues
	require.Len(t, found, 1)
	v := found[0]
	assert.Equal(t, "h", v.Stored.Text())
	assert.Equal(t, "self.last", v.Target.Text())
	assert.Equal(t, "self.last", v.Read.Text())
	assert.NotEqual(t, v.Target.Node, v.Read.Node)
	assert.True(t, v.Implicit)
}

func TestWhatReadsAnAttributeDecides(t *testing.T) {
	tests := map[string]bool{
		"print(self.last.mean().item())":              true,
		"print(self.last.cpu().detach().numpy())":     true,
		"print(float(self.last.norm()))":              true,
		"print(self.last.shape, self.last > 0)":       true,
		"print(f'{self.last}')":                       true,
		"print((2 * self.last[0]).tolist())":          true,
		"print(hasattr(self, 'last'), self.last.T.H)": true,
		"with torch.no_grad(): unknown(self.last)":    true,
		"print(x.last(), self.last.item())":           true,
		"return self.last":                            false,
		"return self.last.mean()":                     false,
		"unknown(self.last)":                          false,
		"x = self.last; print(x.detach())":            false,
		"print(self.last.detach()); use(self.last)":   false,
		"print(self.last is None)":                    false, // says nothing of the graph
		"self.last = None":                            false,
		"print(self.last.unknown())":                  false,
		"self.last.backward()":                        false,
		"print(table[self.last])":                     false,
		"print(torch.stack([self.last]).detach())":    false,
		"print(self.last.register_hook(print))":       false,
	}
	for use, want := range tests {
		assert.Equal(t, want, len(facts(t, fmt.Sprintf(kept, use)).LastValues) > 0, use)
	}
}
