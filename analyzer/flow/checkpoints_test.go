package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const resumed = `def resume(path, loader, device):
    model = nn.Linear(8, 8).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loaded = torch.load(path, map_location=device)
    model.load_state_dict(loaded["model"])
    %s
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
`

func TestCheckpointSaysWhatHoldsIt(t *testing.T) {
	found := facts(t, fmt.Sprintf(resumed, "pass")).Checkpoints
	require.Len(t, found, 1)
	c := found[0]
	assert.Equal(t, "loaded", c.Name)
	assert.Equal(t, "torch.load(path, map_location=device)", c.Load.Text())
	assert.Equal(t, "device", c.MapLocation.Text())
	assert.Equal(t, `model.load_state_dict(loaded["model"])`, c.Into.Text())
	assert.Equal(t, "for x, y in loader:", firstLine(c.Loop.Text()))
	assert.True(t, c.Only)
}

func TestOtherUsesOfACheckpoint(t *testing.T) {
	for _, use := range []string{`start = loaded["epoch"]`, "print(loaded.keys())", "unknown(loaded)", `noise = loaded["noise"] * 2`} {
		found := facts(t, fmt.Sprintf(resumed, use)).Checkpoints
		if assert.Len(t, found, 1, use) {
			assert.False(t, found[0].Only, use)
		}
	}
	for _, use := range []string{`optimizer.load_state_dict(loaded["optimizer"])`, `other = nn.Linear(8, 8); other.load_state_dict(loaded["other"])`} {
		found := facts(t, fmt.Sprintf(resumed, use)).Checkpoints
		if assert.Len(t, found, 1, use) {
			assert.True(t, found[0].Only, use)
		}
	}
	for _, use := range []string{"del loaded", "loaded = None", `loaded = loaded["epoch"]`} {
		assert.Empty(t, facts(t, fmt.Sprintf(resumed, use)).Checkpoints, use)
	}
}
