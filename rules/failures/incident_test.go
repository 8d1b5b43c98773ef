package failures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

const (
	full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 10.75 GiB of which 12.44 MiB is free. " +
		"Including non-PyTorch memory, this process has 10.72 GiB memory in use. Of the allocated memory 10.20 GiB is allocated by PyTorch, " +
		"and 11.10 MiB is reserved by PyTorch but unallocated.\n"
	lost = `Traceback (most recent call last):
  File "/app/train.py", line 9, in fit
    dist.all_reduce(t)
RuntimeError: [../gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:54928
`
	oomTrace = `Traceback (most recent call last):
  File "/app/train.py", line 9, in fit
    loss.backward()
` + full
)

// diagnose reads files given as name, text, name, text…
func diagnose(t *testing.T, files ...string) *crash.Diagnosis {
	t.Helper()
	var inputs []crash.Input
	for i := 0; i < len(files); i += 2 {
		inputs = append(inputs, crash.Input{Name: files[i], Reader: strings.NewReader(files[i+1])})
	}
	d, err := NewDiagnoser(Options{}).Diagnose(t.Context(), inputs)
	require.NoError(t, err)
	return d
}

func rankOf(d *crash.Diagnosis) any {
	if d.Initiating == nil || d.Initiating.Rank == nil {
		return nil
	}
	return *d.Initiating.Rank
}

func TestRanksComeFromTheNamesOfFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		rank  any
	}{
		"rank in the name":         {[]string{"logs/rank3.log", lost, "logs/rank12.log", oomTrace}, 12},
		"torchrun's directories":   {[]string{"run_ab1/attempt_0/0/stderr.log", lost, "run_ab1/attempt_0/1/stderr.log", oomTrace}, 1},
		"in their order otherwise": {[]string{"a.log", lost, "b.log", oomTrace, "c.log", lost}, 1},
		"prefixes count more":      {[]string{"rank0.log", "[rank5]: " + strings.ReplaceAll(strings.TrimSpace(oomTrace), "\n", "\n[rank5]: ")}, 5},
		"one file for all ranks":   {[]string{"run_rank0_copy.log", oomTrace}, nil},
		"one file for one rank":    {[]string{"out/rank2.log", oomTrace}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnose(t, c.files...)
			assert.Equal(t, "memory.cuda-oom.undetermined", d.Failure)
			assert.Equal(t, c.rank, rankOf(d))
		})
	}
}

func TestLinesAreThoseOfTheirFile(t *testing.T) {
	d := diagnose(t, "rank0.log", lost, "rank1.log", "step 1 loss 2\n"+oomTrace)
	assert.Equal(t, "rank1.log", d.Initiating.Input)
	assert.Equal(t, 5, d.Initiating.Line)
	require.Len(t, d.Collateral, 1)
	assert.Equal(t, "rank0.log", d.Collateral[0].Input)
	assert.Equal(t, 4, d.Collateral[0].Line)
}

func stamped(at, text string) string {
	return at + " " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+at+" ") + "\n"
}

func TestFirstRankOfSeveral(t *testing.T) {
	early, late := "2026-01-12 16:13:02,100", "2026-01-12 16:13:09,200"
	d := diagnose(t, "rank0.log", stamped(late, oomTrace), "rank1.log", stamped(early, oomTrace))
	assert.Equal(t, 1, rankOf(d), "by time")
	require.Len(t, d.Collateral, 1)
	assert.Contains(t, d.Collateral[0].Event, "the same failure")

	d = diagnose(t, "rank0.log", oomTrace, "rank1.log", oomTrace)
	assert.Nil(t, rankOf(d), "nothing tells")
	assert.Contains(t, d.Cause, "ranks 0, 1")

	prefixed := func(rank int, text string) string {
		p := fmt.Sprintf("[rank%d]: ", rank)
		return p + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+p) + "\n"
	}
	d = diagnose(t, "log", prefixed(2, oomTrace)+prefixed(0, oomTrace))
	assert.Equal(t, 2, rankOf(d), "by the order of lines")
}

func TestRankWithoutStepsBorrowsThem(t *testing.T) {
	d := diagnose(t, "rank0.log", "step 100 loss 1\nstep 200 loss 1\nstep 300 loss 1\n", "rank1.log", oomTrace)
	assert.Equal(t, 1, rankOf(d))
	assert.Equal(t, "step 300", d.Initiating.When)
}

func TestLauncherIsOnlyAVote(t *testing.T) {
	entry := func(rank int, exit string) string {
		return fmt.Sprintf("[%d]:\n  time      : 2026-03-02_11:20:41\n  host      : n\n  rank      : %d (local_rank: %d)\n  exitcode  : %s\n  error_file: <N/A>\n  traceback : To enable traceback see: x\n", rank, rank, rank, exit)
	}
	report := func(others, root string) string {
		return "Failures:\n" + others + "------------------------------------------------------------\nRoot Cause (first observed failure):\n" + root + "============================================================\n"
	}
	prefixed := strings.ReplaceAll(strings.TrimSpace(oomTrace), "\n", "\n[rank3]: ")

	d := diagnose(t, "log", lost+"\n[rank3]: "+prefixed+"\n"+report(entry(3, "1 (pid: 14)"), entry(0, "1 (pid: 11)")))
	assert.Equal(t, 3, rankOf(d))
	assert.Contains(t, d.Evidence[len(d.Evidence)-1].Why, "overruled")

	d = diagnose(t, "log", lost+"\n"+report(entry(2, "-9 (pid: 13)"), entry(0, "1 (pid: 11)")))
	assert.Equal(t, "memory.host-oom.killed-unconfirmed", d.Failure)
	assert.Equal(t, 2, rankOf(d))

	d = diagnose(t, "log", "Unable to shutdown process 13 via 15, forcefully exiting via 9\n"+lost+"\n"+report(entry(2, "-9 (pid: 13)"), entry(0, "1 (pid: 11)")))
	assert.Equal(t, "distributed.peer-lost", d.Failure, "the launcher killed it")

	d = diagnose(t, "log", lost+"\n"+report(entry(2, "3 (pid: 13)"), entry(0, "1 (pid: 11)")))
	assert.Equal(t, 2, rankOf(d), "the one with an exit code of its own")

	joined := strings.ReplaceAll(report(entry(2, "-9 (pid: 13)"), entry(0, "1 (pid: 11)")), "\n  ", " ")
	d = diagnose(t, "log", lost+"\n"+joined)
	assert.Equal(t, 2, rankOf(d), "newlines between the fields lost")
}

func TestCauseOfAllIsNotWhatFollows(t *testing.T) {
	watchdog := "[rank1]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n"
	prefixed := "[rank0]: " + strings.ReplaceAll(strings.TrimSpace(oomTrace), "\n", "\n[rank0]: ") + "\n"
	d := diagnose(t, "log", watchdog+prefixed)
	assert.Equal(t, "memory.cuda-oom.undetermined", d.Failure, "even where it is printed later")
	require.Len(t, d.Collateral, 1)
	assert.Equal(t, 1, *d.Collateral[0].Rank)

	d = diagnose(t, "log", watchdog)
	assert.Equal(t, "distributed.nccl-timeout", d.Failure)
	assert.Equal(t, crash.Low, d.Confidence)
}

// example is the example project, and its training script.
func example(t *testing.T) (d *Diagnoser, script string) {
	t.Helper()
	const root = "../../testdata/example"
	text, err := os.ReadFile(filepath.Join(root, "train.py"))
	require.NoError(t, err)
	return NewDiagnoser(Options{Roots: []string{root}, Checker: rules.NewChecker(leaks.All()...)}), string(text)
}

// call is a frame of the example's script at the line that has code.
func call(t *testing.T, script, function, code string) string {
	t.Helper()
	before, _, ok := strings.Cut(script, code)
	require.True(t, ok, code)
	return fmt.Sprintf("  File \"/cluster/run/train.py\", line %d, in %s\n    %s\n", strings.Count(before, "\n")+1, function, code)
}

func TestFindingInAFileOfTheTracebackIsASuspect(t *testing.T) {
	d, script := example(t)
	log := "step 900 loss 0.1\nTraceback (most recent call last):\n" + call(t, script, "evaluate", "logits = model(images)") + full
	got, err := d.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: strings.NewReader(log)}})
	require.NoError(t, err)
	assert.Equal(t, "memory.cuda-oom.graph-retained", got.Failure)
	assert.Equal(t, crash.Medium, got.Confidence)
	require.NotEmpty(t, got.Suspects)
	s := got.Suspects[0]
	before, _, _ := strings.Cut(script, "criterion(logits")
	line, column := strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n')
	assert.Equal(t, "train.py", s.Path)
	assert.Equal(t, "GL101", s.Code)
	assert.Equal(t, crash.Position{Line: line, Column: column}, s.Range.Start)
	assert.Equal(t, "evaluate", s.Function)
	assert.Contains(t, got.Fix[0].Title, fmt.Sprintf("train.py:%d", line))
	assert.NotEmpty(t, got.Missing, "what would confirm it")
	assert.Contains(t, got.Text(80, false), fmt.Sprintf("train.py:%d:%d GL101", line, column))
}

// A sum of losses that were backpropagated keeps kilobytes of host memory: the
// finding is shown, but it is no explanation.
func TestNodesLeftBehindDoNotExplainAFullDevice(t *testing.T) {
	root := t.TempDir()
	_, script := example(t)
	training, _, ok := strings.Cut(script, "\n\ndef evaluate")
	require.True(t, ok)
	require.NoError(t, os.WriteFile(filepath.Join(root, "train.py"), []byte(training+"\n"), 0o644))
	d := NewDiagnoser(Options{Roots: []string{root}, Checker: rules.NewChecker(leaks.All()...)})
	log := "step 900 loss 0.1\nTraceback (most recent call last):\n" + call(t, script, "train_epoch", "loss.backward()") + full
	got, err := d.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: strings.NewReader(log)}})
	require.NoError(t, err)
	require.NotEmpty(t, got.Suspects)
	assert.Equal(t, crash.HostMemory, got.Suspects[0].Grows)
	assert.Equal(t, "memory.cuda-oom.undetermined", got.Failure)
}

func TestImportsOfSuspectsDoNotLeadOutOfTheWorkspace(t *testing.T) {
	project := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(project, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(project, name), []byte(text), 0o644))
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write("meter.py", "values = []\n\n\ndef keep(value):\n    values.append(value)\n")
	const script = `import torch.nn.functional as F
from torch import nn
from meter import keep


def train(model: nn.Module, loader):
    for x, y in loader:
        keep(F.cross_entropy(model(x), y))
`
	write("training/train.py", script)
	suspects := func(folder string) []crash.Suspect {
		t.Helper()
		d := NewDiagnoser(Options{Roots: []string{filepath.Join(project, folder)}, Checker: rules.NewChecker(leaks.All()...)})
		log := "Traceback (most recent call last):\n" + call(t, script, "train", "keep(F.cross_entropy(model(x), y))") + full
		got, err := d.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: strings.NewReader(log)}})
		require.NoError(t, err)
		return got.Suspects
	}
	assert.NotEmpty(t, suspects("."))
	assert.Empty(t, suspects("training"))
}

func TestErrorsOfReadersAndTheEndOfTheContextAreReported(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := NewDiagnoser(Options{}).Diagnose(t.Context(), []crash.Input{{Name: "x.log", Reader: iotest.ErrReader(broken)}})
	assert.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "x.log")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = NewDiagnoser(Options{}).Diagnose(ctx, []crash.Input{{Name: "x.log", Reader: strings.NewReader(oomTrace)}})
	assert.ErrorIs(t, err, context.Canceled)
}
