package flow_test

import (
	"fmt"
	"testing"
)

// evaluation is a loop that keeps the graph of each output unless grad mode is
// off; decorator stands above the function, guard is what the loop runs under.
func evaluation(decorator, guard string) string {
	return fmt.Sprintf(`import contextlib


def quiet():
    return torch.no_grad()


@contextlib.contextmanager
def evaluating(model):
    with torch.no_grad():
        yield model


@contextlib.contextmanager
def timed(model):
    yield model


class Guard:
    def __enter__(self):
        self.guard = torch.no_grad()
        self.guard.__enter__()

    def __exit__(self, *error):
        self.guard.__exit__(*error)


class Switch:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, *error):
        torch.set_grad_enabled(self.before)


class Clock:
    def __enter__(self):
        self.start = time.time()

    def __exit__(self, *error):
        print(time.time() - self.start)


%s
def run(model: nn.Module, loader):
    total = 0.0
    %s
        for x, y in loader:
            total += F.mse_loss(model(x), y)
    print(float(total))
`, decorator, guard)
}

func TestGradModeGuardsWhatRunsUnderIt(t *testing.T) {
	eachOf(t, func(guard string) string { return evaluation("", guard) }, []string{
		"with torch.no_grad():", "with torch.inference_mode():", "with torch.set_grad_enabled(False):",
		"with torch.autograd.no_grad():", "with timed(model), torch.no_grad():", "with torch.no_grad() as guard:",
		"with quiet():", "with evaluating(model):", "with Guard():", "with Switch():",
		"with contextlib.ExitStack() as stack:\n        stack.enter_context(torch.no_grad())",
		"torch.set_grad_enabled(False)\n    if loader:", "torch.set_grad_enabled(mode=False)\n    if loader:",
		"with torch.set_grad_enabled(mode=False):",
	})
	eachOf(t, func(guard string) string { return evaluation("", guard) }, []string{
		"if loader:", "with timed(model):", "with Clock():", "with torch.set_grad_enabled(True):", "with torch.enable_grad():",
		"torch.no_grad()\n    if loader:", "with torch.no_grad():\n        pass\n    if loader:",
		"with torch.no_grad():\n     with torch.enable_grad():", "with torch.autograd.set_detect_anomaly(True):",
		"model.eval()\n    if loader:",
	}, "F.mse_loss(model(x), y): activations")
}

func TestGradModeByDecorator(t *testing.T) {
	eachOf(t, func(decorator string) string { return evaluation(decorator, "if loader:") }, []string{
		"@torch.no_grad()", "@torch.inference_mode()", "@torch.inference_mode", "@torch.set_grad_enabled(False)",
	})
	eachOf(t, func(decorator string) string { return evaluation(decorator, "if loader:") }, []string{
		"@torch.enable_grad()", "@torch.set_grad_enabled(True)", "@torch.jit.ignore",
	}, "F.mse_loss(model(x), y): activations")
}

func TestGradModeOfTheCallerIsThatOfTheCallee(t *testing.T) {
	const body = `def score(model, x, y):
    return F.mse_loss(model(x), y)


def run(model: nn.Module, loader):
    total = 0.0
    %s
        for x, y in loader:
            total += score(model, x, y)
    print(float(total))
`
	run(t, []program{
		{"guarded", fmt.Sprintf(body, "with torch.no_grad():"), nil},
		{"unguarded", fmt.Sprintf(body, "if loader:"), []string{"score(model, x, y): activations"}},
	})
}

func TestGuardsDoNotReachBack(t *testing.T) {
	run(t, []program{
		{"a loss made outside", around("seen = []", "with torch.no_grad():\n    seen.append(loss)"), []string{"loss: nodes, collects"}},
		{"a sum under the guard has no graph", around("total = 0.0", "with torch.no_grad():\n    total = total + loss"), nil},
		{"a function made under the guard runs outside", `def run(model: nn.Module, loader):
    total = 0.0
    with torch.no_grad():
        def score(x):
            return model(x).mean()
    for x in loader:
        total += score(x)
    print(float(total))
`, []string{"score(x): activations"}},
		{"a thread has a grad mode of its own", `import threading


def work(model, loader):
    total = 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))


def run(model: nn.Module, loader):
    with torch.no_grad():
        threading.Thread(target=work, args=(model, loader)).start()
`, []string{"model(x).mean(): activations"}},
		{"enable_grad within", around("total = 0.0", "with torch.no_grad():\n    with torch.enable_grad():\n        again = model(x).mean()\ntotal += again"), []string{"again: activations"}},
		{"a generator that yields under a guard", `def batches(loader):
    with torch.no_grad():
        for x in loader:
            yield x


def run(model: nn.Module, loader):
    total = 0.0
    for x in loader:
        total += model(x).mean()
    print(float(total))
`, []string{"model(x).mean(): activations"}},
	})
}

func TestLiteralFlagsDecideGradMode(t *testing.T) {
	const phases = `def run(model: nn.Module, loader, train=%s):
    total = 0.0
    with torch.set_grad_enabled(%s):
        for x, y in loader:
            total += F.mse_loss(model(x), y)
    print(float(total))
`
	run(t, []program{
		{"a default", fmt.Sprintf(phases, "False", "train"), nil},
		{"its opposite", fmt.Sprintf(phases, "False", "not train"), []string{"F.mse_loss(model(x), y): activations"}},
		{"compared", fmt.Sprintf(phases, "'val'", "train == 'train'"), nil},
	})
}

func TestGuardsAsFunctions(t *testing.T) {
	const body = `def score(model, x):
    return model(x).mean()


score = %s


def run(model: nn.Module, loader):
    total = 0.0
    for x in loader:
        total += score(model, x)
    print(float(total))
`
	eachOf(t, func(guarded string) string { return fmt.Sprintf(body, guarded) }, []string{
		"torch.no_grad()(score)", "torch.inference_mode()(score)", "torch.no_grad(score)",
	})
	eachOf(t, func(guarded string) string { return fmt.Sprintf(body, guarded) }, []string{
		"torch.enable_grad()(score)", "score",
	}, "score(model, x): activations")
}
