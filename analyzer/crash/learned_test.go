package crash

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A prefix that no launcher is known to write is one if all lines have it and a
// failure is told only without it.
func TestPrefixOfAllLinesIsLearned(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"a shell's own":                      {"run-7> loading\nrun-7> step 1\nrun-7> step 2\nrun-7> RuntimeError: boom\n", []string{"RuntimeError: boom [] @ task=run-7"}},
		"comments":                           {"# loading\n# step 1\n# step 2\n# RuntimeError: boom\n", []string{"RuntimeError: boom [] @ "}},
		"too few lines":                      {"run-7> step 1\nrun-7> RuntimeError: boom\n", nil},
		"lines that are alike":               {"step 1: loss 0.5\nstep 2: loss 0.4\nstep 3: loss 0.3\nstep 4: loss 0.2\n", nil},
		"not all lines have one":             {"loading\nrun-7> step 1\nrun-7> step 2\nrun-7> RuntimeError: boom\n", nil},
		"a level that nothing stands before": {"loading\nERROR: RuntimeError: boom\n", []string{"RuntimeError: boom [] @ "}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, readLog(t, c.log)) })
	}
}

const exceptionGroup = `  + Exception Group Traceback (most recent call last):
  |   File "/app/train.py", line 31, in main
  |     go()
  |   File "/app/train.py", line 12, in go
  |     raise ExceptionGroup("loaders", errors)
  | ExceptionGroup: loaders (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/data.py", line 2, in f
    |     x
    |   File "/app/data.py", line 7, in x
    |     y
    | ValueError: one
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/app/data.py", line 3, in g
    |     z
    | KeyError: 'two'
    +------------------------------------
`

// The bars of a group are no prefix, and a record that is the line of a traceback
// is that line once.
func TestExceptionGroupsInRecords(t *testing.T) {
	record := func(fields map[string]any) string {
		b, err := json.Marshal(fields)
		require.NoError(t, err)
		return string(b) + "\n"
	}
	var lines strings.Builder
	for line := range strings.Lines(exceptionGroup) {
		lines.WriteString(record(map[string]any{"log": line}))
	}
	const outer = " in ExceptionGroup: loaders (2 sub-exceptions) [/app/train.py:31 main|go(), /app/train.py:12 go|raise ExceptionGroup(\"loaders\", errors)] @ "
	want := []string{
		"ValueError: one [/app/data.py:2 f|x, /app/data.py:7 x|y]" + outer,
		"KeyError: 'two' [/app/data.py:3 g|z]" + outer,
	}
	for name, log := range map[string]string{
		"as printed":              exceptionGroup,
		"a line a record":         lines.String(),
		"a field of a record":     record(map[string]any{"msg": "failed", "exc_info": exceptionGroup}),
		"the message":             record(map[string]any{"message": "failed\n" + exceptionGroup}),
		"the message and a field": record(map[string]any{"message": "failed\n" + exceptionGroup, "exc_info": exceptionGroup}),
		"a list of lines":         record(map[string]any{"msg": "failed", "exception": strings.SplitAfter(exceptionGroup, "\n")}),
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, want, readLog(t, log)) })
	}
}
