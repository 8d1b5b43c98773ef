package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVariablesOfOuterScopes(t *testing.T) {
	run(t, []program{
		{"nonlocal", `def train(model: nn.Module, loader):
    total = 0.0

    def step(x, y):
        nonlocal total
        loss = F.mse_loss(model(x), y)
        loss.backward()
        total += loss

    for x, y in loader:
        step(x, y)
`, []string{"loss: nodes"}},
		{"a local of the same name", `def train(model: nn.Module, loader):
    total = 0.0

    def step(x, y):
        total = 0.0
        loss = F.mse_loss(model(x), y)
        loss.backward()
        total += loss

    for x, y in loader:
        step(x, y)
`, nil},
		{"global", `total = 0.0


def step(model, x, y):
    global total
    loss = F.mse_loss(model(x), y)
    loss.backward()
    total += loss


def train(model: nn.Module, loader):
    for x, y in loader:
        step(model, x, y)
`, []string{"loss: nodes"}},
		{"a list of the enclosing function", `def train(model: nn.Module, loader):
    seen = []

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        seen.append(loss)

    for x, y in loader:
        step(x, y)
`, []string{"loss: nodes, collects"}},
		{"code of the module itself", `model = nn.Linear(4, 1)
loader = torch.load("batches.pt")
total = 0.0
for x in loader:
    loss = model(x).mean()
    loss.backward()
    total += loss
`, []string{"loss: nodes"}},
		{"under a main guard", `def train(model: nn.Module, loader):
    total = 0.0
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        total += loss
    return total


if __name__ == "__main__":
    print(train(nn.Linear(4, 1), torch.load("batches.pt")))
`, []string{"loss: nodes"}},
	})
}

func TestFunctionsAreValues(t *testing.T) {
	const twice = `class Log:
    def __init__(self):
        self.total = 0.0


def keep(log, value):
    log.total += value


def drop(log, value):
    log.total += value.item()


`
	grows := []string{"loss: nodes, through a call"}
	run(t, []program{
		{"called", twice + around("log = Log()", "keep(log, loss)"), grows},
		{"called by another name", twice + around("log, put = Log(), keep", "put(log, loss)"), grows},
		{"one that detaches", twice + around("log, put = Log(), drop", "put(log, loss)"), nil},
		{"passed", twice + `def apply(put, log, value):
    put(log, value)


` + around("log = Log()", "apply(keep, seen, loss)"), grows},
		{"a lambda", around("seen = []\nput = lambda value: seen.append(value)", "put(loss)"), []string{"loss: nodes, collects, through a call"}},
		{"a lambda that detaches", around("seen = []\nput = lambda value: seen.append(value.detach())", "put(loss)"), nil},
		{"keywords and defaults", twice + `def scaled(value, log, scale=1.0):
    log.total += value * scale


` + around("log = Log()", "scaled(log=log, value=loss)"), grows},
		{"star arguments", twice + `def collected(*values, **logs):
    logs["log"].total += values[0]


` + around("log = Log()", "collected(loss, 3, log=log)"), grows},
		{"a default that lives on", twice + `def first(value, log=Log()):
    log.total += value


` + inEachStep("first(loss)"), grows},
		{"decorated", twice + `import functools


def traced(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper


@traced
def wrapped(log, value):
    log.total += value


` + around("log = Log()", "wrapped(log, loss)"), grows},
	})
}

func TestGeneratorsRunWhereTheyAreConsumed(t *testing.T) {
	const losses = `def losses(model, loader):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        yield loss%s


def train(model: nn.Module, loader):
    total = 0.0
    for value in losses(model, loader):
        total += value
    print(float(total))
`
	run(t, []program{
		{"yield", replaced(losses, "%s", ""), []string{"value: nodes"}},
		{"yield of a number", replaced(losses, "%s", ".item()"), nil},
		{"yield from", `def inner(model, loader):
    for x in loader:
        yield model(x).mean()


def outer(model, loader):
    yield from inner(model, loader)


def run(model: nn.Module, loader):
    total = 0.0
    for value in outer(model, loader):
        total += value
    print(float(total))
`, []string{"value: activations"}},
		{"next", `def outputs(model, loader):
    for x in loader:
        yield model(x)


def run(model: nn.Module, loader):
    total, source = 0.0, outputs(model, loader)
    while True:
        total += next(source).mean()
        if total > 9:
            break
    print(float(total))
`, []string{"next(source).mean(): activations"}},
	})
}

func TestRecursionEnds(t *testing.T) {
	run(t, []program{
		{"a function that calls itself", `def walk(model, x, depth):
    if depth == 0:
        return model(x).mean()
    return walk(model, x, depth - 1)


def run(model: nn.Module, loader):
    total = 0.0
    for x in loader:
        total += walk(model, x, 9)
    print(float(total))
`, []string{"walk(model, x, 9): activations"}},
		{"two that call each other", `def odd(n):
    return even(n - 1)


def even(n):
    return odd(n - 1)


def run(loader):
    total = 0.0
    for x in loader:
        total += odd(x)
    print(total)
`, nil},
	})
}

func TestWhatIsNotKnownIsSilent(t *testing.T) {
	eachOf(t, func(code string) string {
		return "import mystery\n\n\ndef run(thing, loader):\n    total, seen = 0.0, []\n    for x in loader:\n        " + code + "\n    print(total)\n"
	}, []string{
		"total += thing(x)", "total += mystery.score(x)", "seen.append(thing(x))", "seen.append(x)", "total += x", "total += thing.measure(x)",
		"seen.append(mystery.load(x))", "total += unbound(x)",
	})
}

func TestCallersDecideWhatAnArgumentIs(t *testing.T) {
	growths := analyze(t, `class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += value


def train(model: nn.Module, loader):
    first, second = Meter(), Meter()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        first.update(loss)
        second.update(loss.item())
`)
	assert.Equal(t, []string{"loss: nodes, through a call"}, described(growths))
}

// TestLibraryFunctionsAreValuesToo calls functions of libraries where the
// program has no expression for their arguments.
func TestLibraryFunctionsAreValuesToo(t *testing.T) {
	const libraries = "import functools\nimport threading\nfrom torch.utils.checkpoint import checkpoint\n\n\n"
	eachOf(t, func(code string) string { return libraries + code }, []string{
		"def f(x): pass\nthreading.Thread(target=functools.partial, args=(f, 1))\n",
		"threading.Thread(target=checkpoint, args=(nn.Linear(1, 1), 1))\n",
		"threading.Thread(target=setattr, args=(1, 'x', 2))\nthreading.Thread(target=range, args=(1, 2))\nthreading.Thread(target=getattr)\n",
		"class A:\n    __getitem__ = functools.partial\n    __iter__ = next\n\n\nA()[0]\nfor a in A():\n    pass\n",
	})
}

func TestParametersHoldTheCallersCollection(t *testing.T) {
	run(t, []program{
		{"given by the caller", `def keep(log, value):
    log.append(value)


` + around("seen = []", "keep(seen, loss)"), []string{"loss: nodes, collects, through a call"}},
	})
}
