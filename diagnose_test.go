package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const crashLog = `epoch 1  train loss 4.2071
Traceback (most recent call last):
  File "/home/mira/run/train.py", line 9, in <module>
    loss.backward()
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.92 GiB already allocated; 14.44 MiB free; 9.96 GiB reserved in total by PyTorch)
`

// decoded is what the tests look at of the JSON.
type decoded struct {
	Failure    string
	Initiating *struct {
		Rank *int
		Line int
	}
	Suspects []struct {
		Path, Code string
		Range      struct{ Start struct{ Line, Column int } }
	}
	Evidence []struct{ Text string }
}

func decode(t *testing.T, r result) decoded {
	t.Helper()
	require.Equal(t, exitClean, r.code, r.stderr)
	var d decoded
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &d))
	return d
}

func TestDiagnoseReadsStandardInput(t *testing.T) {
	project(t, nil)
	for _, args := range [][]string{{"diagnose", "--format", "json"}, {"diagnose", "--format=json", "-"}} {
		d := decode(t, graphleak(t, crashLog, args...))
		assert.Equal(t, "memory.cuda-oom.undetermined", d.Failure)
		assert.Equal(t, 5, d.Initiating.Line)
	}
}

func TestDiagnoseTakesSeveralFilesAsRanks(t *testing.T) {
	project(t, map[string]string{"rank0.log": "RuntimeError: Connection reset by peer\n", "rank1.log": crashLog})
	d := decode(t, graphleak(t, "", "diagnose", "--format", "json", "rank0.log", "rank1.log"))
	require.NotNil(t, d.Initiating.Rank)
	assert.Equal(t, 1, *d.Initiating.Rank)
}

func TestDiagnoseReadsADirectoryOfRanks(t *testing.T) {
	project(t, map[string]string{
		"logs/attempt_0/0/stderr.log": "RuntimeError: Connection reset by peer\n", "logs/attempt_0/1/stderr.log": crashLog,
		"logs/attempt_0/1/stdout.log": "step 12 loss 0.5\n", "logs/model.pt": crashLog, "logs/.hidden/2.log": crashLog,
	})
	d := decode(t, graphleak(t, "", "diagnose", "--format", "json", "logs"))
	require.NotNil(t, d.Initiating.Rank)
	assert.Equal(t, 1, *d.Initiating.Rank)
}

func TestDiagnoseNamesTheSuspectInTheExample(t *testing.T) {
	example := filepath.Join("testdata", "example")
	d := decode(t, graphleak(t, "", "diagnose", "--format", "json", "--workspace", example, filepath.Join(example, "crash.log")))
	assert.Equal(t, "memory.cuda-oom.graph-retained", d.Failure)
	require.NotEmpty(t, d.Suspects)
	lines := strings.Split(readFile(t, filepath.Join(example, "train.py")), "\n")
	assert.Equal(t, "train.py", d.Suspects[0].Path)
	assert.Contains(t, lines[d.Suspects[0].Range.Start.Line-1], "val_loss += criterion(logits, labels)")
}

func TestDiagnoseFormats(t *testing.T) {
	project(t, nil)
	text := graphleak(t, crashLog, "diagnose")
	assert.Equal(t, exitClean, text.code)
	assert.NotContains(t, text.stdout, "\x1b")
	assert.Contains(t, text.stdout, "only the last straw")
	markdown := graphleak(t, crashLog, "diagnose", "--format", "markdown")
	assert.True(t, strings.HasPrefix(markdown.stdout, "# CUDA out of memory"), markdown.stdout)
}

func TestDiagnoseRedacts(t *testing.T) {
	project(t, nil)
	assert.Contains(t, graphleak(t, crashLog, "diagnose").stdout, "/home/mira/")
	assert.NotContains(t, graphleak(t, crashLog, "diagnose", "--redact").stdout, "mira")
}

func TestDiagnoseHealthyLogIsNoError(t *testing.T) {
	project(t, nil)
	for _, log := range []string{"", "epoch 1 loss 0.5\ntraining finished\n", "\x00\x01\x02"} {
		d := decode(t, graphleak(t, log, "diagnose", "--format", "json"))
		assert.Equal(t, "unknown", d.Failure)
		assert.Nil(t, d.Initiating)
	}
}

func TestDiagnoseSaysWhatItCannotRead(t *testing.T) {
	project(t, map[string]string{"a.log": crashLog, "code/train.py": ""})
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"missing file":      {[]string{"diagnose", "nothere.log"}, "nothere.log"},
		"no logs":           {[]string{"diagnose", "code"}, "code: no logs in this directory"},
		"input twice":       {[]string{"diagnose", "-", "-"}, "standard input can be read only once"},
		"format":            {[]string{"diagnose", "--format", "xml", "a.log"}, "--format"},
		"missing workspace": {[]string{"diagnose", "--workspace", "nothere", "a.log"}, "workspace"},
		"workspace a file":  {[]string{"diagnose", "--workspace", "a.log", "a.log"}, "is not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			got := graphleak(t, "", c.args...)
			assert.Equal(t, exitFailure, got.code)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, c.want)
			assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line")
		})
	}
}
