package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func replaced(s, old, with string) string { return strings.ReplaceAll(s, old, with) }

// meter is a class whose update runs body, and a loop that updates one.
func meter(body string) string {
	return fmt.Sprintf(`class Meter:
    def __init__(self):
        self.total, self.count, self.values = 0.0, 0, []

    def update(self, value, n=1):
        %s

    def reset(self):
        self.__init__()


`, strings.ReplaceAll(body, "\n", "\n        ")) + around("meter = Meter()", "meter.update(loss)")
}

func TestMetersThatKeepTheGraph(t *testing.T) {
	eachOf(t, meter, []string{
		"self.total += value", "self.total = self.total + value * n", "self.total += value * n\nself.count += n",
	}, "loss: nodes, through a call")
	eachOf(t, meter, []string{"self.values.append(value)", "self.values = self.values + [value]"}, "loss: nodes, collects, through a call")
}

func TestMetersThatDetachAreSilent(t *testing.T) {
	eachOf(t, meter, []string{
		"self.total += value.item()", "self.total += float(value)", "self.total += value.detach()", "self.last = value",
		"if torch.is_tensor(value):\n    value = value.item()\nself.total += value",
		"if isinstance(value, torch.Tensor):\n    value = value.detach()\nself.total += value",
		"value = value.item() if hasattr(value, 'item') else value\nself.total += value",
		"with torch.no_grad():\n    self.total += value", "self.values.append(value)\nself.values = self.values[-10:]",
	})
}

func TestStateAcrossMethods(t *testing.T) {
	run(t, []program{
		{"a trainer", `class Trainer:
    def __init__(self, model: nn.Module):
        self.model, self.total = model, 0.0

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.total += loss

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)
`, []string{"loss: nodes"}},
		{"a trainer that resets", `class Trainer:
    def __init__(self, model: nn.Module):
        self.model, self.total = model, 0.0

    def step(self, x, y):
        self.total = 0.0
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.total += loss

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)
`, nil},
		{"two objects have two states", `class Box:
    def __init__(self):
        self.value = 0.0


` + around("a, b = Box(), Box()", "a.value += loss\na.value = 0.0\nb.value = b.value + loss"), []string{"loss: nodes"}},
	})
}

func TestMethodsAreFoundInTheirClass(t *testing.T) {
	const base = `class Base:
    def __init__(self):
        self.seen = []

    def keep(self, value):
        self.seen.append(value)

    @staticmethod
    def put(log, value):
        log.total = log.total + value

    @classmethod
    def make(cls):
        return cls()

    @property
    def log(self):
        return self.seen


`
	grows := []string{"loss: nodes, collects, through a call"}
	run(t, []program{
		{"inherited", base + "class Log(Base):\n    pass\n\n\n" + around("log = Log()", "log.keep(loss)"), grows},
		{"overridden", base + "class Log(Base):\n    def keep(self, value):\n        self.seen.append(value.item())\n\n\n" + around("log = Log()", "log.keep(loss)"), nil},
		{"through super", base + "class Log(Base):\n    def keep(self, value):\n        super().keep(value)\n\n\n" + around("log = Log()", "log.keep(loss)"), grows},
		{"through super, detached", base + "class Log(Base):\n    def keep(self, value):\n        super().keep(value.item())\n\n\n" + around("log = Log()", "log.keep(loss)"), nil},
		{"static", base + around("log = Base()\nlog.total = 0.0", "Base.put(log, loss)"), []string{"loss: nodes, through a call"}},
		{"made by a class method", base + around("log = Base.make()", "log.keep(loss)"), grows},
		{"a property", base + around("log = Base()", "log.log.append(loss)"), []string{"loss: nodes, collects"}},
		{"a method kept in a variable", base + around("keep = Base().keep", "keep(loss)"), grows},
		{"an object that is called", "class Log:\n    seen = []\n\n    def __call__(self, value):\n        self.seen.append(value)\n\n\n" + around("log = Log()", "log(loss)"), grows},
		{"an attribute of the class", "class Log:\n    seen = []\n\n\n" + inEachStep("Log.seen.append(loss)"), []string{"loss: nodes, collects"}},
	})
}

// network is a module with one layer whose forward runs body before it returns.
func network(init, body string) string {
	return fmt.Sprintf(`class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        %s

    def forward(self, x):
        h = self.layer(x)
        %s
        return h
`, init, strings.ReplaceAll(body, "\n", "\n        "))
}

func TestStatisticsInForwardGrow(t *testing.T) {
	run(t, []program{
		{"a running mean", network("self.register_buffer('mean', torch.zeros(8))", "self.mean = 0.9 * self.mean + 0.1 * h.mean(0)"), []string{"0.1 * h.mean(0): activations"}},
		{"in place", network("self.register_buffer('mean', torch.zeros(8))", "self.mean.mul_(0.9).add_(h.mean(0))"), []string{"h.mean(0): activations"}},
		{"detached", network("self.register_buffer('mean', torch.zeros(8))", "self.mean = 0.9 * self.mean + 0.1 * h.mean(0).detach()"), nil},
		{"under no_grad", network("self.register_buffer('mean', torch.zeros(8))", "with torch.no_grad():\n    self.mean = 0.9 * self.mean + 0.1 * h.mean(0)"), nil},
		{"a list of what is returned", network("self.seen = []", "self.seen.append(h)"), []string{"h: nodes, collects"}},
		{"a list of what is not", network("self.seen = []", "self.seen.append(h.exp())"), []string{"h.exp(): activations, collects"}},
		{"the last activation", network("self.last = None", "self.last = h"), nil},
		{"a counter", network("self.calls = 0", "self.calls += 1"), nil},
	})
}

func TestModulesRecordUnlessTheyAreFrozen(t *testing.T) {
	eachOf(t, func(freeze string) string {
		return `def run(loader):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    ` + strings.ReplaceAll(freeze, "\n", "\n    ") + `
    total = 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`
	}, []string{"model.requires_grad_(False)", "for p in model.parameters():\n    p.requires_grad = False", "for p in model.parameters():\n    p.requires_grad_(False)"})
	run(t, []program{
		{"frozen and thawed", `def run(loader):
    model = nn.Linear(8, 8)
    model.requires_grad_(False)
    model.requires_grad_(True)
    total = 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`, []string{"model(x).mean(): activations"}},
		{"frozen, but the input requires a gradient", `def run(loader):
    model = nn.Linear(8, 8)
    model.requires_grad_(False)
    total = 0.0
    for x in loader:
        x = torch.randn(4, 8, requires_grad=True)
        total += model(x).mean()
    print(float(total))
`, []string{"model(x).mean(): activations"}},
		{"no parameters", `def run(loader):
    model = nn.Sequential(nn.ReLU(), nn.Flatten())
    total = 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`, nil},
		{"parameters live as long as their module", `def run(loader):
    model, seen = nn.Linear(8, 8), []
    for x in loader:
        for p in model.parameters():
            seen.append(p)
`, nil},
	})
}

func TestCustomFunctionsKeepWhatIsOnTheirContext(t *testing.T) {
	const function = `class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        %s
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad


def run(model: nn.Module, loader):
    total = 0.0
    for x in loader:
        loss = Square.apply(model(x)).mean()
        loss.backward()
        total += loss
    print(float(total))
`
	for keep, activations := range map[string]bool{"ctx.x = x": true, "ctx.save_for_backward(x)": false, "ctx.size = 3": false, "pass": false} {
		assert.Equal(t, activations, one(t, fmt.Sprintf(function, keep)).Activations, keep)
	}
}

func TestAnnotationsSayWhatParametersAre(t *testing.T) {
	eachOf(t, func(annotation string) string {
		return `from typing import Optional, Union


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def forward(self, x):
        return self.layer(x)


def run(model: ` + annotation + `, loader):
    total = 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`
	}, []string{"Scorer", "nn.Module", "torch.nn.Linear", `"Scorer"`, "Optional[Scorer]", "Scorer | None", "Optional[nn.Linear]"},
		"model(x).mean(): activations")
	eachOf(t, func(annotation string) string {
		return "def run(thing: " + annotation + ", loader):\n    total = 0.0\n    for x in loader:\n        total += thing * 2\n    print(total)\n"
	}, []string{"float", "int", "np.ndarray", "Tensor", "Unknown", "list[float]", "dict[str, float]"})
}

func TestObjectsThatAreIteratedIndexedAndEntered(t *testing.T) {
	const source = `class Source:
    def __init__(self, model: nn.Module, loader):
        self.model, self.loader = model, loader

    def __iter__(self):
        for x in self.loader:
            yield self.model(x)%[1]s

    def __getitem__(self, i):
        return self.model(self.loader[i])%[1]s

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __call__(self, x):
        return self.model(x)%[1]s


class Steps:
    def __init__(self, model: nn.Module, loader):
        self.model, self.loader = model, iter(loader)

    def __iter__(self):
        return self

    def __next__(self):
        return self.model(next(self.loader))%[1]s


def run(model: nn.Module, loader, index):
    total = 0.0
%[2]s
    print(float(total))
`
	for _, loop := range []string{
		"for out in Source(model, loader):\n    total += out.mean()",
		"source = Source(model, loader)\nfor i in index:\n    out = source[i]\n    total += out.mean()",
		"with Source(model, loader) as source:\n    for x in loader:\n        out = source(x)\n        total += out.mean()",
		"for out in Steps(model, loader):\n    total += out.mean()",
	} {
		run(t, []program{
			{loop, fmt.Sprintf(source, "", indented(loop, 1)), []string{"out.mean(): activations"}},
			{loop + ", detached", fmt.Sprintf(source, ".detach()", indented(loop, 1)), nil},
		})
	}
}

func TestModulesWithoutKnownCode(t *testing.T) {
	run(t, []program{
		{"a subclass of what is not known", `class Net(nn.Module):
    pass


def run(loader):
    model, total = Net(), 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`, []string{"model(x).mean(): activations"}},
		{"layers of a list", `def run(loader):
    layers, total = nn.ModuleList([nn.Linear(8, 8), nn.ReLU()]), 0.0
    for x in loader:
        for layer in layers:
            x = layer(x)
        total += x.mean()
    print(float(total))
`, []string{"x.mean(): activations"}},
		{"a copy", `import copy


def run(model: nn.Linear, loader):
    twin, total = copy.deepcopy(model), 0.0
    for x in loader:
        total += twin(x).mean()
    print(float(total))
`, []string{"twin(x).mean(): activations"}},
		{"a frozen copy", `import copy


def run(loader):
    model = nn.Linear(8, 8)
    twin, total = copy.deepcopy(model), 0.0
    twin.requires_grad_(False)
    for x in loader:
        total += twin(x).mean()
    print(float(total))
`, nil},
		{"wrapped", `def run(loader):
    model, total = nn.DataParallel(nn.Linear(8, 8)).cuda(), 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`, []string{"model(x).mean(): activations"}},
		{"two results", `def run(loader):
    model, total = nn.LSTM(8, 8), 0.0
    for x in loader:
        out, (hidden, cell) = model(x)
        total += hidden.mean()
    print(float(total))
`, []string{"hidden.mean(): activations"}},
	})
}
