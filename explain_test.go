package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExplainListNamesEveryPageThatExplainShows(t *testing.T) {
	list := graphleak(t, "", "explain", "list")
	assert.Equal(t, exitClean, list.code)
	lines := strings.Split(strings.TrimSpace(list.stdout), "\n")
	assert.Greater(t, len(lines), 10)
	for _, line := range lines {
		id, title, ok := strings.Cut(line, "  ")
		assert.True(t, ok, line)
		assert.NotEmpty(t, strings.TrimSpace(title), line)
		page := graphleak(t, "", "explain", id)
		assert.Equal(t, exitClean, page.code, id)
		assert.True(t, strings.HasPrefix(page.stdout, id+"\n\n# "), id)
		assert.NotContains(t, page.stdout, "signatures:", "the front matter is for the program")
	}
}

func TestExplainOfAnUnknownTopic(t *testing.T) {
	got := graphleak(t, "", "explain", "GL999")
	assert.Equal(t, exitFailure, got.code)
	assert.Equal(t, "graphleak: there is no page about \"GL999\": graphleak explain list shows all pages\n", got.stderr)
}

func TestExplainSearchFindsThePageOfAMessage(t *testing.T) {
	for text, want := range map[string]string{
		"CUDA out of memory": "memory.cuda-oom.undetermined",
		"RuntimeError: CUDA error: device-side assert triggered":                                         "cuda.device-assert",
		"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!": "data.device",
		"Trying to backward through the graph a second time":                                             "autograd.backward-twice",
		"element 0 of tensors does not require grad":                                                     "autograd.no-graph",
		"DataLoader worker (pid 12) is killed by signal: Bus error":                                      "memory.shm",
		"exitcode -9":               "memory.host-oom.killed-unconfirmed",
		"slurmstepd oom_kill":       "memory.host-oom.slurm",
		"OOMKilled":                 "memory.host-oom.kubernetes",
		"address already in use":    "distributed.rendezvous",
		"watchdog timeout nccl":     "distributed.nccl-timeout",
		"find_unused_parameters":    "distributed.ddp-unused",
		"marked as ready twice":     "distributed.ddp-twice",
		"undefined symbol flash":    "env.import",
		"too many open files":       "memory.file-descriptors",
		"loss is nan":               "autograd.nan",
		"segmentation fault":        "signal.segfault",
		"Xid 79 fallen off the bus": "hardware.xid",
		"kv cache vllm":             "memory.vllm.kv-cache",
		"no space left on device":   "env.disk-full",
		"total_loss += loss":        "GL101",
	} {
		t.Run(text, func(t *testing.T) {
			got := graphleak(t, "", "explain", "--search", text)
			assert.Equal(t, exitClean, got.code)
			first, _, _ := strings.Cut(got.stdout, " ")
			assert.Equal(t, want, first, got.stdout)
			assert.Contains(t, got.stdout, "graphleak explain "+want+" shows the page.")
		})
	}
}

func TestExplainSearchThatFindsNothing(t *testing.T) {
	got := graphleak(t, "", "explain", "--search", "qqqq")
	assert.Equal(t, exitFailure, got.code)
	assert.Equal(t, "graphleak: no page is about \"qqqq\": graphleak explain list shows all pages\n", got.stderr)
	for _, args := range [][]string{{"explain"}, {"explain", "GL101", "--search", "x"}} {
		got = graphleak(t, "", args...)
		assert.Equal(t, exitFailure, got.code)
		assert.Contains(t, got.stderr, "name a page, or give --search TEXT")
	}
}
