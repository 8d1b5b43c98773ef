package failures

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
)

// Whatever the input, there is a diagnosis, it is the same each time, its lines
// are lines of the input, and it can be shown.
func FuzzDiagnose(f *testing.F) {
	for _, incident := range incidents(f) {
		text, err := os.ReadFile(incident.files[0])
		require.NoError(f, err)
		if len(text) < 6000 {
			f.Add(text)
		}
	}
	d := NewDiagnoser(Options{})
	f.Fuzz(func(t *testing.T, text []byte) {
		diagnose := func() *crash.Diagnosis {
			got, err := d.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: bytes.NewReader(text)}})
			require.NoError(t, err)
			return got
		}
		got := diagnose()
		// UTF-16 has a line end in other bytes; there are never more of them.
		most := bytes.Count(text, []byte{'\n'}) + 1
		inside := func(line int) { require.LessOrEqual(t, line, most) }
		if got.Initiating != nil {
			require.Positive(t, got.Initiating.Line)
			inside(got.Initiating.Line)
		}
		for _, e := range got.Evidence {
			inside(e.Line)
		}
		for _, c := range got.Collateral {
			inside(c.Line)
		}
		require.NotEmpty(t, got.Cause)
		first, err := json.Marshal(got)
		require.NoError(t, err)
		second, err := json.Marshal(diagnose())
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
		require.NotEmpty(t, got.Markdown())
		require.NotEmpty(t, got.Text(80, true))
		require.Equal(t, got.Failure, got.Redacted().Failure)
	})
}
