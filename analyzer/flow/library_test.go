package flow_test

import "testing"

func TestContainersThatAreBoundedDoNotGrow(t *testing.T) {
	const collections = "from collections import Counter, OrderedDict, defaultdict, deque\nimport queue\n\n\n"
	grows := []string{"loss: nodes, collects"}
	run(t, []program{
		{"a deque", collections + around("seen = deque()", "seen.append(loss)"), grows},
		{"a deque with a limit", collections + around("seen = deque(maxlen=100)", "seen.append(loss)"), nil},
		{"a deque with a limit by position", collections + around("seen = deque([], 100)", "seen.append(loss)"), nil},
		{"a deque with a huge limit", collections + around("seen = deque(maxlen=1_000_000)", "seen.append(loss)"), grows},
		{"a list that is trimmed", around("seen = []", "seen.append(loss)\nif len(seen) > 100:\n    seen.pop(0)"), nil},
		{"a list of which a slice is deleted", around("seen = []", "seen.append(loss)\ndel seen[:-100]"), nil},
		{"a list of which the tail is kept", around("seen = []", "seen.append(loss)\nseen = seen[-100:]"), nil},
		{"a list that is cleared", around("seen = []", "seen.append(loss)\nif step % 10 == 0:\n    seen.clear()"), nil},
		{"a list that is replaced", around("seen = []", "seen.append(loss)\nif step % 10 == 0:\n    seen = []"), nil},
		{"a set", around("seen = set()", "seen.add(loss)"), grows},
		{"a queue", collections + around("seen = queue.Queue()", "seen.put(loss)"), grows},
		{"a list made by addition", around("seen = []", "seen = seen + [loss]"), grows},
		{"a list in a tuple", around("seen = ([], [])", "seen[0].append(loss)"), grows},
	})
}

func TestEntriesOfDicts(t *testing.T) {
	const collections = "from collections import Counter, OrderedDict, defaultdict\n\n\n"
	run(t, []program{
		{"one entry is one value", around("logs = {}", "logs['loss'] = loss"), nil},
		{"an entry for each step", around("logs = {}", "logs[step] = loss"), []string{"loss: nodes, collects"}},
		{"an entry that is added to", around("logs = {'loss': 0.0}", "logs['loss'] += loss"), []string{"loss: nodes"}},
		{"get with a default", around("logs = {}", "logs['loss'] = logs.get('loss', 0.0) + loss"), []string{"loss: nodes"}},
		{"setdefault", around("logs = {}", "logs.setdefault('loss', []).append(loss)"), []string{"loss: nodes, collects"}},
		{"defaultdict of lists", collections + around("logs = defaultdict(list)", "logs['loss'].append(loss)"), []string{"loss: nodes, collects"}},
		{"defaultdict of numbers", collections + around("logs = defaultdict(float)", "logs['loss'] += loss"), []string{"loss: nodes"}},
		{"defaultdict of numbers, detached", collections + around("logs = defaultdict(float)", "logs['loss'] += loss.detach()"), nil},
		{"Counter", collections + around("logs = Counter()", "logs.update({'loss': loss})"), []string{"loss: nodes"}},
		{"Counter by item", collections + around("logs = Counter()", "logs['loss'] += loss"), []string{"loss: nodes"}},
		{"update replaces", around("logs = {}", "logs.update(loss=loss)"), nil},
		{"the keys of a part of the program", around("logs = {}", "for name in ('a', 'b'):\n    logs[name] = loss"), nil},
	})
}

func TestIteratorsHandOnWhatTheyIterate(t *testing.T) {
	const tools = "import functools\nimport itertools\n\n\n"
	run(t, []program{
		{"enumerate", tools + `def run(model: nn.Module, loader):
    total = 0.0
    for i, out in enumerate(map(model, loader)):
        total += out.mean()
    print(float(total))
`, []string{"out.mean(): activations"}},
		{"zip", tools + `def run(model: nn.Module, loader, labels):
    total = 0.0
    for out, y in zip((model(x) for x in loader), labels):
        total += F.mse_loss(out, y)
    print(float(total))
`, []string{"F.mse_loss(out, y): activations"}},
		{"islice of few", tools + `def run(model: nn.Module, loader):
    total = 0.0
    for x in itertools.islice(loader, 1000):
        total += model(x).mean()
    print(float(total))
`, []string{"model(x).mean(): activations"}},
		{"getattr and setattr", tools + `class Log:
    total = 0.0


` + around("log = Log()", "setattr(log, 'total', getattr(log, 'total') + loss)"), []string{"loss: nodes"}},
		{"partial", tools + `class Log:
    total = 0.0


def add(log, loss):
    log.total += loss


` + around("log = Log()\nkeep = functools.partial(add, log)", "keep(loss)"), []string{"loss: nodes, through a call"}},
		{"partial by keyword", tools + `class Log:
    total = 0.0


def add(loss, log):
    log.total += loss


` + around("log = Log()\nkeep = functools.partial(add, log=log)", "keep(loss)"), []string{"loss: nodes, through a call"}},
	})
}

func TestOtherFrameworksAreSilent(t *testing.T) {
	const other = "import jax.numpy as jnp\nimport numpy as np\nimport tensorflow as tf\n\n\n"
	for _, loss := range []string{"np.mean(x)", "jnp.mean(x)", "tf.reduce_mean(x)", "np.asarray(out.detach()).mean()"} {
		run(t, []program{{loss, other + around("total, seen = 0.0, []", "total += "+loss+"\nseen.append("+loss+")"), nil}})
	}
}

func TestToolsForIteration(t *testing.T) {
	const head = "import functools\nimport itertools\n\n\ndef run(model: nn.Module, loader, other):\n    total = 0.0\n"
	eachOf(t, func(code string) string { return head + indented(code, 1) + "    print(float(total))\n" }, []string{
		"for out in itertools.chain((model(x) for x in loader), (model(x) for x in other)):\n    total += out.mean()",
		"for out in itertools.starmap(lambda x, y: model(x), zip(loader, other)):\n    total += out.mean()",
		"for out in filter(None, [model(x) for x in ()] or map(model, loader)):\n    total += out.mean()",
		"for out, x in itertools.zip_longest(map(model, loader), other):\n    total += out.mean()",
		"for x in reversed(list(loader)):\n    out = model(x)\n    total += out.mean()",
		"for x in sorted(loader):\n    out = model(x)\n    total += out.mean()",
		"for x in loader:\n    out = functools.reduce(lambda a, b: a + b, [model(x), model(x)])\n    total += out.mean()",
		"for x in loader:\n    out = max(model(x), model(x))\n    total += out.mean()",
		"for x in loader:\n    out = pow(model(x), 2)\n    total += out.mean()",
	}, "out.mean(): activations")
}

func TestTypeTestsNarrow(t *testing.T) {
	run(t, []program{
		{"a number is added, a tensor is not", inEachStepOf("if isinstance(loss, float):\n    total += loss"), nil},
		{"one of several types", inEachStepOf("if isinstance(loss, (int, float)):\n    total += loss"), nil},
		{"a tensor is added", inEachStepOf("if isinstance(loss, torch.Tensor):\n    total += loss"), []string{"loss: nodes"}},
		{"not a tensor", inEachStepOf("if not torch.is_tensor(loss):\n    total += loss"), nil},
		{"a conditional expression", inEachStepOf("total += loss.item() if isinstance(loss, torch.Tensor) else loss"), nil},
	})
}
