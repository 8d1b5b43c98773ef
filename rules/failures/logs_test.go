package failures

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
)

var update = flag.Bool("update", false, "write the diagnoses of testdata/logs as the expected ones")

const logs = "../../testdata/logs"

// expected is the part of a diagnosis that does not depend on how it is worded.
type expected struct {
	Failure      string                      `json:"failure"`
	Confidence   crash.Confidence            `json:"confidence"`
	Initiating   *crash.Initiating           `json:"initiating"`
	Collateral   []where                     `json:"collateral,omitempty"`
	Evidence     []crash.Evidence            `json:"evidence,omitempty"`
	Arithmetic   []string                    `json:"arithmetic,omitempty"`
	Slope        *float64                    `json:"slope,omitempty"`
	Alternatives map[string]crash.Confidence `json:"alternatives,omitempty"`
}

type where struct {
	Rank *int `json:"rank"`
	Line int  `json:"line"`
}

func summary(d *crash.Diagnosis) expected {
	e := expected{
		Failure: d.Failure, Confidence: d.Confidence, Initiating: d.Initiating, Arithmetic: d.Arithmetic,
		Alternatives: make(map[string]crash.Confidence),
	}
	for _, c := range d.Collateral {
		e.Collateral = append(e.Collateral, where{c.Rank, c.Line})
	}
	for _, x := range d.Evidence {
		e.Evidence = append(e.Evidence, crash.Evidence{Line: x.Line, Text: x.Text, Why: ""})
	}
	for _, a := range d.Alternatives {
		e.Alternatives[a.Failure] = a.Confidence
	}
	if d.Growth != nil {
		e.Slope = &d.Growth.Slope
	}
	return e
}

// Each log under testdata/logs has the diagnosis that it deserves beside it.
// With -update the present ones are written, to be reviewed as a diff.
func TestLogsAreDiagnosed(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(logs, "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	diagnoser := NewDiagnoser(Options{})
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			diagnosis, err := diagnoser.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: bytes.NewReader(text)}})
			require.NoError(t, err)

			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			require.NoError(t, enc.Encode(summary(diagnosis)))
			golden := strings.TrimSuffix(name, ".txt") + ".want.json"
			if *update {
				require.NoError(t, os.WriteFile(golden, b.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), b.String())
		})
	}
}
