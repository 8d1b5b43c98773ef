package failures

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// incidentFiles are a failed run under testdata/logs: a text file, or a folder with
// one .log file for each rank.
type incidentFiles struct {
	name   string // below testdata/logs
	golden string
	files  []string
}

// id is the failure that the folder of the incident is about, if it is in one.
func (i incidentFiles) id() string {
	if dir := filepath.Dir(i.name); dir != "." {
		return filepath.ToSlash(dir)
	}
	return ""
}

func (i incidentFiles) diagnose(t *testing.T, d *Diagnoser) *crash.Diagnosis {
	t.Helper()
	var inputs []crash.Input
	for _, name := range i.files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		inputs = append(inputs, crash.Input{Name: filepath.Base(name), Reader: bytes.NewReader(text)})
	}
	diagnosis, err := d.Diagnose(t.Context(), inputs)
	require.NoError(t, err)
	return diagnosis
}

// incidents lists all of testdata/logs.
func incidents(t testing.TB) []incidentFiles {
	t.Helper()
	var list []incidentFiles
	folders := make(map[string]*incidentFiles)
	require.NoError(t, filepath.WalkDir(logs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch dir := filepath.Dir(path); filepath.Ext(path) {
		case ".txt":
			name := strings.TrimSuffix(path, ".txt")
			list = append(list, incidentFiles{golden: name + ".want.json", files: []string{path}})
		case ".log":
			if folders[dir] == nil {
				folders[dir] = &incidentFiles{golden: dir + ".want.json"}
			}
			folders[dir].files = append(folders[dir].files, path)
		}
		return nil
	}))
	for _, f := range folders {
		list = append(list, *f)
	}
	for i := range list {
		name, err := filepath.Rel(logs, strings.TrimSuffix(list[i].golden, ".want.json"))
		require.NoError(t, err)
		list[i].name = name
	}
	slices.SortFunc(list, func(a, b incidentFiles) int { return strings.Compare(a.name, b.name) })
	require.NotEmpty(t, list)
	return list
}

// Each log under testdata/logs has the diagnosis that it deserves beside it. The
// folder that it is in, if it is in one, is called after the failure, so that
// -update, which writes the present ones, to be reviewed as a diff, cannot take
// over a wrong answer unseen.
func TestLogsAreDiagnosed(t *testing.T) {
	diagnoser := NewDiagnoser(Options{})
	for _, incident := range incidents(t) {
		t.Run(incident.name, func(t *testing.T) {
			diagnosis := incident.diagnose(t, diagnoser)
			if id := incident.id(); id != "" {
				assert.True(t, answers(diagnosis, id), "%s, and what followed has no %s", diagnosis.Failure, id)
			}
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			require.NoError(t, enc.Encode(summary(diagnosis)))
			if *update {
				require.NoError(t, os.WriteFile(incident.golden, b.Bytes(), 0o644))
			}
			want, err := os.ReadFile(incident.golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), b.String())
		})
	}
}

// answers reports whether the diagnosis is the failure. A page that never starts
// an incident is right among what followed.
func answers(d *crash.Diagnosis, id string) bool {
	page, ok := Lookup(id)
	return d.Failure == id || ok && page.Strength == 0 && slices.ContainsFunc(d.Collateral, func(c crash.Collateral) bool {
		return c.Event == page.Title
	})
}

// Nobody knows that a page works without logs that it is the answer to, written
// in more ways than one.
func TestEveryPageHasLogs(t *testing.T) {
	const least = 3
	diagnoser := NewDiagnoser(Options{})
	count := make(map[string]int)
	for _, incident := range incidents(t) {
		d := incident.diagnose(t, diagnoser)
		for _, p := range Pages() {
			if answers(d, p.ID) {
				count[p.ID]++
			}
		}
	}
	for _, p := range Pages() {
		assert.GreaterOrEqual(t, count[p.ID], least, p.ID)
	}
}
