package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leakyNotebook sums losses in a loop of one cell; what it sums them in, and the
// model, come from others. The loop stands in the third cell of all.
const leakyNotebook = `{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# total_loss += loss"]},
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": [
    "%matplotlib inline\n",
    "!pip install torch\n",
    "import torch\n",
    "model, criterion = torch.nn.Linear(2, 2), torch.nn.CrossEntropyLoss()\n",
    "total_loss = 0"
   ]},
  {
   "cell_type": "code",
   "execution_count": null,
   "metadata": {},
   "outputs": [],
   "source": [
    "for x, y in loader:\n",
    "    loss = criterion(model(x), y)\n",
    "    loss.backward()\n",
    "    note = \"\u00e9\"; total_loss += loss\n",
    "print(total_loss)"
   ]
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestCheckOfANotebook(t *testing.T) {
	project(t, map[string]string{"train.ipynb": leakyNotebook, ".ipynb_checkpoints/train-checkpoint.ipynb": leakyNotebook})
	const line = `    note = "é"; total_loss += loss`
	column := len([]rune(line)) - len("loss") + 1

	text := graphleak(t, "", "check").stdout
	assert.True(t, strings.HasPrefix(text, "train.ipynb:cell 3:4:31: warning: "), text)
	assert.Contains(t, text, "\n    4 | "+line+"\n", text)
	assert.Contains(t, text, "  train.ipynb:cell 3:2:12  ", "the evidence is in cells, too")
	assert.Contains(t, text, "in 1 of 1 file.")

	report, code := checkJSON(t, "")
	assert.Equal(t, exitFindings, code)
	require.Len(t, report.Findings, 1)
	assert.Empty(t, report.Skipped)
	f := report.Findings[0]
	assert.Equal(t, "GL101", f.Code)
	assert.Equal(t, 3, f.Cell)
	assert.Equal(t, 4, f.Range.Start.Line)
	assert.Equal(t, column, f.Range.Start.Column)
	require.NotEmpty(t, f.Fixes)
	require.NotEmpty(t, f.Fixes[0].Edits)
	assert.Equal(t, 3, f.Fixes[0].Edits[0].Cell)
	assert.Equal(t, column+4, f.Fixes[0].Edits[0].Range.Start.Column)

	// What counts in files counts in the JSON.
	before, _, _ := strings.Cut(leakyNotebook, "loss\\n\",\n    \"print")
	rawLine := strings.Count(before, "\n") + 1
	github := graphleak(t, "", "check", "--format=github").stdout
	assert.Contains(t, github, "file=train.ipynb,line=20,endLine=20,col=43,")
	assert.Equal(t, 20, rawLine)

	run, err := sarif.FromString(graphleak(t, "", "check", "--format=sarif").stdout)
	require.NoError(t, err)
	require.NoError(t, run.Validate())
	result := run.Runs[0].Results[0]
	assert.Equal(t, rawLine, *result.Locations[0].PhysicalLocation.Region.StartLine)
	replacement := result.Fixes[0].ArtifactChanges[0].Replacements[0]
	assert.Equal(t, rawLine, *replacement.DeletedRegion.StartLine)
	assert.Equal(t, 47, *replacement.DeletedRegion.StartColumn)
}

func TestFixOfANotebookChangesTheLineOnly(t *testing.T) {
	project(t, map[string]string{"train.ipynb": leakyNotebook})
	fixed := strings.Replace(leakyNotebook, `total_loss += loss\n`, `total_loss += loss.detach()\n`, 1)

	diff := graphleak(t, "", "check", "--diff")
	assert.Equal(t, 1, strings.Count(diff.stdout, "\n+ "), diff.stdout)
	assert.Contains(t, diff.stdout, `+    "    note = \"\u00e9\"; total_loss += loss.detach()\n",`)

	got := graphleak(t, "", "check", "--fix")
	assert.Equal(t, exitClean, got.code, got.stdout)
	assert.Equal(t, fixed, readFile(t, "train.ipynb"))
	assert.True(t, json.Valid([]byte(readFile(t, "train.ipynb"))))

	got = graphleak(t, leakyNotebook, "check", "--stdin-filename=other.ipynb", "--fix")
	assert.Equal(t, fixed, got.stdout)
}

func TestNotebooksThatCannotBeRead(t *testing.T) {
	project(t, map[string]string{
		"a.ipynb": "x = 1", "b.ipynb": `{"nbformat": 3, "worksheets": []}`,
		"c.ipynb": `{"nbformat": 4, "metadata": {"kernelspec": {"language": "julia"}}, "cells": [{"cell_type": "code", "source": "for x in y ..."}]}`,
		"d.ipynb": `{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1"}, {"cell_type": "code", "source": "def f(:\n  x ="}]}`,
		"e.ipynb": `{"nbformat": 4, "cells": []}`,
	})
	report, code := checkJSON(t, "")
	assert.Equal(t, exitClean, code)
	assert.Equal(t, 5, report.Files)
	require.Len(t, report.Skipped, 3)
	assert.Contains(t, report.Skipped[0].Reason, "not a notebook: ")
	assert.Contains(t, report.Skipped[1].Reason, "before 2015")
	assert.Equal(t, "d.ipynb", report.Skipped[2].Path)
	assert.Equal(t, "syntax errors in cell 2", report.Skipped[2].Reason)
}

// Outputs make notebooks large; that is no reason not to read them.
func TestLargeOutputsAreNoHindrance(t *testing.T) {
	large := strings.Replace(leakyNotebook, `"outputs": []`, `"outputs": [{"data": {"image/png": "`+strings.Repeat("A", 3<<20)+`"}}]`, 1)
	project(t, map[string]string{"train.ipynb": large})
	report, _ := checkJSON(t, "")
	assert.Len(t, report.Findings, 1)
	assert.Equal(t, exitClean, graphleak(t, "", "check", "--fix").code)
	info, err := os.Stat("train.ipynb")
	require.NoError(t, err)
	assert.Equal(t, int64(len(large)+len(".detach()")), info.Size())
}
