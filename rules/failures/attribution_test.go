package failures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/crash"
)

// The parts that the logs of this file are made of.

// rank gives each line of a text the prefix of a rank.
func rank(r int, text string) string { return each(fmt.Sprintf("[rank%d]: ", r), text) }

// each puts a prefix before each line of a text.
func each(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix) + "\n"
}

func raised(exception string) string {
	return "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in fit\n    out = model(batch)\n" + exception + "\n"
}

func trained(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n += 10 {
		fmt.Fprintf(&b, "step %d loss 1.5\n", n)
	}
	return b.String()
}

// watchdog is what a rank prints when a collective operation timed out.
func watchdog(r, seq int, op string, numel int) string {
	return fmt.Sprintf("[rank%d]:[E302 02:07:08.408271257 ProcessGroupNCCL.cpp:632] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=%d, NumelOut=%d, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n", r, r, seq, op, numel, numel)
}

// enqueued is how far a rank says that it was in a process group.
func enqueued(r, group, last int) string {
	return fmt.Sprintf("[rank%d]:[E302 02:07:08.408271257 ProcessGroupNCCL.cpp:2268] [PG ID %d PG GUID %d Rank %d]  failure detected by watchdog at work sequence id: %d PG status: last enqueued work: %d, last completed work: %d\n", r, group, group, r, last, last, last-1)
}

// agentSaw is what torchrun's agent prints of a process that it saw end.
func agentSaw(exit, local, pid int) string {
	return fmt.Sprintf("E0302 11:20:41.517000 90 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: %d) local_rank: %d (pid: %d) of binary: /usr/bin/python3\n", exit, local, pid)
}

func stopped(pid int) string {
	return fmt.Sprintf("W0302 11:20:41.366000 90 torch/distributed/elastic/multiprocessing/api.py:900] Sending process %d closing signal SIGTERM\n", pid)
}

// entry is a process in torchrun's closing report: the rank, its exit code and
// its process id.
type entry struct{ rank, exit, pid int }

func closing(root entry, others ...entry) string {
	write := func(e entry) string {
		return fmt.Sprintf("[%d]:\n  time      : 2026-03-02_11:20:41\n  host      : n\n  rank      : %d (local_rank: %d)\n  exitcode  : %d (pid: %d)\n  error_file: <N/A>\n  traceback : To enable traceback see: x\n", e.rank, e.rank, e.rank, e.exit, e.pid)
	}
	var b strings.Builder
	b.WriteString("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + strings.Repeat("=", 60) + "\ntrain.py FAILED\n" + strings.Repeat("-", 60) + "\nFailures:\n")
	for _, e := range others {
		b.WriteString(write(e))
	}
	if len(others) == 0 {
		b.WriteString("  <NO_OTHER_FAILURES>\n")
	}
	b.WriteString(strings.Repeat("-", 60) + "\nRoot Cause (first observed failure):\n" + write(root) + strings.Repeat("=", 60) + "\n")
	return b.String()
}

func killedByKernel(pid int) string {
	return fmt.Sprintf("[Mon Mar  2 11:20:40 2026] Memory cgroup out of memory: Killed process %d (python3) total-vm:88064212kB, anon-rss:66011432kB, file-rss:72044kB, shmem-rss:0kB, UID:1000 pgtables:131072kB oom_score_adj:0\n", pid)
}

func xid(number int) string {
	return fmt.Sprintf("[912311.120311] NVRM: Xid (PCI:0000:86:00): %d, pid=4103, name=python3, text of the driver\n", number)
}

const (
	badKey  = "KeyError: 'speed'"
	outOfIt = "IndexError: Target 5 is out of bounds."
)

// Which event started an incident, and on which rank: one case for each rule.
func TestAttribution(t *testing.T) {
	for name, c := range map[string]struct {
		log     string
		failure string
		rank    any // nil: the text does not tell
		conf    crash.Confidence
	}{
		// Episodes.
		"a fault that the run survived is not the cause": {
			trained(0, 50) + raised(full) + trained(50, 200) + raised(badKey), "python.exception", nil, crash.High},
		"a fault that all ranks survived with a restart is not the cause": {
			rank(0, trained(0, 50)) + rank(1, raised(badKey)) + closing(entry{1, 1, 11}) + rank(0, trained(0, 200)) + rank(0, raised(outOfIt)), "data.index", 0, crash.High},
		"nothing fails after the last fault that was survived": {
			trained(0, 50) + raised(full) + trained(50, 200), "unknown", nil, crash.Low},
		"steps after the error are older where the launcher says that it ended": {
			raised(badKey) + trained(0, 50) + agentSaw(1, 0, 11) + closing(entry{0, 1, 11}), "python.exception", nil, crash.Medium},
		"a process cannot go on after a check failed on the GPU": {
			"/src/Loss.cu:250: nll_loss: block: [0,0,0], thread: [5,0,0] Assertion `t >= 0 && t < n_classes` failed.\n" + trained(0, 100) + raised("RuntimeError: CUDA error: device-side assert triggered"), "cuda.device-assert", nil, crash.Medium},
		"but another one can take its place": {
			raised("RuntimeError: CUDA error: device-side assert triggered") + trained(0, 3000) + raised(badKey), "python.exception", nil, crash.High},
		"a loss that is nan until the end is the failure": {
			trained(0, 50) + "step 50 loss nan\nstep 60 loss nan\nstep 70 loss nan\n", "autograd.nan", nil, crash.Medium},
		"a loss that was nan once is not": {
			trained(0, 50) + "step 50 loss nan\n" + trained(60, 200) + raised(badKey), "python.exception", nil, crash.High},

		// Strength.
		"an exception of a rank explains the timeouts of the others": {
			watchdog(0, 9, "ALLREDUCE", 4) + watchdog(2, 9, "ALLREDUCE", 4) + rank(1, raised(full)), "memory.cuda-oom.undetermined", 1, crash.Low},
		"and the connections that they lost": {
			rank(0, lost) + rank(2, lost) + rank(1, raised(badKey)), "python.exception", 1, crash.High},
		"a fatal signal explains lost connections": {
			rank(0, lost) + agentSaw(-11, 2, 12), "signal.segfault", 2, crash.Medium},
		"an exception explains more than a signal": {
			rank(1, raised(badKey)) + agentSaw(-11, 0, 10), "python.exception", 1, crash.High},
		"an error of the hardware explains everything else": {
			rank(1, raised("RuntimeError: CUDA error: an illegal memory access was encountered")) + xid(79), "hardware.xid", 1, crash.High},
		"an Xid that programs cause does not": {
			rank(1, raised("RuntimeError: CUDA error: an illegal memory access was encountered")) + xid(43), "cuda.illegal-access", 1, crash.Medium},
		"the end of the time of the job explains what comes after": {
			trained(0, 50) + "slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT 2026-03-02T11:20:41 DUE TO TIME LIMIT ***\n" + rank(1, raised("KeyboardInterrupt")) + rank(0, lost), "signal.terminated", nil, crash.Medium},
		"a warning explains nothing": {
			"x.py:1: UserWarning: Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient\n" + watchdog(1, 9, "ALLREDUCE", 4), "distributed.nccl-timeout", nil, crash.Low},
		"an abort after a timeout is the watchdog's": {
			watchdog(1, 9, "ALLREDUCE", 4) + watchdog(0, 9, "ALLREDUCE", 4) + agentSaw(-6, 1, 11), "distributed.nccl-timeout", nil, crash.Low},
		"an abort alone is a failure": {
			trained(0, 50) + agentSaw(-6, 1, 11), "signal.abort", 1, crash.Medium},
		"a process that the launcher had to kill was not killed for memory": {
			rank(0, raised(badKey)) + "Unable to shutdown process 11 via 15, forcefully exiting via 9\n" + agentSaw(-9, 1, 11), "python.exception", 0, crash.High},
		"only the launcher speaks": {
			agentSaw(1, 1, 11) + stopped(10) + closing(entry{1, 1, 11}), "unknown", nil, crash.Low},

		// Confirmations.
		"the kernel names the process": {
			rank(0, lost) + agentSaw(-9, 1, 4711) + agentSaw(-9, 2, 4712) + killedByKernel(4712), "memory.host-oom.kernel", 2, crash.High},
		"the kernel counts processes differently, and there is one death only": {
			rank(0, lost) + agentSaw(-9, 1, 47) + killedByKernel(903112), "memory.host-oom.kernel", 1, crash.High},
		"the kernel counts processes differently, and there are two deaths": {
			rank(0, lost) + agentSaw(-9, 1, 47) + agentSaw(-9, 2, 48) + killedByKernel(903112), "memory.host-oom.kernel", nil, crash.Medium},
		"the scheduler names the task": {
			trained(0, 50) + rank(0, lost) + "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed.\nsrun: error: n3: task 5: Out Of Memory\n", "memory.host-oom.slurm", 5, crash.High},
		"what the kernel wrote before the run went on is of another time": {
			killedByKernel(4711) + trained(0, 200) + raised(badKey), "python.exception", nil, crash.High},

		// The launcher's vote.
		"the launcher names the victim": {
			rank(0, lost) + rank(3, raised(badKey)) + closing(entry{0, 1, 10}, entry{3, 1, 13}), "python.exception", 3, crash.High},
		"the launcher names the victim, and the culprit was killed": {
			rank(0, lost) + closing(entry{0, 1, 10}, entry{3, -9, 13}), "memory.host-oom.killed-unconfirmed", 3, crash.Medium},
		"the launcher is right": {
			rank(3, raised(badKey)) + closing(entry{3, 1, 13}), "python.exception", 3, crash.High},

		// The process that the others wait for or lost.
		"it ended with a code of its own": {
			rank(0, lost) + rank(2, lost) + closing(entry{0, 1, 10}, entry{1, 5, 11}, entry{2, 1, 12}), "distributed.peer-lost", 1, crash.Medium},
		"its traceback is cut off": {
			rank(0, lost) + rank(1, "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in fit\n    out = model(batch)\n"), "distributed.peer-lost", 1, crash.Medium},
		"NCCL names it": {
			"n3:10:20 [0] NCCL INFO [Service thread] Connection closed by localRank 2\n" + rank(0, lost), "distributed.peer-lost", 2, crash.Medium},
		"NCCL names one that lost another itself": {
			"n3:10:20 [0] NCCL INFO [Service thread] Connection closed by localRank 2\n" + rank(2, lost), "distributed.peer-lost", nil, crash.Low},
		"the barrier names it": {
			raised("RuntimeError: [Rank 0]: Ranks 3 failed to pass monitoredBarrier in 30000 ms"), "distributed.nccl-timeout", 3, crash.Medium},
		"the barrier names two": {
			raised("RuntimeError: [Rank 0]: Ranks 2, 3 failed to pass monitoredBarrier in 30000 ms"), "distributed.nccl-timeout", nil, crash.Low},
		"it is the only one that says nothing": {
			"world_size: 4\n" + watchdog(0, 9, "ALLREDUCE", 4) + watchdog(1, 9, "ALLREDUCE", 4) + watchdog(3, 9, "ALLREDUCE", 4), "distributed.nccl-timeout", 2, crash.Medium},
		"it wrote before, and says nothing of the timeout": {
			rank(2, trained(0, 50)) + watchdog(0, 9, "ALLREDUCE", 4) + watchdog(1, 9, "ALLREDUCE", 4) + watchdog(3, 9, "ALLREDUCE", 4), "distributed.nccl-timeout", 2, crash.Medium},
		"a rank of which nothing is shown may only be cut off": {
			watchdog(0, 9, "ALLREDUCE", 4) + watchdog(1, 9, "ALLREDUCE", 4) + watchdog(3, 9, "ALLREDUCE", 4), "distributed.nccl-timeout", nil, crash.Low},
		"numbers of process groups that are not named do not compare": {
			watchdog(0, 96120, "ALLREDUCE", 4) + watchdog(0, 96117, "ALLREDUCE", 8) + watchdog(1, 64088, "ALLREDUCE", 4), "distributed.nccl-timeout", nil, crash.Low},
		"most ranks say nothing, since the log is that of one": {
			"world_size: 8\n" + watchdog(0, 9, "ALLREDUCE", 4), "distributed.nccl-timeout", nil, crash.Low},
		"it was still running": {
			raised("RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 8000ms for recv operation to complete") + stopped(12) + agentSaw(1, 0, 10) + agentSaw(1, 2, 13), "distributed.nccl-timeout", 1, crash.Medium},
		"one that still ran was not lost": {
			raised("RuntimeError: [gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:5") + stopped(12) + agentSaw(1, 0, 10), "distributed.peer-lost", nil, crash.Low},
		"it is behind": {
			enqueued(0, 0, 78) + enqueued(1, 0, 77) + enqueued(2, 0, 78), "distributed.nccl-timeout", 1, crash.Medium},
		"two are behind": {
			enqueued(0, 0, 78) + enqueued(1, 0, 77) + enqueued(2, 0, 77), "distributed.nccl-timeout", nil, crash.Low},
		"nobody is behind": {
			enqueued(0, 0, 78) + enqueued(1, 0, 78), "distributed.nccl-timeout", nil, crash.Low},
		"numbers of two process groups do not compare": {
			enqueued(0, 0, 78) + enqueued(1, 1, 12), "distributed.nccl-timeout", nil, crash.Low},

		// Different operations.
		"one rank ran another operation": {
			watchdog(0, 9, "ALLREDUCE", 4) + watchdog(1, 9, "BROADCAST", 1) + watchdog(2, 9, "ALLREDUCE", 4), "distributed.desync", 1, crash.Medium},
		"one rank ran it on another size": {
			watchdog(0, 9, "ALLREDUCE", 4) + watchdog(1, 9, "ALLREDUCE", 4) + watchdog(2, 9, "ALLREDUCE", 400), "distributed.desync", 2, crash.Medium},
		"of two that differ neither is known to be wrong": {
			watchdog(0, 9, "ALLREDUCE", 4) + watchdog(1, 9, "BROADCAST", 1), "distributed.desync", nil, crash.Medium},

		// Several ranks.
		"all ranks raise it together": {
			rank(1, raised("RuntimeError: Expected to mark a variable ready only once.")) + rank(0, raised("RuntimeError: Expected to mark a variable ready only once.")), "distributed.ddp-twice", nil, crash.High},
		"no line has a rank": {
			lost + raised(badKey) + closing(entry{0, 1, 10}, entry{1, 1, 11}), "python.exception", nil, crash.Medium},
		"local ranks of two machines are no ranks": {
			each("node1: [default0]:", trained(0, 40)) + each("node2: [default0]:", trained(0, 40)) + each("node2: [default1]:", raised(badKey)), "python.exception", nil, crash.Medium},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnose(t, "log", c.log)
			assert.Equal(t, c.failure, d.Failure, d.Text(100, false))
			assert.Equal(t, c.rank, rankOf(d), d.Text(100, false))
			assert.Equal(t, c.conf, d.Confidence, d.Text(100, false))
		})
	}
}

// Clocks of one machine tell a second apart, those of two machines two.
func TestClocks(t *testing.T) {
	at := func(host, clock, exception string) string {
		return each("2026-01-12T16:13:"+clock+"Z ", raised(exception)) + "" + host
	}
	for name, c := range map[string]struct {
		first, second string // times of rank 0 and rank 1
		rank          any
	}{
		"earlier by more than a second": {"09.200", "02.100", 1},
		"later by more than a second":   {"02.100", "09.200", 0},
		"within a second":               {"02.900", "02.100", nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnose(t, "rank0.log", at("", c.first, badKey), "rank1.log", at("", c.second, outOfIt))
			assert.Equal(t, c.rank, rankOf(d))
			if c.rank == nil {
				assert.Contains(t, d.Cause, "ranks 0, 1")
			}
		})
	}
	syslog := func(clock, host, exception string) string {
		return each("Jan 12 16:13:"+clock+" "+host+" python[77]: ", raised(exception))
	}
	d := diagnose(t, "rank0.log", syslog("03", "n1", badKey), "rank1.log", syslog("02", "n2", outOfIt))
	assert.Nil(t, rankOf(d), "a second between two machines")
	d = diagnose(t, "rank0.log", syslog("09", "n1", badKey), "rank1.log", syslog("02", "n2", outOfIt))
	assert.Equal(t, 1, rankOf(d), "seven seconds between two machines")
	d = diagnose(t, "log", rank(2, raised(badKey))+rank(0, raised(badKey)))
	assert.Equal(t, 2, rankOf(d))
	assert.Contains(t, d.Missing, "times of the lines: that this rank was the first is known from their order only")
}

func TestWhatTheDiagnosisRestsOnIsShown(t *testing.T) {
	why := func(d *crash.Diagnosis) string {
		var b strings.Builder
		for _, e := range d.Evidence {
			fmt.Fprintf(&b, "%d %s\n", e.Line, e.Why)
		}
		return b.String()
	}
	d := diagnose(t, "log", agentSaw(-9, 1, 47)+killedByKernel(903112))
	assert.Contains(t, why(d), "1 the death that this explains: the only one there is, although the numbers of the processes differ (903112 and 47)")
	assert.Contains(t, d.Arithmetic, "ordinary memory of the process (anon-rss): 62.95 GiB")
	assert.Empty(t, d.Collateral, "the death is no second failure")

	d = diagnose(t, "log", "/src/Loss.cu:250: nll_loss: block: [0,0,0], thread: [5,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"+raised("RuntimeError: CUDA error: device-side assert triggered"))
	assert.Contains(t, why(d), "1 says more about the same failure")
	assert.Contains(t, d.Cause, "A class label is negative")

	d = diagnose(t, "log", rank(0, raised(badKey))+rank(1, raised(outOfIt)))
	assert.Equal(t, "data.index", d.Alternatives[0].Failure)
	assert.Equal(t, "line 8 shows it too, but after this", d.Alternatives[0].Why)

	d = diagnose(t, "log", enqueued(0, 0, 78)+enqueued(1, 0, 77))
	assert.Contains(t, why(d), "2 rank 1 is behind: its last operation was number 77")
}
