package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// configuredProject is a working directory with a configuration and files that
// have the same finding.
func configuredProject(t *testing.T, table string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, src := range map[string]string{"pyproject.toml": table, "train.py": leak, "gen/train.py": leak, "tests/train.py": leak} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(src), 0o600))
	}
}

func TestCheckIsConfigured(t *testing.T) {
	const table = "[tool.graphleak]\nexclude = [\"gen/\"]\n[tool.graphleak.severity]\nGL1 = \"hint\"\n[tool.graphleak.per-file-ignores]\n\"tests/\" = [\"GL101\"]\n"
	for _, tt := range []struct {
		name, table string
		args        []string
		findings    []string // path and severity
		code        int
	}{
		{"as the file says", table, nil, []string{"train.py hint"}, exitClean},
		{"in a directory of it", table, []string{"tests"}, nil, exitClean},
		{"an excluded file that is named", table, []string{"gen/train.py"}, []string{"gen/train.py hint"}, exitClean},
		{"an excluded file that is named by a tool", table, []string{"--force-exclude", "gen/train.py", "train.py"}, []string{"train.py hint"}, exitClean},
		{"standard input", table, []string{"--stdin-filename=new.py"}, []string{"new.py hint"}, exitClean},
		{"standard input as a file of which rules are ignored", table, []string{"--stdin-filename=tests/new.py"}, nil, exitClean},
		{"no configuration", table, []string{"--no-config"}, []string{"gen/train.py warning", "tests/train.py warning", "train.py warning"}, exitFindings},
		{"the command line selects what the file ignores", "[tool.graphleak]\nignore = [\"GL101\"]\n", []string{"--select=GL101", "train.py"}, []string{"train.py warning"}, exitFindings},
		{"the command line ignores more", "[tool.graphleak]\nselect = [\"GL1\"]\n", []string{"--ignore=GL101"}, nil, exitClean},
	} {
		t.Run(tt.name, func(t *testing.T) {
			configuredProject(t, tt.table)
			report, code := checkJSON(t, leak, tt.args...)
			var got []string
			for _, f := range report.Findings {
				got = append(got, f.Path+" "+f.Severity)
			}
			assert.Equal(t, tt.findings, got)
			assert.Equal(t, tt.code, code)
		})
	}
}

func TestConfigurationOfAllFiles(t *testing.T) {
	configuredProject(t, "")
	strict := filepath.Join(t.TempDir(), "strict.toml")
	require.NoError(t, os.WriteFile(strict, []byte("[tool.graphleak.severity]\nGL1 = \"error\"\n"), 0o600))
	report, code := checkJSON(t, "", "--config", strict, "train.py")
	assert.Equal(t, exitFindings, code)
	assert.Equal(t, "error", report.Findings[0].Severity)
	assert.Equal(t, exitFailure, graphleak(t, "", "check", "--config", strict, "--no-config").code)
}

func TestBadConfigurationIsAnError(t *testing.T) {
	configuredProject(t, "[tool.graphleak]\nselct = [\"GL1\"]\n")
	got := graphleak(t, "", "check")
	assert.Equal(t, exitFailure, got.code)
	assert.Empty(t, got.stdout)
	assert.Equal(t, "graphleak: pyproject.toml:2:1: unknown key \"selct\" in [tool.graphleak]; did you mean \"select\"?\n", got.stderr)
	assert.Equal(t, exitFindings, graphleak(t, "", "check", "--no-config").code)
}

func TestFixIsConfigured(t *testing.T) {
	configuredProject(t, "[tool.graphleak.per-file-ignores]\n\"tests/\" = [\"GL1\"]\n")
	got := graphleak(t, "", "check", "--fix")
	assert.Equal(t, exitClean, got.code, got.stdout)
	assert.Contains(t, readFile(t, "train.py"), "loss.detach()")
	assert.Equal(t, leak, readFile(t, filepath.Join("tests", "train.py")))
}

func TestShowConfig(t *testing.T) {
	configuredProject(t, "[tool.graphleak]\nselect = [\"GL10\"]\n")
	got := graphleak(t, "", "check", "--show-config", "--ignore=GL102")
	assert.Equal(t, exitClean, got.code)
	assert.Contains(t, got.stdout, ": pyproject.toml\n[tool.graphleak]\nselect = ['GL10']\n# on: GL101 GL103")
	assert.NotContains(t, got.stdout, "warning", "nothing is checked")
	assert.Contains(t, graphleak(t, "", "check", "--show-config", "--no-config").stdout, "no pyproject.toml has a table")
}

func TestStatistics(t *testing.T) {
	configuredProject(t, "")
	got := graphleak(t, "", "check", "--statistics")
	assert.Equal(t, exitFindings, got.code)
	assert.Regexp(t, `(?m)^ +findings +errors +warnings +hints +safe fix +unsafe fix +rule$`, got.stdout)
	assert.Regexp(t, `(?m)^ +3 +0 +3 +0 +3 +0 +GL101 accumulate-with-graph$`, got.stdout)
	assert.Contains(t, got.stdout, "Found 3 warnings in 3 of 3 files.")
	assert.NotContains(t, got.stdout, "total_loss", "no single findings")

	var report struct {
		Statistics []struct {
			Code, Rule                    string
			Count, Fixable, UnsafeFixable int
			Severity                      map[string]int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(graphleak(t, "", "check", "--statistics", "--format=json").stdout), &report))
	require.Len(t, report.Statistics, 1)
	assert.Equal(t, map[string]int{"warning": 3}, report.Statistics[0].Severity)
	assert.Equal(t, 3, report.Statistics[0].Fixable)
	assert.Equal(t, exitFailure, graphleak(t, "", "check", "--statistics", "--format=sarif").code)
}
