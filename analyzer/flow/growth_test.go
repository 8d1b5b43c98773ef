package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/flow"
)

// The tables of the tests are small programs and what grows in them, one line
// for each place: the expression that is kept, and what of it stays.
//
//	loss: nodes
//	self.hidden: activations, collects
type program struct {
	name string
	code string
	want []string
}

// inEachStep is a training loop that runs code in each iteration, after it ran
// a backward over loss.
func inEachStep(code string) string { return around("", code) }

// around is inEachStep with code before the loop.
func around(before, code string) string {
	return "def train(model: nn.Module, head: nn.Linear, loader, optimizer):\n" + indented(before, 1) +
		"    for step, (x, y) in enumerate(loader):\n" +
		"        optimizer.zero_grad()\n" +
		"        out = model(x)\n" +
		"        loss = F.mse_loss(out, y)\n" +
		"        loss.backward()\n" +
		"        optimizer.step()\n" + indented(code, 2)
}

func indented(code string, levels int) string {
	var out strings.Builder
	for line := range strings.Lines(strings.Trim(code, "\n")) {
		out.WriteString(strings.Repeat("    ", levels) + line)
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	return out.String()
}

// described is one line for each growth.
func described(growths []flow.Growth) []string {
	var out []string
	for _, g := range growths {
		words := []string{"nodes"}
		if g.Activations {
			words[0] = "activations"
		}
		if g.Collects {
			words = append(words, "collects")
		}
		if g.ThroughCall {
			words = append(words, "through a call")
		}
		out = append(out, g.Kept.Text()+": "+strings.Join(words, ", "))
	}
	return out
}

func run(t *testing.T, programs []program) {
	t.Helper()
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			assert.Equal(t, p.want, described(analyze(t, p.code)), p.code)
		})
	}
}

// eachOf runs one program for each code.
func eachOf(t *testing.T, in func(code string) string, codes []string, want ...string) {
	t.Helper()
	var programs []program
	for _, code := range codes {
		programs = append(programs, program{code, in(code), want})
	}
	run(t, programs)
}

func after(before string) func(string) string {
	return func(code string) string { return around(before, code) }
}

func TestEverySpellingOfAnAccumulationGrows(t *testing.T) {
	eachOf(t, after("total = 0.0"), []string{
		"total += loss", "total = total + loss", "total = loss + total", "total = (total + loss)", "total -= loss",
		"total = torch.add(total, loss)", "total = sum([total, loss])",
		"if step % 2:\n    total += loss", "total, seen = total + loss, step",
	}, "loss: nodes")
}

func TestWhatCutsTheGraphDoesNotGrow(t *testing.T) {
	eachOf(t, after("total = 0.0"), []string{
		"total += loss.item()", "total += loss.detach()", "total += float(loss)", "total += loss.data", "total = total + loss.tolist()",
		"total += loss.detach().cpu().numpy()", "total = loss", "total += step", "total += (out.argmax(1) == y).sum()",
		"total += loss\ntotal = total.detach()", "with torch.no_grad():\n    total += loss", "total += out.max(1)[1].sum()",
		"print(f'{loss}')", "loss = loss.detach()\ntotal += loss",
	})
}

func TestWhatOnlyChangesTheTensorKeepsTheGraph(t *testing.T) {
	for _, kept := range []string{
		"loss.cpu()", "loss.clone()", "loss * len(x)", "loss / 4", "loss.mean()", "loss.view(1)", "loss.abs()", "loss.to('cpu')",
		"out.max(1)[0].mean()", "torch.softmax(out, 1).sum()", "out.round().sum()",
	} {
		growths := analyze(t, around("total = 0.0", "total += "+kept))
		assert.Len(t, growths, 1, kept)
	}
}

func TestMomentsOfAccumulation(t *testing.T) {
	run(t, []program{
		{"a reset in each iteration bounds it", around("total = 0.0", "total = 0.0\ntotal += loss"), nil},
		{"a reset now and then bounds it", around("total = 0.0", "total += loss\nif step % 100 == 0:\n    print(total)\n    total = 0.0"), nil},
		{"the first value is no reset", around("total = None", "total = loss if total is None else total + loss"), []string{"loss: nodes"}},
		{"a reset after the value has escaped does not help", around("total, history = 0.0, []", `
total += loss
if step % 8 == 7:
    history.append(total / 8)
    total = 0`), []string{"total / 8: nodes, collects"}},
		{"deleting another name changes nothing", around("total = 0.0", "total += loss\ndel loss, out"), []string{"loss: nodes"}},
		{"deleting the place bounds it", around("", "total = loss\ndel total"), nil},
		{"a value of the last iteration is one value", around("previous = 0.0", "change = loss - previous\nprevious = loss.detach()"), nil},
	})
}

func TestGrowthIsPerLoop(t *testing.T) {
	const epochs = `def train(model: nn.Module, loader, epochs: int):
    total, last = 0.0, 0.0
    for epoch in range(epochs):
        %s
        for x, y in loader:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            %s
        %s
        print(float(total))
`
	const inner, outer = "for x, y in loader", "for epoch in range"
	for _, tt := range []struct{ before, within, after, loop string }{
		{"pass", "total += loss", "pass", inner},
		{"total = 0.0", "total += loss", "pass", inner},
		{"pass", "total += loss", "total = 0.0", inner},
		{"pass", "total += loss", "total = total.detach()", inner},
		{"pass", "last = loss", "total += last", outer},
		{"last = 0.0", "total = 0.0", "total += last", ""},
		{"total = 0.0", "last = loss", "total += last", ""},
	} {
		code := fmt.Sprintf(epochs, tt.before, tt.within, tt.after)
		if tt.loop == "" {
			assert.Empty(t, analyze(t, code), code)
			continue
		}
		g := one(t, code)
		assert.True(t, strings.HasPrefix(g.Loop.Text(), tt.loop), code)
	}
}

func TestAveragesDecay(t *testing.T) {
	for _, average := range []string{"total = 0.9 * total + 0.1 * loss", "total = total * 0.9 + loss * 0.1"} {
		g := one(t, around("total = 0.0", average))
		assert.True(t, g.Decays, average)
		assert.Contains(t, g.Kept.Text(), "loss", average)
	}
	assert.False(t, one(t, around("total = 0.0", "total = total + loss")).Decays)
}

func TestWaysThroughALoop(t *testing.T) {
	run(t, []program{
		{"continue skips the store", around("total = 0.0", "if step > 3:\n    continue\ntotal += loss"), []string{"loss: nodes"}},
		{"break leaves before the next iteration", around("total = 0.0", "total += loss\nbreak"), nil},
		{"return leaves too", around("total = 0.0", "total += loss\nreturn float(total)"), nil},
		{"raise leaves too", around("total = 0.0", "total += loss\nraise ValueError(float(total))"), nil},
		{"an assertion does not leave", around("total = 0.0", "total += loss\nassert step < 9"), []string{"loss: nodes"}},
		{"a handler that stores", around("total = 0.0", "try:\n    check(x)\nexcept ValueError:\n    total += loss"), []string{"loss: nodes"}},
		{"finally stores in each iteration", around("total = 0.0", "try:\n    check(x)\nfinally:\n    total += loss"), []string{"loss: nodes"}},
		{"else of try", around("total = 0.0", "try:\n    check(x)\nexcept ValueError:\n    pass\nelse:\n    total += loss"), []string{"loss: nodes"}},
		{"match", around("total = 0.0", "match step:\n    case 0:\n        pass\n    case _:\n        total += loss"), []string{"loss: nodes"}},
		{"walrus", around("total = 0.0", "if (total := total + loss) > 3:\n    pass"), []string{"loss: nodes"}},
		{"a branch that is never taken", around("total = 0.0", "if False:\n    total += loss"), nil},
		{"while", `def train(model: nn.Module, queue):
    total = 0.0
    while queue.ready():
        loss = model(queue.get()).mean()
        loss.backward()
        total += loss
`, []string{"loss: nodes"}},
		{"while True", `def train(model: nn.Module, queue):
    total = 0.0
    while True:
        loss = model(queue.get()).mean()
        loss.backward()
        total += loss
        if queue.empty():
            break
`, []string{"loss: nodes"}},
		{"few steps do not matter", `def run(model: nn.Module, x):
    total = 0.0
    for i in range(3):
        total += model(x).mean()
    print(float(total))
`, nil},
	})
}

func TestTuplesAreKnownByElement(t *testing.T) {
	run(t, []program{
		{"the element that is detached", inEachStepOf("pair = (loss.detach(), loss)\ntotal += pair[0]"), nil},
		{"the element that is not", inEachStepOf("pair = (loss.detach(), loss)\ntotal += pair[1]"), []string{"pair[1]: nodes"}},
		{"counted from the end", inEachStepOf("pair = (loss, 3)\ntotal += pair[-1]"), nil},
		{"unpacked", inEachStepOf("plain, kept = loss.item(), loss\ntotal += plain"), nil},
		{"unpacked with a star", inEachStepOf("first, *rest = loss.item(), loss, 3\ntotal += first"), nil},
		{"what the star takes", inEachStepOf("first, *rest = 3, loss, loss\ntotal += rest[0]"), []string{"rest[0]: nodes"}},
		{"nested", inEachStepOf("(a, (b, c)) = (3, (loss, 4))\ntotal += a + c"), nil},
		{"nested, kept", inEachStepOf("(a, (b, c)) = (3, (loss, 4))\ntotal += b"), []string{"b: nodes"}},
		{"swapped", inEachStepOf("a, b = loss, 3\na, b = b, a\ntotal += a"), nil},
		{"max with indices", inEachStepOf("values, indices = out.max(1)\ntotal += indices.sum()"), nil},
		{"max with values", inEachStepOf("values, indices = out.max(1)\ntotal += values.sum()"), []string{"values.sum(): activations"}},
		{"an entry of a dict", inEachStepOf("logs = {'n': 3, 'loss': loss}\ntotal += logs['n']"), nil},
		{"another entry of a dict", inEachStepOf("logs = {'n': 3, 'loss': loss}\ntotal += logs['loss']"), []string{"logs['loss']: nodes"}},
		{"an accumulator in a tuple", around("state = (0.0, 0)", "total, count = state\nstate = (total + loss, count + 1)"), []string{"loss: nodes"}},
		{"zip", inEachStepOf("for a, b in zip([loss.item()], [loss]):\n    total += a"), nil},
	})
}

func inEachStepOf(code string) string { return around("total = 0.0", code) }

func TestResultsOfFunctionsAreKnownByElement(t *testing.T) {
	const functions = `def both(model, x, y):
    loss = F.mse_loss(model(x), y)
    return loss, loss.item()


class Output:
    loss: torch.Tensor
    value: float

    def __init__(self, loss):
        self.loss, self.value = loss, loss.item()


`
	for _, tt := range []struct{ kept, want string }{
		{"both(model, x, y)[0]", "both(model, x, y)[0]: activations"},
		{"both(model, x, y)[1]", ""},
		{"Output(model(x).mean()).loss", "Output(model(x).mean()).loss: activations"},
		{"Output(model(x).mean()).value", ""},
	} {
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		assert.Equal(t, want, described(analyze(t, functions+inEachStepOf("total += "+tt.kept))), tt.kept)
	}
}

func TestDataclassesAndNamedTuplesKeepTheirFieldsApart(t *testing.T) {
	const classes = `from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Result:
    loss: torch.Tensor
    value: float


class Pair(NamedTuple):
    loss: torch.Tensor
    value: float


`
	for _, made := range []string{"Result(loss, loss.item())", "Result(loss=loss, value=loss.item())", "Pair(loss, loss.item())"} {
		assert.Equal(t, []string{"made.loss: nodes"}, described(analyze(t, classes+inEachStepOf("made = "+made+"\ntotal += made.loss"))), made)
		assert.Empty(t, analyze(t, classes+inEachStepOf("made = "+made+"\ntotal += made.value")), made)
	}
}

func TestAliasesAreOnePlace(t *testing.T) {
	run(t, []program{
		{"another name of the list", around("seen = []\nsame = seen", "same.append(loss)"), []string{"loss: nodes, collects"}},
		{"cleared through another name", around("seen = []\nsame = seen", "seen.append(loss)\nsame.clear()"), nil},
		{"another name of the object", `class Log:
    def __init__(self):
        self.total = 0.0


` + around("log = Log()\nsame = log", "same.total += loss"), []string{"loss: nodes"}},
		{"another name of the value", inEachStepOf("same = loss\ntotal += same"), []string{"same: nodes"}},
		{"a total that begins as the loss", around("total = None", "if total is None:\n    total = loss\nelse:\n    total += loss"), []string{"loss: nodes"}},
		{"a list in a dict", around("logs = {'loss': []}", "logs['loss'].append(loss)"), []string{"loss: nodes, collects"}},
	})
}

func TestComprehensionsAreLoops(t *testing.T) {
	run(t, []program{
		{"a list of outputs", `def run(model: nn.Module, loader):
    outs = [model(x) for x in loader]
    print(len(outs))
`, []string{"model(x): activations, collects"}},
		{"a list of numbers", `def run(model: nn.Module, loader):
    outs = [model(x).mean().item() for x in loader]
    print(len(outs))
`, nil},
		{"a dict of outputs", `def run(model: nn.Module, loader):
    outs = {i: model(x) for i, x in enumerate(loader)}
    print(len(outs))
`, []string{"model(x): activations, collects"}},
		{"a sum", `def run(model: nn.Module, loader):
    total = sum(model(x).mean() for x in loader)
    print(float(total))
`, []string{"model(x).mean(): activations"}},
		{"a list of layers", `def run(layers: nn.ModuleList, x):
    outs = [layer(x) for layer in layers]
    print(len(outs))
`, nil},
		{"one under no_grad", `def run(model: nn.Module, loader):
    with torch.no_grad():
        outs = [model(x) for x in loader]
    print(len(outs))
`, nil},
		{"a generator made under no_grad runs where it is consumed", `def run(model: nn.Module, loader):
    with torch.no_grad():
        outs = (model(x) for x in loader)
    print(len(list(outs)))
`, []string{"outs: activations, collects"}},
	})
}

func TestInPlaceOperationsWriteTheirReceiver(t *testing.T) {
	grows := after("total = torch.zeros(1)")
	eachOf(t, grows, []string{"total.add_(loss)", "total += loss", "total[0] += loss", "total.add_(loss).mul_(0.9)"}, "loss: nodes")
	eachOf(t, grows, []string{
		"total.add_(loss.detach())", "total.add_(loss)\ntotal.zero_()", "total.add_(loss)\ntotal.detach_()", "total.fill_(3)", "total.copy_(loss)",
		"with torch.no_grad():\n    total.add_(loss)",
	})
}

func TestTestsOfTheFirstValueAreNoReset(t *testing.T) {
	eachOf(t, after("total, first = None, True"), []string{
		"if total is None:\n    total = loss\nelse:\n    total = total + loss",
		"if total is not None:\n    total = total + loss\nelse:\n    total = loss",
		"if not total:\n    total = loss\nelse:\n    total = total + loss",
		"if first:\n    total, first = loss, False\nelse:\n    total = total + loss",
		"if step == 0:\n    total = loss\nelse:\n    total = total + loss",
		"if step > 0:\n    total = total + loss\nelse:\n    total = loss",
	}, "loss: nodes")
	eachOf(t, after("total = 0.0"), []string{
		"total = total + loss\nif step % 10 == 0:\n    total = 0.0",
		"total = total + loss\nif done(step):\n    total = 0.0",
	})
}

func TestPatternsBindWhatTheyMatch(t *testing.T) {
	eachOf(t, after("total = 0.0"), []string{
		"match loss:\n    case value:\n        total += value",
		"match (loss, 3):\n    case (value, _):\n        total += value",
		"match (3, (4, loss)):\n    case (_, (_, value)):\n        total += value",
	}, "value: nodes")
	eachOf(t, after("total = 0.0"), []string{"match (loss, 3):\n    case (_, value):\n        total += value"})
}

func TestSplatsSpread(t *testing.T) {
	run(t, []program{
		{"into a tuple", inEachStepOf("row = (3, *(loss, 4))\ntotal += row[1]"), []string{"row[1]: nodes"}},
		{"into a tuple, beside", inEachStepOf("row = (3, *(loss, 4))\ntotal += row[2]"), nil},
		{"into a list", inEachStepOf("row = [*[loss], 3]\ntotal += row[0]"), []string{"row[0]: nodes"}},
		{"into a dict", inEachStepOf("a = {'x': loss}\nb = {**a, 'y': 3}\ntotal += b['x']"), []string{"b['x']: nodes"}},
		{"into a dict, beside", inEachStepOf("a = {'x': loss}\nb = {**a, 'y': 3}\ntotal += b['y']"), nil},
	})
}
