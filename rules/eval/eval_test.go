package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

const source = "import torch\nfor x in data:\n    total += loss\n    log.append(loss)\n"

// on returns a finding on the line of source with this text.
func on(t *testing.T, line string, severity rules.Severity, keeps rules.Keeps) rules.Finding {
	t.Helper()
	start := strings.Index(source, line)
	require.GreaterOrEqual(t, start, 0)
	return rules.Finding{
		Path: "train.py", Span: text.Span{Start: start, End: start + len(line)},
		Code: "GL101", Severity: severity, Keeps: keeps,
	}
}

func TestExpect(t *testing.T) {
	for verdict, want := range map[string]expectation{
		"leak-large":                       {wantError, rules.Graph},
		"leak-large (ctx attribute)":       {wantError, rules.Graph},
		"leak-graph-nodes + value-growth":  {wantWarning, rules.Nodes},
		"cycle (gc frees)":                 {wantWarning, ""},
		"none (but aliases: one object)":   {wantSilence, ""},
		"bounded (10 full graphs)":         {wantAtMost, ""},
		"value-growth":                     {wantAtMost, ""},
		"one-step":                         {wantAtMost, ""},
		"python objects only":              {wantAtMost, ""},
		"error":                            {raises, ""},
		"leak-graph-nodes":                 {wantWarning, rules.Nodes},
		"leak-large (uncollectable cycle)": {wantError, rules.Graph},
	} {
		got, err := expect(verdict)
		require.NoError(t, err, verdict)
		assert.Equal(t, want, got, verdict)
	}
	_, err := expect("leek")
	assert.ErrorContains(t, err, `"leek"`)
}

func TestJudge(t *testing.T) {
	sum, kept := "total += loss", "log.append(loss)"
	for _, c := range []struct {
		name                   string
		verdict                string
		line                   int
		findings               []rules.Finding
		severity, keeps, place bool
	}{
		{"a leak missed", "leak-large", 0, nil, false, false, false},
		{"a leak found", "leak-large", 3, []rules.Finding{on(t, sum, rules.Error, rules.Graph)}, true, true, true},
		{"found elsewhere", "leak-large", 4, []rules.Finding{on(t, sum, rules.Error, rules.Graph)}, true, true, false},
		{"too mild", "leak-large", 0, []rules.Finding{on(t, sum, rules.Warning, rules.Graph)}, false, false, false},
		{"too harsh", "leak-graph-nodes", 0, []rules.Finding{on(t, sum, rules.Error, rules.Nodes)}, false, false, false},
		{"wrong about what stays", "leak-graph-nodes", 0, []rules.Finding{on(t, sum, rules.Warning, rules.Graph)}, true, false, true},
		{"the worst of two counts", "leak-large", 4,
			[]rules.Finding{on(t, sum, rules.Warning, rules.Nodes), on(t, kept, rules.Error, rules.Graph)}, true, true, true},
		{"one of two equals is right", "leak-graph-nodes", 4,
			[]rules.Finding{on(t, sum, rules.Warning, rules.Values), on(t, kept, rules.Warning, rules.Nodes)}, true, true, true},
		{"silence is right", "none", 0, nil, true, true, true},
		{"a hint breaks silence", "none", 0, []rules.Finding{on(t, sum, rules.Hint, rules.Values)}, false, false, false},
		{"a hint is allowed", "one-step", 0, []rules.Finding{on(t, sum, rules.Hint, rules.Graph)}, true, true, true},
		{"no more than a hint", "bounded (5 full graphs)", 0, []rules.Finding{on(t, sum, rules.Warning, rules.Graph)}, false, false, false},
		{"a program that raises", "error", 0, []rules.Finding{on(t, sum, rules.Error, rules.Graph)}, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := expect(c.verdict)
			require.NoError(t, err)
			got := judge(program{want: want, line: c.line}, result{source: []byte(source), findings: c.findings})
			assert.Equal(t, [3]bool{c.severity, c.keeps, c.place}, [3]bool{got.severity, got.keeps, got.place})
		})
	}
	t.Run("trouble is never right", func(t *testing.T) {
		got := judge(program{want: expectation{kind: wantSilence}}, result{trouble: "panic"})
		assert.False(t, got.severity || got.keeps || got.place)
	})
}

func TestJudgeLabel(t *testing.T) {
	sum := on(t, "total += loss", rules.Warning, rules.Nodes)
	viaEvidence := on(t, "log.append(loss)", rules.Error, rules.Graph)
	viaEvidence.Evidence = []rules.Evidence{{Path: "train.py", Span: sum.Span}}
	elsewhere := on(t, "log.append(loss)", rules.Error, rules.Graph)
	elsewhere.Evidence = []rules.Evidence{{Path: "meter.py", Span: sum.Span}}
	hint := on(t, "total += loss", rules.Hint, rules.Values)
	for _, c := range []struct {
		name    string
		leak    bool
		finding rules.Finding
		right   bool
	}{
		{"leak on its line", true, sum, true},
		{"leak in the evidence", true, viaEvidence, true},
		{"leak in the evidence of another file", true, elsewhere, false},
		{"leak hinted", true, hint, true},
		{"other line accused", false, sum, false},
		{"evidence accuses nobody", false, viaEvidence, true},
		{"a hint accuses nobody", false, hint, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judgeLabel(label{line: 3, leak: c.leak}, result{source: []byte(source), findings: []rules.Finding{c.finding}})
			assert.Equal(t, c.right, got.right())
		})
	}
	missed := judgeLabel(label{line: 3, leak: true}, result{source: []byte(source), findings: []rules.Finding{elsewhere}})
	assert.Equal(t, "line 4 GL101 error keeps graph", missed.near())
}

func TestRuleOfTakesTheLongestPrefix(t *testing.T) {
	assert.Equal(t, "GL101", ruleOf("01b_iadd_no_bwd"))
	assert.Equal(t, "GL105", ruleOf("01f_aux_not_backwarded"))
	assert.Equal(t, "GL102", ruleOf("11i_listcomp"))
	assert.Equal(t, "GL502", ruleOf("110a_nested_function_recursion"))
	assert.Equal(t, "other", ruleOf("xyz"))
}

func TestReadPrograms(t *testing.T) {
	dir := t.TempDir()
	table := "id\tsnippet file\tdescription\tverdict\trule\tline\n" +
		"01a\tsnippets/01a.py\t\"msg = f\"\"{loss}\"\"\"\tnone\t\t\n" +
		"meter\tsnippets/meter.py\tit's a 5\" disk\tleak-large\tGL103\t12\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "truth.tsv"), []byte(table), 0o600))
	got, err := readPrograms(dir)
	require.NoError(t, err)
	assert.Equal(t, []program{
		{id: "01a", file: filepath.Join(dir, "snippets", "01a.py"), description: `msg = f"{loss}"`, verdict: "none",
			rule: "GL101", want: expectation{kind: wantSilence}},
		{id: "meter", file: filepath.Join(dir, "snippets", "meter.py"), description: `it's a 5" disk`, verdict: "leak-large",
			rule: "GL103", want: expectation{wantError, rules.Graph}, line: 12},
	}, got)
}

func TestAPanicIsTheResultOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.py")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o600))
	c := checked{func(context.Context, rules.Source) (rules.Report, error) { panic("index out of range") }}
	got := c.file(t.Context(), path)
	assert.Contains(t, got.trouble, "panic: index out of range")
	assert.Equal(t, source, string(got.source))
}

func TestMissingDataIsSaid(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-shared", t.TempDir(), "-work", t.TempDir()}, &out))
	assert.Contains(t, out.String(), "programs: none, there is no ")
	assert.Contains(t, out.String(), "labels: none, there is no ")
}

func TestLabelsOfARepository(t *testing.T) {
	clones, work, shared := t.TempDir(), t.TempDir(), t.TempDir()
	commit := commitFile(t, filepath.Join(clones, "owner+name", "repo"), "pkg/train.py", source)
	require.NoError(t, os.MkdirAll(filepath.Join(shared, "eval"), 0o755))
	table := "repo\tcommit\tpath\tline\tkind\tverdict\tevidence\tdifficulty\n" +
		"owner/name\t" + commit + "\tpkg/train.py\t3\tA\tleak\tsummed\tintraprocedural\n" +
		"owner/name\t" + commit + "\tpkg/train.py\t4\tB\tok\tcleared\tintraprocedural\n" +
		"owner/gone\t" + commit + "\tpkg/train.py\t4\tB\tleak\tlisted\tintraprocedural\n"
	require.NoError(t, os.WriteFile(filepath.Join(shared, "eval", "labels.dev.tsv"), []byte(table), 0o600))
	cfg, _, err := parse([]string{"-shared", shared, "-clones", clones, "-work", work, "-v"})
	require.NoError(t, err)

	var paths []string
	c := checked{func(_ context.Context, src rules.Source) (rules.Report, error) {
		paths = append(paths, filepath.ToSlash(src.Path))
		return rules.Report{Findings: []rules.Finding{on(t, "total += loss", rules.Warning, rules.Nodes)}}, nil
	}}
	var out strings.Builder
	require.NoError(t, evalLabels(t.Context(), c, cfg, &out))
	require.Len(t, paths, 1, "a file with two labels is checked once")
	assert.True(t, strings.HasSuffix(paths[0], "owner+name/"+commit+"/pkg/train.py"), paths[0])
	assert.Contains(t, out.String(), "leaks      1 of   2 found, 1 as error or warning")
	assert.Contains(t, out.String(), "others     1 of   1 without error or warning; precision 100.0 %")
	assert.Contains(t, out.String(), "missing owner/gone@")
}

func TestScanListsWhatAUserWouldSee(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "train.py"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.py"), []byte("\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte(source), 0o600))
	c := checked{func(_ context.Context, src rules.Source) (rules.Report, error) {
		if filepath.Base(src.Path) == "broken.py" {
			return rules.Report{Skipped: "not text"}, nil
		}
		return rules.Report{Findings: []rules.Finding{
			on(t, "total += loss", rules.Warning, rules.Nodes), on(t, "log.append(loss)", rules.Hint, rules.Values),
		}}, nil
	}}
	var out strings.Builder
	require.NoError(t, scan(t.Context(), c, config{}, []string{dir}, &out))
	assert.Contains(t, out.String(), "broken.py: not text\n")
	assert.Contains(t, out.String(), "train.py:3: warning GL101 keeps nodes")
	assert.Contains(t, out.String(), "\n    total += loss\n")
	assert.NotContains(t, out.String(), "log.append", "a hint is not listed")
	assert.Contains(t, out.String(), "2 files, 5 lines: 0 errors, 1 warnings, 1 hints, GL101 1; 500.0 errors and warnings per thousand files")
}

func commitFile(t *testing.T, repo, name, content string) (commit string) {
	t.Helper()
	path := filepath.Join(repo, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Start"},
	} {
		cmd := exec.Command("git", append([]string{"-C", repo}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	head, err := exec.Command("git", "-C", repo, "rev-parse", "HEAD").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(head))
}
