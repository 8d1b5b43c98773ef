package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// evaluating is a loop over data under no_grad whose model gives out.
func evaluating(code string) string {
	return `@torch.no_grad()
def evaluate(model: nn.Module, loader, device):
    kept = []
    for x, y in loader:
        x = x.to(device)
        out = model(x)
` + indented(code, 2) + "    return kept\n"
}

func onePile(t *testing.T, src string) flow.Pile {
	t.Helper()
	piles := facts(t, src).Piles
	require.Len(t, piles, 1, src)
	return piles[0]
}

func TestWhereACollectedTensorLivesAndHowMuchThereIs(t *testing.T) {
	for stored, want := range map[string]struct {
		device torch.Device
		extent flow.Extent
	}{
		"out":                               {torch.OnAccelerator, flow.Output},
		"out.detach().float()":              {torch.OnAccelerator, flow.Output},
		"out.softmax(-1) * 2":               {torch.OnAccelerator, flow.Output},
		"torch.cat([out, out])":             {torch.OnAccelerator, flow.Output},
		"out['logits']":                     {torch.OnAccelerator, flow.Output},
		"out.sum(dim=1)":                    {torch.OnAccelerator, flow.Reduced},
		"out.max(1)[0]":                     {torch.OnAccelerator, flow.Reduced},
		"out.argmax(1)":                     {torch.OnAccelerator, flow.Index},
		"out.max(1)[1]":                     {torch.OnAccelerator, flow.Index},
		"x":                                 {torch.OnAccelerator, flow.UnknownExtent},
		"out.cpu()":                         {torch.OnHost, flow.Output},
		"out.to('cpu')":                     {torch.OnHost, flow.Output},
		"out.to(torch.float16)":             {torch.OnAccelerator, flow.Output},
		"out.to(torch.device('cpu'))":       {torch.OnHost, flow.Output},
		"torch.zeros(4)":                    {torch.OnHost, flow.UnknownExtent},
		"torch.zeros(4, device=out.device)": {torch.OnAccelerator, flow.UnknownExtent},
		"torch.zeros_like(out)":             {torch.OnAccelerator, flow.UnknownExtent},
	} {
		t.Run(stored, func(t *testing.T) {
			p := onePile(t, evaluating("kept.append("+stored+")"))
			require.Len(t, p.Tensors, 1)
			assert.Equal(t, want.device, p.Tensors[0].Device)
			assert.Equal(t, want.extent, p.Tensors[0].Extent)
			assert.True(t, p.Draws)
			assert.Nil(t, p.Around)
		})
	}
}

func TestWhatIsNoPile(t *testing.T) {
	for _, code := range []string{
		"kept = [out]", "kept.append(out)\nkept.clear()", "kept.append(out.mean())", "kept.append(out.numpy())", "kept.append(len(x))",
		"kept.append(out)\nif len(kept) > 4:\n    break", "if len(kept) < 4:\n    kept.append(out)", "kept.append(model)",
	} {
		assert.Empty(t, facts(t, evaluating(code)).Piles, code)
	}
}

func TestTheDeviceOfAModelIsThatOfItsOutput(t *testing.T) {
	const loop = `
    kept = []
    for x in loader:
        with torch.no_grad():
            kept.append(model(x))
`
	for setup, want := range map[string]torch.Device{
		"model = nn.Linear(2, 2).cuda()":                  torch.OnAccelerator,
		"model = nn.Linear(2, 2)\nmodel.to('cuda:0')":     torch.OnAccelerator,
		"model = nn.DataParallel(nn.Linear(2, 2).cuda())": torch.OnAccelerator,
		"model = nn.Linear(2, 2).to('cpu')":               torch.OnHost,
		"model = nn.Linear(2, 2)":                         torch.UnknownDevice,
	} {
		p := onePile(t, "def run(loader):\n"+indented(setup, 1)+loop)
		assert.Equal(t, want, p.Tensors[0].Device, setup)
	}
}

func TestACollectionThatOuterLoopsKeepToo(t *testing.T) {
	src := `def run(model: nn.Module, loader, device, epochs):
    kept = []
    for epoch in range(epochs):
        EMPTY
        for x in loader:
            with torch.no_grad():
                kept.append(model(x.to(device)))
`
	p := onePile(t, replaced(src, "EMPTY", "pass"))
	require.NotNil(t, p.Around)
	assert.Contains(t, p.Around.Text(), "for epoch in")
	assert.Contains(t, p.Loop.Text(), "for x in")
	for _, empty := range []string{"kept = []", "kept.clear()", "del kept[:]"} {
		assert.Nil(t, onePile(t, replaced(src, "EMPTY", empty)).Around, empty)
	}
}

func TestASmallViewKeepsTheStorage(t *testing.T) {
	for stored, part := range map[string]bool{
		"out[:, 0]": true, "out[..., -1]": true, "out[:, :1].detach()": true, "out[:, 0].clone()": false, "out[0]": false, "out[:, 1:]": false,
		"out[:, [0, 1]]": false, "out[out > 0]": false, "out[:, 0].cpu()": false, "out[:, 0] * 2": false,
	} {
		p := onePile(t, evaluating("kept.append("+stored+")"))
		assert.Equal(t, part, p.Tensors[0].Part, stored)
	}
}
