package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
)

const evaluated = `def evaluate(model: nn.Module, loader):
    model.eval()
    right = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum()
    return right
`

func TestUnguardedSaysWhereItIs(t *testing.T) {
	found := facts(t, evaluated)
	require.Len(t, found.Unguarded, 1)
	u := found.Unguarded[0]
	assert.Equal(t, "model(x)", u.Call.Text())
	assert.Equal(t, "model.eval()", u.Evaluation.Text())
	assert.Equal(t, "for x, y in loader:", firstLine(u.Loop.Text()))
	assert.Equal(t, flow.Likely, u.Sure)

	var regions []string
	for _, r := range u.Regions {
		assert.False(t, r.Opaque, r.Text())
		regions = append(regions, firstLine(r.Text()))
	}
	assert.Equal(t, []string{"def evaluate(model: nn.Module, loader):", "for x, y in loader:", "right += (model(x).argmax(1) == y).sum()"}, regions)
}

func TestRegionsLeaveOutWhatNeedsGradients(t *testing.T) {
	const src = `def distill(student: nn.Module, teacher: nn.Module, loader, optimizer):
    teacher.eval()
    for x in loader:
        target = teacher(x).detach()
        loss = F.mse_loss(student(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
`
	found := facts(t, src)
	require.Len(t, found.Unguarded, 1)
	regions := found.Unguarded[0].Regions
	require.Len(t, regions, 1)
	assert.Equal(t, "target = teacher(x).detach()", regions[0].Text())
}

func TestRegionsWithCodeThatMayTrainAreOpaque(t *testing.T) {
	const src = `def evaluate(model: nn.Module, loader, attack):
    model.eval()
    for x, y in loader:
        right = (model(attack(model, x)).argmax(1) == y).sum()
        print(right)
`
	found := facts(t, src)
	require.Len(t, found.Unguarded, 1)
	for _, r := range found.Unguarded[0].Regions {
		assert.True(t, r.Opaque, r.Text())
	}
}

func TestEvaluationModeIsAModulesOwn(t *testing.T) {
	const loop = "    for x, y in loader:\n        print(F.mse_loss(model(x), y).item())\n"
	tests := map[string]bool{
		"def f(model: nn.Module, loader):\n    model.eval()\n" + loop:                                  true,
		"def f(model: nn.Module, loader):\n    model.train(False)\n" + loop:                            true,
		"def f(loader):\n    model = nn.Linear(2, 2).eval()\n" + loop:                                  true,
		"def f(loader):\n    model = nn.Sequential(nn.Linear(2, 2))\n    model.eval()\n" + loop:        true,
		"def f(model: nn.Module, loader):\n    model.eval()\n    model.train()\n" + loop:               false,
		"def f(model: nn.Module, loader):\n" + loop:                                                    false,
		"def f(model: nn.Module, other: nn.Module, loader):\n    other.eval()\n" + loop:                false,
		"def f(model: nn.Module, loader, e):\n    if e:\n        model.eval()\n" + loop:                false,
		"def f(loader):\n    model = nn.Linear(2, 2).eval()\n    model = nn.Linear(2, 2)\n" + loop:     false,
		"def f(loader):\n    model = nn.Linear(2, 2).eval()\n    model.requires_grad_(False)\n" + loop: false,
	}
	for src, want := range tests {
		assert.Equal(t, want, len(facts(t, src).Unguarded) > 0, src)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
