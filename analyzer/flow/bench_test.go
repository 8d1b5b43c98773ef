package flow_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

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

// benchWorkspace is 500 files in 20 packages that use each other: layers, models
// built of them, losses, meters, and scripts that train.
func benchWorkspace() map[string]string {
	files := map[string]string{}
	for p := range 20 {
		dir := fmt.Sprintf("/w/p%d/", p)
		files[dir+"__init__.py"] = "from .meters import *\nfrom .losses import *\n"
		files[dir+"meters.py"] = "class Meter:\n    def __init__(self):\n        self.total, self.count = 0.0, 0\n\n    def update(self, value, n=1):\n        self.total += value * n\n        self.count += n\n"
		files[dir+"losses.py"] = imports + "def smoothed(out, y, by=0.1):\n    if by:\n        y = y * (1 - by)\n    return F.mse_loss(out, y), {'count': y.numel()}\n"
		for k := range 11 {
			var b strings.Builder
			b.WriteString(imports + "\n\nclass Layer(nn.Module):\n    def __init__(self, dim, act=nn.ReLU):\n        super().__init__()\n        self.act = act()\n")
			for i := range 20 {
				fmt.Fprintf(&b, "        self.conv%d = nn.Conv2d(dim, dim, 3)\n", i)
			}
			b.WriteString("\n    def forward(self, x):\n")
			for i := range 20 {
				fmt.Fprintf(&b, "        x = self.act(self.conv%d(x)) + x\n", i)
			}
			b.WriteString("        return x\n")
			files[fmt.Sprintf("%slayer%d.py", dir, k)] = b.String()
		}
		for k := range 11 {
			other := (p + k) % 20
			src := strings.Replace(script(), "class Meter:", "class OwnMeter:", 1)
			files[fmt.Sprintf("%strain%d.py", dir, k)] = fmt.Sprintf("from p%d import Meter, smoothed\nfrom p%d.layer%d import Layer\n", other, other, k) +
				strings.ReplaceAll(strings.Replace(src, "model = Net()", "model = Layer(64)", 1), "loss = F.cross_entropy(out, y)", "loss, extra = smoothed(out, y)")
		}
	}
	return files
}

// benchOpen is the workspace as files that are open in an editor.
func benchOpen(b *testing.B, files map[string]string) (*names.Disk, *flow.Workspace) {
	disk := names.NewDisk(func(path string) ([]byte, bool) {
		src, ok := files[path]
		return []byte(src), ok
	}, "/w")
	return disk, flow.NewWorkspace(names.NewResolver(disk))
}

// BenchmarkWorkspace analyses all files of a workspace of which nothing is known
// yet, on all processors.
func BenchmarkWorkspace(b *testing.B) {
	files := benchWorkspace()
	lines := 0
	for _, src := range files {
		lines += strings.Count(src, "\n")
	}
	b.ReportAllocs()
	for b.Loop() {
		_, workspace := benchOpen(b, files)
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for path, src := range files {
			group.Go(func() error {
				module, err := workspace.Module(b.Context(), path, []byte(src))
				if err != nil {
					return err
				}
				_, err = workspace.Analyze(b.Context(), module)
				return err
			})
		}
		require.NoError(b, group.Wait())
	}
	b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(float64(len(files)), "files")
	b.ReportMetric(float64(lines), "lines")
}

// BenchmarkEdit analyses a file of about 1,000 lines again after a change of one
// line, in a workspace whose other files were seen before.
func BenchmarkEdit(b *testing.B) {
	files := benchWorkspace()
	const path = "/w/p3/train5.py"
	files[path] += strings.ReplaceAll(strings.ReplaceAll(script()[len(imports):], "class Meter", "class Second"), "def epoch", "def again")
	_, workspace := benchOpen(b, files)
	edit := func(i int) {
		files[path] = strings.Replace(files[path], fmt.Sprintf("step %% %d == 0", 10+i), fmt.Sprintf("step %% %d == 0", 11+i), 1)
		module, err := workspace.Module(b.Context(), path, []byte(files[path]))
		require.NoError(b, err)
		_, err = workspace.Reanalyze(b.Context(), module)
		require.NoError(b, err)
	}
	edit(0)
	i := 0
	for b.Loop() {
		i++
		edit(i)
	}
	b.ReportMetric(float64(strings.Count(files[path], "\n")), "lines")
}
