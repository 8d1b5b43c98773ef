package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// epochs is a loop over data in a loop over epochs, with code at the end of an
// epoch, and behind all of them.
func epochs(end, after string) string {
	return strings.NewReplacer("END", end, "AFTER", after).Replace(`def run(model: nn.Module, loader, epochs):
    kept, other = [], []
    print(kept)
    for epoch in range(epochs):
        for x in loader:
            with torch.no_grad():
                kept.append(model(x))
            print(kept[-1])
        END
    AFTER
`)
}

func TestWhatReadsACollectionBetweenTwoLoops(t *testing.T) {
	for end, want := range map[string]string{
		"print(len(kept))":             "kept",
		"other = torch.cat(kept, 0)":   "kept",
		"for k in kept: print(k)":      "kept",
		"kept.extend(other)":           "",
		"pass":                         "",
		"print(len(other))":            "",
		"first = kept[0]; kept.pop(1)": "",
	} {
		p := onePile(t, epochs(end, "return torch.cat(kept)"))
		if end == "first = kept[0]; kept.pop(1)" {
			assert.Nil(t, p.Around, "an element is removed")
			continue
		}
		require.NotNil(t, p.Around, end)
		var got string
		if len(p.Readings) > 0 {
			got = p.Readings[0].Text()
		}
		assert.Equal(t, want, got, end)
	}
}

func TestWhatWouldEmptyACollection(t *testing.T) {
	const src = `class Meter:
    def __init__(self):
        self.kept = []

    def update(self, x):
        self.kept.append(x)

    def compute(self):
        return torch.cat(self.kept)

    METHOD

def run(model: nn.Module, loader, epochs):
    meter = Meter()
    for epoch in range(epochs):
        for x in loader:
            with torch.no_grad():
                meter.update(model(x))
        print(meter.compute())
`
	for method, empties := range map[string]bool{
		"def reset(self): self.kept = []":            true,
		"def reset(self): self.kept = list()":        true,
		"def reset(self): self.kept.clear()":         true,
		"def reset(self): self.other = []":           false,
		"def load(self, kept): self.kept = [kept]":   false,
		"def load(self, kept): self.kept = kept":     false,
		"def drop(self): self.kept = None":           true,
		"def new(self): self.kept = deque(maxlen=9)": true,
		"": false,
	} {
		p := onePile(t, replaced(src, "METHOD", method))
		require.NotNil(t, p.Around, method)
		require.NotNil(t, p.Call)
		assert.Equal(t, "meter.update(model(x))", p.Call.Text())
		assert.Equal(t, empties, p.Emptied != nil, method)
		require.NotEmpty(t, p.Readings, method)
		assert.Equal(t, "self.kept", p.Readings[0].Text())
	}
}
