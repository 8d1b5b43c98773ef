package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// leak sums losses after their backward pass: one warning with a safe fix.
const leak = `import torch


def train(model: torch.nn.Module, loader, optimizer, criterion: torch.nn.CrossEntropyLoss):
    total_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss
    print(f"{total_loss:.3f}")
`

const clean = "def add(a, b):\n    return a + b\n"

type checkFinding struct {
	Path, Code, Rule, Severity, Message, Memory, Keeps, Confidence string
	Cell                                                           int
	Range                                                          extent
	Evidence                                                       []struct {
		Path, Message string
		Range         extent
	}
	Fixes []struct {
		Title, Safety string
		Edits         []struct {
			Cell  int
			Range extent
		}
	}
}

type extent struct{ Start, End struct{ Line, Column int } }

type checkReport struct {
	Version  int
	Findings []checkFinding
	Files    int
	Skipped  []struct{ Path, Reason string }
}

func checkJSON(t *testing.T, stdin string, args ...string) (checkReport, int) {
	t.Helper()
	got := graphleak(t, stdin, append([]string{"check", "--format=json"}, args...)...)
	var report checkReport
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report), "%s", got.stderr)
	return report, got.code
}

// The example is what a new user sees first: it has to be right.
func TestCheckOfTheExample(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "example"))
	report, code := checkJSON(t, "")
	assert.Equal(t, exitFindings, code)
	assert.Empty(t, report.Skipped)

	lines := strings.Split(readFile(t, "train.py"), "\n")
	got := make(map[string]string)
	for _, f := range report.Findings {
		assert.Equal(t, "train.py", f.Path)
		assert.NotEmpty(t, f.Evidence)
		line := []rune(lines[f.Range.Start.Line-1])
		got[strings.TrimSpace(string(line))] = strings.Join([]string{f.Code, f.Severity, f.Memory, f.Keeps, string(line[f.Range.Start.Column-1 : f.Range.End.Column-1])}, " ")
	}
	assert.Equal(t, map[string]string{
		"total_loss += loss":                    "GL101 warning host nodes loss",
		"logits = model(images)":                "GL301 hint peak graph model(images)",
		"val_loss += criterion(logits, labels)": "GL101 error device graph criterion(logits, labels)",
		"scores.append(logits.softmax(dim=1))":  "GL102 error device graph logits.softmax(dim=1)",
	}, got)
}

func TestCheckExitCode(t *testing.T) {
	project(t, map[string]string{"leak.py": leak, "clean.py": clean})
	tests := []struct {
		name string
		args []string
		want int
	}{
		{"a warning", nil, exitFindings},
		{"a warning below the bar", []string{"--fail-on=error"}, exitClean},
		{"a warning above the bar", []string{"--fail-on=hint"}, exitFindings},
		{"no findings", []string{"clean.py"}, exitClean},
		{"findings that are not selected", []string{"--select=GL102"}, exitClean},
		{"findings that are selected by code", []string{"--select=GL102,GL101"}, exitFindings},
		{"findings that are selected by name", []string{"--select=accumulate-with-graph"}, exitFindings},
		{"findings that are ignored", []string{"--ignore=GL1"}, exitClean},
		{"findings that are selected and ignored", []string{"--select=GL1", "--ignore=GL101"}, exitClean},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := graphleak(t, "", append([]string{"check"}, tt.args...)...)
			assert.Equal(t, tt.want, got.code, "%s%s", got.stdout, got.stderr)
		})
	}
}

func TestCheckFormats(t *testing.T) {
	project(t, map[string]string{"src/leak.py": leak})
	text := graphleak(t, "", "check").stdout
	assert.Regexp(t, `^`+filepath.FromSlash("src/leak.py")+`:11:23: warning: `, text)
	assert.Contains(t, text, "\n   11 |         total_loss += loss\n      |                       ^^^^\n")
	assert.Contains(t, text, "Found 1 warning in 1 of 1 file.")

	github := graphleak(t, "", "check", "--format=github").stdout
	assert.True(t, strings.HasPrefix(github, "::warning file=src/leak.py,line=11,endLine=11,col=23,endColumn=27,"), github)

	report, err := sarif.FromString(graphleak(t, "", "check", "--format=sarif").stdout)
	require.NoError(t, err)
	require.NoError(t, report.Validate())
	assert.Len(t, report.Runs[0].Results, 1)
}

func TestCheckOrderDoesNotDependOnTheCores(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b/c", "b", "d/e/f", "z", "m"} {
		files[name+".py"] = leak
	}
	project(t, files)
	report, _ := checkJSON(t, "")
	var paths []string
	for _, f := range report.Findings {
		paths = append(paths, f.Path)
	}
	assert.Equal(t, []string{"a.py", "b.py", "b/c.py", "d/e/f.py", "m.py", "z.py"}, paths)
	assert.Equal(t, len(files), report.Files)
	for range 5 {
		again, _ := checkJSON(t, "")
		assert.Equal(t, report, again)
	}
}

func TestCheckDoesTheRestOfWhatItCannotRead(t *testing.T) {
	project(t, map[string]string{
		"leak.py":   leak,
		"latin.py":  "name = 'caf\xe9'\n",
		"huge.py":   strings.Repeat("x = 1\n", syntax.MaxBytes/6+1),
		"long.py":   strings.Repeat("x\n", syntax.MaxLines+1),
		"binary.py": "\x7fELF\x00\x00\x01\xff",
		"broken.py": strings.Replace(leak, "optimizer.step()", "optimizer.step(", 1) + "\n\n" + strings.Replace(strings.TrimPrefix(leak, "import torch\n"), "def train", "def again", 1),
		"notes.txt": "not Python",
	})
	require.NoError(t, os.Symlink(".", "loop"))
	report, code := checkJSON(t, "", ".", "notes.txt")
	assert.Equal(t, exitFindings, code)

	found := make(map[string]int)
	for _, f := range report.Findings {
		found[f.Path]++
	}
	assert.Equal(t, 1, found["leak.py"])
	assert.True(t, slices.ContainsFunc(report.Findings, func(f checkFinding) bool {
		return f.Path == "broken.py" && f.Range.Start.Line > strings.Count(leak, "\n")
	}), "the undamaged function of broken.py is checked")
	skipped := make(map[string]string)
	for _, s := range report.Skipped {
		assert.NotContains(t, s.Reason, "\n")
		skipped[s.Path] = s.Reason
	}
	assert.Contains(t, skipped["latin.py"], "UTF-8")
	assert.Equal(t, "larger than 1 MiB", skipped["huge.py"])
	assert.Contains(t, skipped["long.py"], "lines")
	assert.Contains(t, skipped["loop"], "directory loop")
	assert.Contains(t, skipped["notes.txt"], "not a Python file")
	assert.Contains(t, skipped["broken.py"], "syntax error")
	assert.NotEmpty(t, skipped["binary.py"])
}

// The model of the example is in a file of its own.
func TestEvidenceInOtherFilesHasItsPlace(t *testing.T) {
	t.Chdir("testdata")
	report, _ := checkJSON(t, "", "example/train.py")
	require.NotEmpty(t, report.Findings)
	lines := strings.Split(readFile(t, "example/model.py"), "\n")
	abroad := 0
	for _, f := range report.Findings {
		for _, e := range f.Evidence {
			if e.Path == "example/train.py" {
				continue
			}
			abroad++
			assert.Equal(t, "example/model.py", e.Path)
			quoted := lines[e.Range.Start.Line-1][e.Range.Start.Column-1 : e.Range.End.Column-1]
			assert.Contains(t, e.Message, quoted)
		}
	}
	assert.NotZero(t, abroad)

	abs, err := filepath.Abs(filepath.Join("example", "train.py"))
	require.NoError(t, err)
	report, _ = checkJSON(t, "", abs)
	for _, f := range report.Findings {
		for _, e := range f.Evidence {
			assert.True(t, filepath.IsAbs(e.Path), e.Path)
		}
	}
}

// A repaired file is seen by the files that import it.
func TestImportsAreNotFollowedWhereTheUserDoesNotWantIt(t *testing.T) {
	project(t, map[string]string{"meter.py": "kept = []\n\n\ndef keep(value):\n    kept.append(value)\n", "train.py": `import torch
from meter import keep


def train(model: torch.nn.Module, loader, criterion: torch.nn.CrossEntropyLoss):
    for x, y in loader:
        keep(criterion(model(x), y))
`})
	report, _ := checkJSON(t, "")
	assert.Len(t, report.Findings, 1)
	report, _ = checkJSON(t, "", "--no-cross-file")
	assert.Empty(t, report.Findings)
}

func TestFixReportsWhatANewRunWould(t *testing.T) {
	project(t, map[string]string{
		"losses.py": "class Meter:\n    def __init__(self):\n        self.total = 0.0\n\n    def update(self, value):\n        self.total += value\n",
		"main.py":   strings.NewReplacer("import torch\n", "import torch\nfrom losses import Meter\n", "total_loss = 0.0", "meter = Meter()", "total_loss += loss", "meter.update(loss)", "total_loss:.3f", "meter.total:.3f").Replace(leak),
	})
	fixed := graphleak(t, "", "check", "--fix")
	again := graphleak(t, "", "check")
	assert.Equal(t, again.code, fixed.code)
	assert.Equal(t, again.stdout, fixed.stdout)
}

func TestAFaultInOneFileIsReported(t *testing.T) {
	o, err := survive("a.py", func() (outcome, error) {
		var none []int
		return outcome{fixes: none[len(none)]}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, "a.py", o.path)
	assert.Contains(t, o.skipped, "internal error")
	assert.Contains(t, o.skipped, "index out of range")
}

func TestCheckOfStandardInput(t *testing.T) {
	project(t, nil)
	report, code := checkJSON(t, leak, "--stdin-filename=src/new.py")
	assert.Equal(t, exitFindings, code)
	require.Len(t, report.Findings, 1)
	assert.Equal(t, "src/new.py", report.Findings[0].Path)

	report, _ = checkJSON(t, leak, "-")
	require.Len(t, report.Findings, 1)
	assert.Equal(t, "-", report.Findings[0].Path)

	report, code = checkJSON(t, strings.Repeat("x = 1\n", syntax.MaxBytes), "-")
	assert.Equal(t, exitClean, code)
	require.Len(t, report.Skipped, 1)
	assert.Contains(t, report.Skipped[0].Reason, "larger")
}

func TestFixOfStandardInputGoesToStandardOutput(t *testing.T) {
	project(t, nil)
	got := graphleak(t, leak, "check", "--fix", "-")
	assert.Equal(t, exitClean, got.code)
	assert.Equal(t, strings.Replace(leak, "total_loss += loss", "total_loss += loss.detach()", 1), got.stdout)
	assert.Contains(t, got.stderr, "No leaks found")
}

func TestFix(t *testing.T) {
	fixed := strings.Replace(leak, "total_loss += loss", "total_loss += loss.detach()", 1)
	crlf := strings.NewReplacer("\n", "\r\n")
	project(t, map[string]string{
		"unix.py":    leak,
		"windows.py": crlf.Replace(leak),
		"marked.py":  "\ufeff" + leak,
		"twice.py":   leak + strings.Replace(leak, "def train", "def again", 1),
		"unicode.py": strings.Replace(leak, "        total_loss +=", "        größe = '損失'; total_loss +=", 1),
		"clean.py":   clean,
	})
	require.NoError(t, os.Chmod("unix.py", 0o754))
	require.NoError(t, os.Symlink("unix.py", "link.py"))
	before, err := os.Stat("clean.py")
	require.NoError(t, err)

	got := graphleak(t, "", "check", "--fix")
	assert.Equal(t, exitClean, got.code, got.stdout)
	assert.Equal(t, "Fixes applied: 6.\n", got.stderr)
	assert.Contains(t, got.stdout, "No leaks found in 6 files.")

	assert.Equal(t, fixed, readFile(t, "unix.py"))
	assert.Equal(t, crlf.Replace(fixed), readFile(t, "windows.py"))
	assert.Equal(t, "\ufeff"+fixed, readFile(t, "marked.py"))
	assert.Equal(t, fixed+strings.Replace(fixed, "def train", "def again", 1), readFile(t, "twice.py"))
	assert.Contains(t, readFile(t, "unicode.py"), "größe = '損失'; total_loss += loss.detach()\n")
	if runtime.GOOS != "windows" {
		info, err := os.Stat("unix.py")
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o754), info.Mode().Perm())
	}
	link, err := os.Lstat("link.py")
	require.NoError(t, err)
	assert.NotZero(t, link.Mode()&fs.ModeSymlink, "a link stays a link")
	after, err := os.Stat("clean.py")
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "a file without fixes is not touched")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, entries, 7, "no temporary file is left")
}

// TestFixesKeepTheFormOfAFile: fixes that add and indent lines, in files of all
// forms, change those lines only.
func TestFixesKeepTheFormOfAFile(t *testing.T) {
	const before = `"""Évaluation."""
from __future__ import annotations

import torch.nn as nn


def evaluate(model: nn.Linear, batches):
    model.eval()
    hits = 0   # trailing

    for x, y in batches:
        # own line

        hits += (model(x).argmax(1) == y).sum().item()   # trailing
        text = """
 kept
"""
    # below
    model.train()
    for x, y in batches:
        model(x).sum().backward()
    print(hits)
`
	const after = `"""Évaluation."""
from __future__ import annotations

import torch
import torch.nn as nn


def evaluate(model: nn.Linear, batches):
    model.eval()
    hits = 0   # trailing

    with torch.no_grad():
        for x, y in batches:
            # own line

            hits += (model(x).argmax(1) == y).sum().item()   # trailing
            text = """
 kept
"""
    # below
    model.train()
    for x, y in batches:
        model(x).sum().backward()
    print(hits)
`
	latin := func(s string) string { return "# -*- coding: latin-1 -*-\n" + strings.ReplaceAll(s, "É", "\xc9") }
	forms := map[string]func(string) string{
		"plain.py":   func(s string) string { return s },
		"windows.py": strings.NewReplacer("\n", "\r\n").Replace,
		"marked.py":  func(s string) string { return "\ufeff" + s },
		"latin.py":   latin,
		"tabs.py":    strings.NewReplacer("    ", "\t").Replace,
		"two.py":     strings.NewReplacer("    ", "  ").Replace,
		"open.py":    func(s string) string { return strings.TrimSuffix(s, "\n") },
	}
	files := map[string]string{}
	for name, form := range forms {
		files[name] = form(before)
	}
	project(t, files)
	got := graphleak(t, "", "check", "--fix")
	assert.Equal(t, exitClean, got.code, got.stdout)
	for name, form := range forms {
		assert.Equal(t, form(after), readFile(t, name), name)
	}
	assert.Equal(t, "Fixes applied: 0.\n", graphleak(t, "", "check", "--fix").stderr)
}

// TestFixesOfAllFilesGoOnUntilNothingIsLeft: what one file gives another shows in
// it once the first is fixed.
func TestFixesOfAllFilesGoOnUntilNothingIsLeft(t *testing.T) {
	files := map[string]string{
		"losses.py": `import torch.nn.functional as F
from torch import nn


def epoch(model: nn.Module, batches, optimizer):
    total = 0.0
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total
`,
		"train.py": `from losses import epoch


def train(model, epochs, batches, optimizer):
    totals = []
    for _ in epochs:
        totals.append(epoch(model, batches, optimizer))
    print(len(totals))
`,
	}
	project(t, files)
	diff := graphleak(t, "", "check", "--diff")
	fixed := graphleak(t, "", "check", "--fix")
	assert.Equal(t, "Fixes applied: 0.\n", graphleak(t, "", "check", "--fix").stderr)
	for name := range files {
		for line := range strings.Lines(readFile(t, name)) {
			if strings.Contains(line, "detach") {
				assert.Contains(t, diff.stdout, "+"+line, "the diff is what the fix does")
			}
		}
	}
	assert.Contains(t, readFile(t, "losses.py"), "total += loss.detach()")
	assert.NotContains(t, fixed.stderr, "undo")
}

// TestFixesWhatOtherFilesSeeOfTheWholeProject: what an importing file does decides
// whether a fix is safe. Where files are not looked at, it is not.
func TestFixesWhatOtherFilesSeeOfTheWholeProject(t *testing.T) {
	const trainer = `import torch.nn.functional as F
from torch import nn


class Evaluator:
    def __init__(self, model: nn.Module):
        self.model, self.total = model, 0.0

    def run(self, batches):
        for x, y in batches:
            self.total += F.mse_loss(self.model(x), y)
`
	fixed := strings.Replace(trainer, "y)\n", "y).detach()\n", 1)
	for name, c := range map[string]struct {
		main  string
		files map[string]string
		args  []string
		want  string
	}{
		"a number is printed":      {"print(Evaluator(m).total)", nil, nil, fixed},
		"a backward runs":          {"Evaluator(m).total.backward()", nil, nil, trainer},
		"a notebook runs one":      {"pass", map[string]string{"explore.ipynb": notebookWith("import trainer\ntrainer.Evaluator(m).total.backward()")}, nil, trainer},
		"an excluded file does":    {"pass", map[string]string{"old/a.py": "import trainer\ntrainer.Evaluator(m).total.backward()\n", "pyproject.toml": "[tool.graphleak]\nexclude = ['old']\n"}, nil, trainer},
		"one file":                 {"print(Evaluator(m).total)", nil, []string{"trainer.py"}, trainer},
		"two files":                {"print(Evaluator(m).total)", nil, []string{"trainer.py", "main.py"}, trainer},
		"each file by itself":      {"print(Evaluator(m).total)", nil, []string{"--no-cross-file"}, trainer},
		"a package for others":     {"print(Evaluator(m).total)", map[string]string{"setup.py": "", "__init__.py": ""}, nil, trainer},
		"scripts beside a package": {"print(Evaluator(m).total)", map[string]string{"setup.py": ""}, nil, fixed},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"trainer.py": trainer, "main.py": "from trainer import Evaluator\n" + c.main + "\n"}
			maps.Copy(files, c.files)
			project(t, files)
			graphleak(t, "", append([]string{"check", "--fix"}, c.args...)...)
			assert.Equal(t, c.want, readFile(t, "trainer.py"))
		})
	}
}

// notebookWith is a notebook of one cell.
func notebookWith(code string) string {
	source, _ := json.Marshal(code)
	return `{"cells": [{"cell_type": "code", "source": ` + string(source) + `, "outputs": [], "metadata": {}, "execution_count": null}],
"metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}`
}

func TestFixThroughALink(t *testing.T) {
	project(t, map[string]string{"real/leak.py": leak})
	require.NoError(t, os.Mkdir("links", 0o755))
	require.NoError(t, os.Symlink(filepath.Join("..", "real", "leak.py"), filepath.Join("links", "leak.py")))
	got := graphleak(t, "", "check", "--fix", "links")
	assert.Equal(t, exitClean, got.code, got.stderr)
	assert.Contains(t, readFile(t, "real/leak.py"), "loss.detach()")
	info, err := os.Lstat(filepath.Join("links", "leak.py"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeSymlink)
}

func TestFixLeavesAFileThatChanged(t *testing.T) {
	project(t, map[string]string{"a.py": "new text\n"})
	err := replace("a.py", []byte("old text\n"), []byte("fixed text\n"))
	assert.ErrorContains(t, err, "changed")
	assert.Equal(t, "new text\n", readFile(t, "a.py"))
}

func TestDiffChangesNothing(t *testing.T) {
	project(t, map[string]string{"leak.py": leak, "clean.py": clean})
	for _, args := range [][]string{{"--diff"}, {"--diff", "--fix"}} {
		got := graphleak(t, "", append([]string{"check"}, args...)...)
		assert.Equal(t, exitFindings, got.code)
		assert.Equal(t, `--- leak.py
+++ leak.py
@@ -8,5 +8,5 @@
         loss = criterion(model(x), y)
         loss.backward()
         optimizer.step()
-        total_loss += loss
+        total_loss += loss.detach()
     print(f"{total_loss:.3f}")
`, got.stdout)
		assert.Equal(t, "Findings now: 1, after these changes: 0.\n", got.stderr)
		assert.Equal(t, leak, readFile(t, "leak.py"))
	}
}

func TestProgressIsForTerminalsOnly(t *testing.T) {
	project(t, map[string]string{"leak.py": leak})
	assert.Empty(t, graphleak(t, "", "check").stderr)
}
