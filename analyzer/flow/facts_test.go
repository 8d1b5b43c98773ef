package flow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

const imports = `import torch
import torch.nn.functional as F
from torch import nn

`

func analyze(t testing.TB, src string) []flow.Growth {
	t.Helper()
	return facts(t, src).Growths
}

func facts(t testing.TB, src string) *flow.Facts {
	t.Helper()
	tree, err := syntax.Parse([]byte(imports + src))
	require.NoError(t, err)
	require.Empty(t, tree.DamagedSpans(), src)
	facts, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(t.Context(), names.NewModule("train.py", tree))
	require.NoError(t, err)
	return facts
}

func one(t testing.TB, src string) flow.Growth {
	t.Helper()
	growths := analyze(t, src)
	require.Len(t, growths, 1, src)
	return growths[0]
}

func texts(locations []flow.Location) []string {
	var out []string
	for _, l := range locations {
		out = append(out, l.Text())
	}
	return out
}

const trained = `def train(model: nn.Module, loader, optimizer):
    total, seen = 0.0, []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        %s
`

func TestGrowthSaysWhereItIs(t *testing.T) {
	g := one(t, fmt.Sprintf(trained, "total += loss * len(x)"))
	assert.Equal(t, "loss * len(x)", g.Kept.Text())
	assert.Equal(t, "total += loss * len(x)", g.Store.Text())
	assert.Equal(t, "total", g.Target.Text())
	assert.True(t, strings.HasPrefix(g.Loop.Text(), "for x, y in loader:"))
	assert.Equal(t, []string{"loss.backward()"}, texts(g.Freed))
	assert.Contains(t, texts(g.Made), "F.mse_loss(model(x), y)")
	assert.False(t, g.Activations)
	assert.False(t, g.Collects)
	assert.False(t, g.ThroughCall)
	assert.False(t, g.Implicit)
	assert.Equal(t, imports+fmt.Sprintf(trained, "total += loss * len(x)"), g.Kept.Module.Tree.Source())
}

func TestContainersCollect(t *testing.T) {
	for _, store := range []string{"seen.append(loss)", "seen.extend([loss])", "seen += [loss]", "seen.insert(0, loss)"} {
		g := one(t, fmt.Sprintf(trained, store))
		assert.True(t, g.Collects, store)
		assert.Equal(t, "seen", g.Target.Text(), store)
	}
	assert.False(t, one(t, fmt.Sprintf(trained, "total = total + loss")).Collects)
}

func TestPartsAreTheTensorsInWhatIsStored(t *testing.T) {
	tests := []struct {
		stored string
		want   []string
	}{
		{"loss", []string{"loss"}},
		{"(loss, x)", []string{"loss"}},
		{"{'loss': loss, 'step': 3}", []string{"loss"}},
		{"[loss, (1, model(x))]", []string{"loss", "model(x)"}},
		{"(loss.item(), loss.detach(), len(x))", nil},
	}
	for _, tt := range tests {
		growths := analyze(t, fmt.Sprintf(trained, "seen.append("+tt.stored+")"))
		if tt.want == nil {
			assert.Empty(t, growths, tt.stored)
			continue
		}
		require.Len(t, growths, 1, tt.stored)
		var got []string
		for _, p := range growths[0].Parts {
			got = append(got, p.Text())
		}
		assert.Equal(t, tt.want, got, tt.stored)
	}
}

func TestWhatStaysDependsOnTheBackward(t *testing.T) {
	const body = `def run(model: nn.Module, loader, scaler, accelerator):
    total = 0.0
    for x, y in loader:
        out = model(x)
        loss, other = F.mse_loss(out, y), out.abs().mean()
        %s
        total += loss
    print(float(total))
`
	tests := []struct {
		backward                string
		activations, sideOutput bool
	}{
		{"pass", true, false},
		{"loss.backward()", false, false},
		{"(loss / 4).backward()", false, false},
		{"(loss + other).backward()", false, false},
		{"scaler.scale(loss).backward()", false, false},
		{"accelerator.backward(loss)", false, false},
		{"torch.autograd.backward(loss)", false, false},
		{"torch.autograd.grad(loss, list(model.parameters()))", false, false},
		{"loss.backward(retain_graph=True)", true, false},
		{"loss.backward(create_graph=True)", true, false},
		{"loss.backward(retain_graph=False)", false, false},
		{"other.backward()", true, true},
	}
	for _, tt := range tests {
		g := one(t, fmt.Sprintf(body, tt.backward))
		assert.Equal(t, tt.activations, g.Activations, tt.backward)
		assert.Equal(t, tt.sideOutput, g.SideOutput, tt.backward)
	}
}

func TestABackwardAfterTheStoreCounts(t *testing.T) {
	g := one(t, `def train(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        total += loss
        loss.backward()
    print(float(total))
`)
	assert.False(t, g.Activations)
}

func TestCallsMoveTheGrowthToTheirArgument(t *testing.T) {
	g := one(t, `class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += value


def train(model: nn.Module, loader):
    meter = Meter()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        meter.update(value=loss)
`)
	assert.True(t, g.ThroughCall)
	assert.Equal(t, "loss", g.Kept.Text())
	assert.Equal(t, "self.total += value", g.Store.Text())
	assert.Equal(t, "self.total", g.Target.Text())
	require.Len(t, g.Parts, 1)
	assert.Equal(t, "loss", g.Parts[0].Text())
}

func TestForwardIsALoopOfItsOwn(t *testing.T) {
	g := one(t, `class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(dim=0)
        return x - self.mean
`)
	assert.True(t, g.Implicit)
	assert.True(t, g.Decays)
	assert.True(t, strings.HasPrefix(g.Loop.Text(), "def forward"))
	assert.Equal(t, flow.Likely, g.Sure, "that the input of forward carries a graph is a convention")
}

func TestEvaluationModeIsKnown(t *testing.T) {
	for mode, want := range map[string]bool{"model.eval()": true, "model.train()": false, "model.train(False)": true, "pass": false} {
		g := one(t, fmt.Sprintf(`def run(model: nn.Module, loader):
    %s
    total = 0.0
    for x, y in loader:
        total += F.mse_loss(model(x), y)
    print(float(total))
`, mode))
		assert.Equal(t, want, g.Evaluation, mode)
	}
}

func TestFirstValuesAreSeeds(t *testing.T) {
	g := one(t, `def run(model: nn.Module, loader):
    total = None
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        if total is None:
            total = loss
        else:
            total = total + loss
    print(float(total))
`)
	assert.Equal(t, []string{"loss"}, texts(g.Seeds))
	assert.Empty(t, one(t, fmt.Sprintf(trained, "total += loss")).Seeds)
}

func TestFactsAreInTheOrderOfTheText(t *testing.T) {
	growths := analyze(t, `def second(model: nn.Module, loader):
    total, seen = 0.0, []
    for x in loader:
        out = model(x)
        seen.append(out)
        total += out.mean()
    print(float(total), len(seen))


def first(model: nn.Module, loader):
    second(model, loader)
    seen = []
    for x in loader:
        seen.append(model(x))
    print(len(seen))
`)
	require.Len(t, growths, 3)
	for i := 1; i < len(growths); i++ {
		assert.Less(t, growths[i-1].Kept.Span().Start, growths[i].Kept.Span().Start)
	}
}

func TestAnalysisStopsWithItsContext(t *testing.T) {
	tree, err := syntax.Parse([]byte(imports + fmt.Sprintf(trained, "total += loss")))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = flow.NewWorkspace(names.NewResolver(nil)).Analyze(ctx, names.NewModule("", tree))
	assert.ErrorIs(t, err, context.Canceled)
}
