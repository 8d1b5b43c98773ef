package failures

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
)

// A text that is made to take long takes time in proportion to its size, and
// what comes of it can be shown.
func TestHostileTextsTakeBoundedTime(t *testing.T) {
	var literals, examples strings.Builder
	for _, p := range Pages() {
		for _, s := range p.Signatures {
			for _, l := range s.Literals {
				literals.WriteString(l + " ")
			}
			examples.WriteString(strings.ReplaceAll(s.Example, "\n", " ") + " ")
		}
	}
	const size = 128 << 10
	times := func(text string) []byte { return bytes.Repeat([]byte(text), size/len(text)+1)[:size] }
	for name, text := range map[string][]byte{
		"one line of every literal":          times(literals.String()),
		"lines of every literal":             times(literals.String()[:4000] + "\n"),
		"every example on one line":          times(examples.String()),
		"every example on its line":          times(strings.ReplaceAll(examples.String(), ". ", ".\n")),
		"nearly an out-of-memory message":    times("CUDA out of memory. Tried to allocate 1 GiB. GPU 0 has a total capacity of 1 GiB of which 1 GiB is free. " + strings.Repeat("Process 1 has 1 GiB memory in use. ", 200) + "\n"),
		"assertions without an end":          times("x.cu:1: k: block: [0,0,0], thread: [0,0,0] Assertion `" + strings.Repeat("a`b`", 900) + "\n"),
		"headers without calls":              times("Traceback (most recent call last):\n"),
		"calls without a header":             times("  File \"a.py\", line 1, in f\n"),
		"causes of causes":                   times("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\n"),
		"workers within workers":             times("KeyError: Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"),
		"reports without an end":             times("Failures:\n[1]:\n  rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 7)\n"),
		"prefixes before prefixes":           times(strings.Repeat("[rank1]: ", 400) + "KeyError: 1\n"),
		"ranks without an end":               manyRanks(size),
		"watchdogs of many groups":           times("[rank1]:[E302 02:07:08.4 P.cpp:1] [PG ID 7 PG GUID 7 Rank 1]  failure detected by watchdog at work sequence id: 1 PG status: last enqueued work: 1, last completed work: 0\n"),
		"steps without an end":               times("step 1 loss nan allocated 1.0 GiB world_size=8 "),
		"brackets":                           times("((((((((([[[[[[[[[{{{{{{{{{"),
		"binary":                             times("\x00\xff\x1b[31m\x07Error: \x80"),
		"carriage returns without a newline": times("RuntimeError: CUDA error: device-side assert triggered\r"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			d, err := NewDiagnoser(Options{}).Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: bytes.NewReader(text)}})
			require.NoError(t, err)
			require.NotEmpty(t, d.Text(80, false))
			t.Logf("%v for 128 KiB: %s", time.Since(start), d.Failure)
			// Generous: the machine may be busy with much else.
			assert.Less(t, time.Since(start), 30*time.Second)
		})
	}
}

// manyRanks is a log in which each line is of another rank.
func manyRanks(size int) []byte {
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		b.WriteString(watchdog(n%100000, n, "ALLREDUCE", n))
	}
	return b.Bytes()[:size]
}
