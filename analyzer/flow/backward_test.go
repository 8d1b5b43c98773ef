package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatABackwardNeedsIsNoLeak(t *testing.T) {
	run(t, []program{
		{"a sum that is backwarded after the loop", `def run(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
    total.backward()
`, nil},
		{"a list that is stacked", `def run(model: nn.Module, loader):
    losses = []
    for x, y in loader:
        losses.append(F.mse_loss(model(x), y))
    torch.stack(losses).mean().backward()
`, nil},
		{"a list that is summed", `def run(model: nn.Module, loader):
    losses = []
    for x, y in loader:
        losses.append(F.mse_loss(model(x), y))
    sum(losses).backward()
`, nil},
		{"elements one by one", `def run(model: nn.Module, loader):
    losses = []
    for x, y in loader:
        losses.append(F.mse_loss(model(x), y))
    for loss in losses:
        loss.backward()
`, nil},
		{"through a function", `def finish(value):
    (value / 4).backward()


def run(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
    finish(total)
`, nil},
		{"returned to a caller that backwards", `def run(model, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
    return total


def train(model: nn.Module, loader):
    run(model, loader).backward()
`, nil},
		{"returned to a caller that does not", `def run(model, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
    return total


def train(model: nn.Module, loader):
    print(float(run(model, loader)))
`, []string{"F.mse_loss(model(x), y): activations"}},
		{"returned to nobody that is known", `def run(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
    return total
`, nil},
		{"backwarded by a later method", `class Trainer:
    def __init__(self, model: nn.Module):
        self.model = model
        self.total = 0.0

    def collect(self, loader):
        for x, y in loader:
            self.total = self.total + F.mse_loss(self.model(x), y)

    def finish(self):
        self.total.backward()
        self.total = 0.0


def train(model: nn.Module, loader):
    trainer = Trainer(model)
    trainer.collect(loader)
    trainer.finish()
`, nil},
		{"losses of an episode, cleared after the update", `def run(model: nn.Module, episodes):
    saved = []
    for episode in episodes:
        for x in episode:
            saved.append(model(x).mean())
        torch.stack(saved).sum().backward()
        saved.clear()
`, nil},
	})
}

func TestABackwardFreesOnlyItsOwnPath(t *testing.T) {
	run(t, []program{
		{"what it ran through", around("seen = []", "seen.append(out)"), []string{"out: nodes, collects"}},
		{"another head", around("total = 0.0", "total += head(x).abs().mean()"), []string{"head(x).abs().mean(): activations"}},
		{"an operation on top that saves", around("total = 0.0", "total += out.exp().mean()"), []string{"out.exp().mean(): activations"}},
		{"an operation on top that does not", around("total = 0.0", "total += out.sum()"), []string{"out.sum(): nodes"}},
		{"a penalty of the input", `def run(model: nn.Linear, loader):
    total = 0.0
    for x, y in loader:
        x.requires_grad_()
        out = model(x)
        grad = torch.autograd.grad(out.sum(), x, create_graph=True)[0]
        loss = grad.norm()
        loss.backward()
        total += loss
    print(float(total))
`, []string{"loss: activations"}},
	})
}

func TestABackwardOnOnePathOnlyLeavesTheGraphOnTheOther(t *testing.T) {
	g := one(t, `def run(model: nn.Module, loader):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        if i % 2:
            loss.backward()
        total += loss
    print(float(total))
`)
	assert.NotEmpty(t, g.Freed)
}

func TestARetainedGraphIsNamed(t *testing.T) {
	g := one(t, `def run(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(retain_graph=True)
        total += loss
    print(float(total))
`)
	assert.True(t, g.Activations)
	if assert.NotNil(t, g.Retained) {
		assert.Equal(t, "loss.backward(retain_graph=True)", g.Retained.Text())
	}
	assert.Nil(t, one(t, around("total = 0.0", "total += loss")).Retained)
}

func TestWhatIsHandedToUnknownCodeEscapes(t *testing.T) {
	assert.True(t, one(t, around("total = 0.0", "total += loss")+"    finish(total)\n").Escapes)
	assert.False(t, one(t, around("total = 0.0", "total += loss")+"    print(total)\n").Escapes)
	assert.False(t, one(t, around("total = 0.0", "total += loss")+"    writer.add_scalar('loss', total)\n").Escapes, "loggers run no backward")
	assert.Empty(t, analyze(t, `def run(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
    finish(total)
`), "without a backward in sight, the unknown code may run it")
}
