package syntax

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// corpus is Python as people write it: training scripts of this package, and
// the standard library where there is one.
func corpus(b *testing.B) [][]byte {
	b.Helper()
	var files [][]byte
	size := 0
	for _, pattern := range []string{"testdata/training.py", "/usr/lib/python3*/[a-m]*.py"} {
		names, err := filepath.Glob(pattern)
		require.NoError(b, err)
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err == nil && size < 3<<20 {
				files = append(files, src)
				size += len(src)
			}
		}
	}
	return files
}

// BenchmarkParse compares Parse, which also looks for damage and copies the
// tree, with tree-sitter alone. Both run in turns, so that a busy machine
// burdens both.
func BenchmarkParse(b *testing.B) {
	g, err := python3()
	require.NoError(b, err)
	files := corpus(b)
	bytes, nodes := 0, 0
	for _, src := range files {
		bytes += len(src)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	var raw, all time.Duration
	for b.Loop() {
		nodes = 0
		for _, src := range files {
			b.StopTimer()
			start := time.Now()
			p := newParser(g, maxParse)
			tree, err := p.tree(string(src))
			require.NoError(b, err)
			tree.Close()
			p.close()
			raw += time.Since(start)
			b.StartTimer()

			start = time.Now()
			t, err := Parse(src)
			all += time.Since(start)
			require.NoError(b, err)
			nodes += t.Len()
		}
	}
	b.ReportMetric(float64(all)/float64(raw), "x-raw")
	b.ReportMetric(float64(all)/float64(b.N)/float64(nodes), "ns/node")
	b.ReportMetric(float64(unsafe.Sizeof(node{}))*float64(nodes)/float64(bytes)+1, "B-kept/B")
}

// BenchmarkRepair is Parse on a file of 500 lines with one half-typed line.
func BenchmarkRepair(b *testing.B) {
	src, err := os.ReadFile("testdata/training.py")
	require.NoError(b, err)
	src = bytes.Repeat(src, 4)
	for name, edit := range map[string][2]string{
		"whole":    {"", ""},
		"bracket":  {"loss = F.nll_loss(output, target)", "loss = F.nll_loss(output"},
		"string":   {`"""Parse the command line."""`, `"""Parse the command line.`},
		"function": {"def train(args, model", "def train(args, model("},
	} {
		b.Run(name, func(b *testing.B) {
			src := bytes.Replace(src, []byte(edit[0]), []byte(edit[1]), 1)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := Parse(src)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkHostile reads text that is nothing but errors, or one line.
func BenchmarkHostile(b *testing.B) {
	g, err := python3()
	require.NoError(b, err)
	for name, src := range map[string][]byte{
		"open brackets":  bytes.Repeat([]byte("x = (\n"), 5_000),
		"bad statements": bytes.Repeat([]byte("a b\n"), 5_000),
		"open docstring": bytes.Repeat([]byte("def f():\n    \"\"\"a\n"), 2_000),
		"long list":      append(bytes.Repeat([]byte("1,"), MaxLineMarks-10), "]"...),
		"deep":           bytes.Repeat([]byte("("), MaxLineMarks),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				_, err := g.read(string(src), nil)
				require.NoError(b, err)
			}
		})
	}
}
