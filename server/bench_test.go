package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// trainingScript is a program as people write it, of about so many lines: a
// data set, a model and its training for every experiment, one of which leaks.
func trainingScript(lines int) string {
	var b strings.Builder
	b.WriteString(`"""Train classifiers."""
import argparse
import logging
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger(__name__)
`)
	for i := 0; strings.Count(b.String(), "\n") < lines-95; i++ {
		fmt.Fprintf(&b, `

class Samples%[1]d(Dataset):
    def __init__(self, root, transform=None):
        self.paths = sorted(root.glob("*.pt"))
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        sample, target = torch.load(self.paths[index])
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, target


class Network%[1]d(nn.Module):
    """A small convolutional network."""

    def __init__(self, channels=3, width=64, classes=10, dropout=0.1):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(channels, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        )
        self.blocks = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(4)])
        self.head = nn.Linear(width, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + F.relu(block(x))
        x = x.mean(dim=(2, 3))
        return self.head(self.dropout(x))


def accuracy%[1]d(logits, targets):
    return (logits.argmax(dim=1) == targets).float().mean().item()


def evaluate%[1]d(model, loader, device):
    model.eval()
    total, correct = 0, 0.0
    with torch.no_grad():
        for samples, targets in loader:
            samples, targets = samples.to(device), targets.to(device)
            correct += accuracy%[1]d(model(samples), targets) * len(targets)
            total += len(targets)
    return correct / max(total, 1)


def train%[1]d(args, device):
    model = Network%[1]d(width=args.width).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 0.5 * (1 + math.cos(math.pi * s / args.steps)))
    loader = DataLoader(Samples%[1]d(args.root), batch_size=args.batch_size, shuffle=True, num_workers=4)
    best = 0.0
    for epoch in range(args.epochs):
        model.train()
        running, seen = 0.0, 0
        for step, (samples, targets) in enumerate(loader):
            samples, targets = samples.to(device), targets.to(device)
            loss = F.cross_entropy(model(samples), targets)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            running += loss.item()
            seen += 1
            if step %% 100 == 0:
                log.info("epoch %%d step %%d loss %%.4f", epoch, step, running / seen)
        score = evaluate%[1]d(model, loader, device)
        if score > best:
            best = score
            torch.save(model.state_dict(), args.out / "best%[1]d.pt")
    return best
`, i)
	}
	b.WriteString(`

def validate(model: nn.Module, loader, device):
    total_loss = 0
    for samples, targets in loader:
        loss = F.cross_entropy(model(samples.to(device)), targets.to(device))
        total_loss += loss
    return total_loss.item() / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=64)
    args = parser.parse_args()
    train0(args, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


if __name__ == "__main__":
    main()
`)
	for strings.Count(b.String(), "\n") < lines {
		b.WriteString("# End.\n")
	}
	return b.String()
}

// parseTime is what parsing src takes, the lower bound of any analysis.
func parseTime(b *testing.B, src string) time.Duration {
	var times []time.Duration
	for range 5 {
		began := time.Now()
		_, err := syntax.Parse([]byte(src))
		require.NoError(b, err)
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// reportTimes reports the distribution of times in which a program was checked,
// also as a multiple of the time to parse it.
func reportTimes(b *testing.B, times []time.Duration, parse time.Duration) {
	slices.Sort(times)
	median, p99 := times[len(times)/2], times[len(times)*99/100]
	b.ReportMetric(median.Seconds()*1e3, "median-ms")
	b.ReportMetric(p99.Seconds()*1e3, "p99-ms")
	b.ReportMetric(float64(median)/float64(parse), "×parse")
}

const benchCapabilities = `{"general":{"positionEncodings":["utf-16"]},"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`

// BenchmarkKeystroke measures the time from an edit to its diagnostics, seen
// from the editor: through pipes, decoding, the check and encoding.
func BenchmarkKeystroke(b *testing.B) {
	program := build(b)
	for _, lines := range []int{200, 1000, 10_000} {
		for name, typed := range map[string]string{"comment": strings.Repeat("#", 20), "code": "; print(loss.item())"} {
			b.Run(fmt.Sprintf("lines=%d/%s", lines, name), func(b *testing.B) { keystrokes(b, program, lines, typed) })
		}
	}
}

// keystrokes has the user type something behind a statement of the function that
// leaks, letter by letter, and delete it again.
func keystrokes(b *testing.B, program string, lines int, typed string) {
	e, server := process(b, program)
	e.initialize(benchCapabilities)
	src := trainingScript(lines)
	e.open(script, 0, src)
	e.diagnosticsOf(script, 0)

	const behind = "        total_loss += loss"
	before, _, _ := strings.Cut(src, behind)
	line := uint32(strings.Count(before, "\n"))
	var times []time.Duration
	version := int32(0)
	for b.Loop() {
		step := int(version) % (2 * len(typed))
		version++
		at := uint32(len(behind) + step)
		key := ""
		var r protocol.Range
		if step < len(typed) {
			key, r = typed[step:step+1], span(line, at, line, at)
		} else {
			at = uint32(len(behind) + 2*len(typed) - step)
			r = span(line, at-1, line, at)
		}
		began := time.Now()
		e.change(script, version, r, key)
		e.diagnosticsOf(script, version)
		times = append(times, time.Since(began))
	}
	require.NoError(b, e.server.Shutdown(b.Context()))
	require.NoError(b, e.server.Exit(b.Context()))
	require.NoError(b, server.Wait())
	reportTimes(b, times, parseTime(b, src))
	// On a machine that is busy with other things the times say little, this
	// says more.
	cpu := server.ProcessState.UserTime() + server.ProcessState.SystemTime()
	b.ReportMetric(cpu.Seconds()*1e3/float64(len(times)), "cpu-ms/op")
}

// BenchmarkOpen measures the time until the first diagnostics of a document in a
// session that has not seen any.
func BenchmarkOpen(b *testing.B) {
	for _, lines := range []int{200, 1000, 10_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			src := trainingScript(lines)
			var times []time.Duration
			for b.Loop() {
				b.StopTimer()
				e := launchOverPipes(b)
				e.initialize(benchCapabilities)
				b.StartTimer()
				began := time.Now()
				e.open(script, 0, src)
				e.diagnosticsOf(script, 0)
				times = append(times, time.Since(began))
			}
			reportTimes(b, times, parseTime(b, src))
		})
	}
}

// process starts the program as an editor does and connects an editor to it.
func process(b *testing.B, program string) (*editor, *exec.Cmd) {
	server := exec.CommandContext(b.Context(), program, "serve")
	in, err := server.StdinPipe()
	require.NoError(b, err)
	out, err := server.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, server.Start())
	return attachEditor(b, out, in), server
}

// build builds the program.
func build(b *testing.B) string {
	program := filepath.Join(b.TempDir(), "graphleak")
	out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "..").CombinedOutput()
	require.NoError(b, err, "%s", out)
	return program
}

// BenchmarkStart measures the time from the start of the process to the answer
// to initialize.
func BenchmarkStart(b *testing.B) {
	program := build(b)
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		e, server := process(b, program)
		e.initialize(benchCapabilities)
		times = append(times, time.Since(began))
		b.StopTimer()
		require.NoError(b, e.server.Shutdown(b.Context()))
		require.NoError(b, e.server.Exit(b.Context()))
		require.NoError(b, server.Wait())
		b.StartTimer()
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1e3, "median-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1e3, "p99-ms")
}

// BenchmarkWorkspace measures a workspace of 2,000 files that use PyTorch and
// import one another: the time until the first and until all diagnostics, and
// the memory of the process then.
func BenchmarkWorkspace(b *testing.B) {
	const files, lines = 2000, 200
	program := build(b)
	folder := b.TempDir()
	write := func(name, src string) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(b, os.WriteFile(path, []byte(src), 0o600))
	}
	write("pyproject.toml", "")
	write("meter.py", leakyMeter)
	src := trainingScript(lines)
	parse := parseTime(b, src)
	for i := range files - 1 {
		imports := fmt.Sprintf("from meter import Meter\nfrom pkg%02d.train%04d import evaluate0 as before\n\n", max(0, i-1)/100, max(0, i-1))
		write(fmt.Sprintf("pkg%02d/train%04d.py", i/100, i), imports+src)
	}
	for b.Loop() {
		e, server := process(b, program)
		began := time.Now()
		e.initializeIn(`{}`, scanning, folder)
		var first time.Duration
		for told := 0; told < files-1; told++ {
			select {
			case <-e.published:
			case <-time.After(10 * time.Minute):
				b.Fatalf("%d of %d files have diagnostics", told, files-1)
			}
			if told == 0 {
				first = time.Since(began)
			}
		}
		all := time.Since(began)
		b.ReportMetric(first.Seconds()*1e3, "first-ms")
		b.ReportMetric(all.Seconds(), "all-s")
		b.ReportMetric(all.Seconds()/(files*parse.Seconds()), "×parse")
		b.ReportMetric(float64(memoryOf(b, server.Process.Pid, "VmHWM"))/1e6, "peak-MB")
		b.ReportMetric(float64(memoryOf(b, server.Process.Pid, "VmRSS"))/1e6, "MB")
		require.NoError(b, e.server.Shutdown(b.Context()))
		require.NoError(b, e.server.Exit(b.Context()))
		require.NoError(b, server.Wait())
		b.ReportMetric((server.ProcessState.UserTime() + server.ProcessState.SystemTime()).Seconds(), "cpu-s")
	}
}

// memoryOf is the memory of a process as Linux tells it, in bytes.
func memoryOf(b *testing.B, pid int, field string) uint64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			require.NoError(b, err)
			return n * 1024
		}
	}
	b.Fatalf("there is no %s", field)
	return 0
}

// launchOverPipes connects an editor to a server over pipes of the operating
// system, as between processes.
func launchOverPipes(b *testing.B) *editor {
	toServer, fromEditor, err := os.Pipe()
	require.NoError(b, err)
	toEditor, fromServer, err := os.Pipe()
	require.NoError(b, err)
	return connectEditor(b, rules.NewChecker(leaks.All()...), toServer, fromServer, toEditor, fromEditor)
}

// BenchmarkRoundTrip measures what a request costs that has nothing to do.
func BenchmarkRoundTrip(b *testing.B) {
	e := launchOverPipes(b)
	e.initialize(`{}`)
	ctx := context.Background()
	params := &protocol.HoverParams{}
	params.TextDocument.URI = "file:///not/open.py"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.server.Hover(ctx, params); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStream measures reading frames with the check for ones cut short.
func BenchmarkStream(b *testing.B) {
	body := `{"jsonrpc":"2.0","method":"x","params":{"text":"` + strings.Repeat("for x in loader: total += loss\\n", 8000) + `"}}`
	in := frame(body)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		s := newStream(strings.NewReader(in), io.Discard, nil, func(error) {})
		msg, _, err := s.Read(context.Background())
		if err != nil || msg.(jsonrpc2.RequestMessage).Method() != "x" {
			b.Fatal(err)
		}
	}
}

func TestTrainingScriptHasTheLinesAskedFor(t *testing.T) {
	for _, lines := range []int{200, 1000, 10_000} {
		require.InDelta(t, lines, strings.Count(trainingScript(lines), "\n"), 20)
	}
}
