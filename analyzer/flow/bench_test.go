package flow_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// script is a training script of about 500 lines: a model, a meter, and
// functions that train and evaluate.
func script() string {
	var b strings.Builder
	b.WriteString(imports + `class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
`)
	for i := range 40 {
		fmt.Fprintf(&b, "        self.conv%d = nn.Conv2d(64, 64, 3)\n", i)
	}
	b.WriteString("\n    def forward(self, x):\n")
	for i := range 40 {
		fmt.Fprintf(&b, "        x = F.relu(self.conv%d(x)) + x\n", i)
	}
	b.WriteString("        return x.mean(dim=(2, 3))\n\n\n")
	for i := range 12 {
		fmt.Fprintf(&b, `def epoch%d(model, loader, optimizer, log):
    meter, seen, best = Meter(), [], None
    model.train()
    for step, (x, y) in enumerate(loader):
        x, y = x.cuda(), y.cuda()
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss, x.size(0))
        seen.append(loss.item())
        if best is None or loss.item() < best:
            best = loss.item()
        if step %% 10 == 0:
            log.info(f"{step}: {loss.item():.3f}")
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x.cuda())
            for k in range(5):
                correct += (out.topk(k)[1] == y).sum()
                if correct > 100:
                    continue
                elif correct > 50:
                    seen.append(float(correct))
                else:
                    try:
                        log.write(correct)
                    except OSError:
                        break
    return meter.total / meter.count, correct


`, i)
	}
	b.WriteString("def main(loader, log):\n    model = Net()\n    optimizer = torch.optim.SGD(model.parameters())\n")
	for i := range 12 {
		fmt.Fprintf(&b, "    print(epoch%d(model, loader, optimizer, log))\n", i)
	}
	return b.String()
}

func BenchmarkAnalyze(b *testing.B) {
	for _, bm := range []struct {
		name string
		src  []byte
	}{
		{"script", []byte(script())},
		{"fixture", fixtures(b)["../../rules/leaks/accumulate-with-graph/testdata/training_loops.py"]},
	} {
		b.Run(bm.name, func(b *testing.B) {
			tree, err := syntax.Parse(bm.src)
			require.NoError(b, err)
			module := names.NewModule("", tree)
			lines := bytes.Count(bm.src, []byte("\n"))
			b.ReportAllocs()
			for b.Loop() {
				facts, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(b.Context(), module)
				require.NoError(b, err)
				require.NotEmpty(b, facts.Growths)
			}
			b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
