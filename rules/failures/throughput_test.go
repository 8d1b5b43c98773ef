package failures

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
)

// ordinaryOutput is what a training run of many steps prints.
func ordinaryOutput(size int) []byte {
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "2026-01-12 16:%02d:%02d | INFO | trainer | epoch %d step %6d | loss %.5f | lr 3.0e-04 | grad norm %.3f | %.1f samples/s\n",
			n/60%60, n%60, n/5000, n%5000, 3/(1+float64(n)/1000), 1+float64(n%97)/97, 812+float64(n%13))
	}
	return b.Bytes()
}

// repeated reads text again and again.
type repeated struct {
	text []byte
	left int
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text[r.at:])
	r.at += n
	if r.at == len(r.text) {
		r.at = 0
		r.left--
	}
	return n, nil
}

func failureText(t testing.TB) []byte {
	text, err := os.ReadFile(filepath.Join(logs, "cuda-v2b-new-link.txt"))
	require.NoError(t, err)
	return text
}

func BenchmarkOrdinaryOutput(b *testing.B) {
	text := append(ordinaryOutput(32<<20), failureText(b)...)
	d := NewDiagnoser(Options{})
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		got, err := d.Diagnose(b.Context(), []crash.Input{{Name: "log", Reader: bytes.NewReader(text)}})
		require.NoError(b, err)
		require.Equal(b, "memory.cuda-oom.undetermined", got.Failure)
	}
}

// A log in which every line has to be looked at.
func BenchmarkTracebacks(b *testing.B) {
	text := bytes.Repeat(failureText(b), 2000)
	d := NewDiagnoser(Options{})
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := d.Diagnose(b.Context(), []crash.Input{{Name: "log", Reader: bytes.NewReader(text)}})
		require.NoError(b, err)
	}
}

// What is kept does not grow with the log.
func TestMemoryIsBounded(t *testing.T) {
	for name, text := range map[string][]byte{
		"ordinary":   ordinaryOutput(1 << 18),
		"tracebacks": bytes.Repeat(failureText(t), 80),
		"one line":   bytes.Repeat([]byte("Traceback (most recent call last) \r"), 6_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			d := NewDiagnoser(Options{})
			held := func(times int) uint64 {
				in := &repeated{text: text, left: times}
				runtime.GC()
				runtime.ReadMemStats(&before)
				got, err := d.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: in}})
				require.NoError(t, err)
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(got)
				return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
			}
			held(1)
			assert.Less(t, held(8), uint64(1<<20))
		})
	}
}
