package notebook

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

// saved is a notebook as Jupyter writes it, with what is not Python in between.
const saved = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": ["# Training\n", "for x in y"]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "metadata": {"tags": []},
   "outputs": [{"output_type": "stream", "text": ["total_loss\n"], "name": "stdout"}],
   "source": [
    "import torch\n",
    "total_loss = 0"
   ]
  },
  {"cell_type": "code", "metadata": {}, "source": "note = \"\u00e9\ud83d\ude00\"; total_loss += loss\nprint(1)"},
  {"cell_type": "code", "metadata": {"vscode": {"languageId": "julia"}}, "source": "x = 1"},
  {"cell_type": "raw", "metadata": {}, "source": "raw"},
  {"cell_type": "code", "metadata": {}, "source": []}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python", "version": "3.11"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func parse(t testing.TB, data string) *File {
	t.Helper()
	f, err := Parse([]byte(data))
	require.NoError(t, err)
	return f
}

// sources are the texts of the cells of f.
func sources(f *File) []string {
	var out []string
	for i := range f.Len() {
		span := f.Cell(i)
		out = append(out, string(f.Text()[span.Start:span.End]))
	}
	return out
}

func TestPythonCellsAreRead(t *testing.T) {
	f := parse(t, saved)
	assert.Equal(t, []string{"import torch\ntotal_loss = 0", "note = \"é😀\"; total_loss += loss\nprint(1)", ""}, sources(f))
	for i, number := range []int{2, 3, 6} {
		assert.Equal(t, number, f.Number(i))
	}
}

func TestNotebooksOfOtherLanguagesHaveNoPython(t *testing.T) {
	for metadata, cells := range map[string]int{
		`{}`: 1, `{"kernelspec":{"language":"python"}}`: 1, `{"language_info":{"name":"Python3"}}`: 1, `7`: 1, `{"kernelspec":"x"}`: 1,
		`{"kernelspec":{"language":"julia"}}`: 0, `{"language_info":{"name":"R"}}`: 0,
	} {
		f := parse(t, `{"metadata":`+metadata+`,"nbformat":4,"cells":[{"cell_type":"code","source":"x"}]}`)
		assert.Equal(t, cells, f.Len(), metadata)
	}
}

func TestWhatIsNoNotebookIsRefused(t *testing.T) {
	for data, want := range map[string]string{
		"":                               "it ends in the middle",
		"{":                              "it ends in the middle",
		saved[:len(saved)/2]:             "it ends in the middle",
		"[]":                             "it has not the structure of one",
		"x = 1":                          "invalid character 'x'",
		`{"nbformat":4}`:                 "there are no cells",
		`{"nbformat":3,"worksheets":[]}`: "before 2015",
		`{"cells":7}`:                    "it has not the structure of one",
		`{"cells":[7]}`:                  "it has not the structure of one",
		`{"cells":[{"source":{}}]}`:      "it has not the structure of one",
		`{"cells":[{"source":[7]}]}`:     "it has not the structure of one",
		`{"cells":[]} x`:                 "it has not the structure of one",
	} {
		_, err := Parse([]byte(data))
		require.Error(t, err, data)
		assert.Contains(t, err.Error(), want, data)
	}
}

func TestSpansLeadToTheFile(t *testing.T) {
	f := parse(t, saved)
	for text, raw := range map[string]string{
		"torch": "torch", "import torch\n": `import torch\n`, "é😀": `\u00e9\ud83d\ude00`, "total_loss += loss": "total_loss += loss",
		"torch\ntotal": "torch\\n\",\n    \"total",
	} {
		at := strings.Index(string(f.Text()), text)
		require.Positive(t, at)
		span, ok := f.Raw(spanOf(at, text))
		require.True(t, ok)
		assert.Equal(t, raw, saved[span.Start:span.End])
	}
	_, ok := f.Raw(f.Cell(2))
	assert.False(t, ok, "an empty cell has no string")
}

func spanOf(at int, s string) text.Span { return text.Span{Start: at, End: at + len(s)} }

func TestEditsChangeTheirLinesOnly(t *testing.T) {
	for _, c := range []struct{ name, old, new, rawOld, rawNew string }{
		{"in a line", "total_loss = 0", "total_loss = 0.0", `"total_loss = 0"`, `"total_loss = 0.0"`},
		{"in a string", "+= loss\nprint(1)", "+= loss.detach()\nprint(1)", `loss\nprint`, `loss.detach()\nprint`},
		{"characters that have to be escaped", "total_loss = 0", `s = "\t"`, `"total_loss = 0"`, `"s = \"\\t\""`},
		{"characters that need not be", "total_loss = 0", "s = '<é😀>'", `"total_loss = 0"`, `"s = '<é😀>'"`},
		{"a new line in front", "total_loss = 0", "x = 1\ntotal_loss = 0", "    \"total_loss", "    \"x = 1\\n\",\n    \"total_loss"},
		{"new lines at the end", "total_loss = 0", "total_loss = 0\nx = 1\ny = 2", "\"total_loss = 0\"\n", "\"total_loss = 0\\n\",\n    \"x = 1\\n\",\n    \"y = 2\"\n"},
		{"a line end at the end", "total_loss = 0", "total_loss = 0\n", `"total_loss = 0"`, `"total_loss = 0\n"`},
		{"a new line in a string", "print(1)", "print(1)\nprint(2)", `print(1)"`, `print(1)\nprint(2)"`},
		{"a line goes", "import torch\n", "", "\"import torch\\n\",\n    ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, saved)
			got, err := f.With([]byte(strings.Replace(string(f.Text()), c.old, c.new, 1)))
			require.NoError(t, err)
			require.Contains(t, saved, c.rawOld)
			assert.Equal(t, strings.Replace(saved, c.rawOld, c.rawNew, 1), string(got))
		})
	}
	f := parse(t, saved)
	_, err := f.With([]byte(strings.TrimSuffix(string(f.Text()), "\n") + "x\n"))
	require.ErrorIs(t, err, errNoString)
	_, err = f.With(nil)
	require.ErrorIs(t, err, ErrCellsChanged)
}

// Whatever becomes of a cell, the file is valid, has the new text, and differs
// in nothing else.
func TestRandomEditsOfFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "\n", "é", "😀", "\"", "\\", "\\n", "\t", "</x>", "b = 1\n", "\u2028", "\x01"}
	word := func() string {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 3000 {
		var cells []string
		for range 1 + random.IntN(3) {
			cells = append(cells, word())
		}
		data := write(t, random, cells)
		f := parse(t, string(data))
		require.Equal(t, cells, sources(f))
		i := random.IntN(len(cells))
		if len(cells[i]) == 0 {
			continue
		}
		cells[i] = word()
		got, err := f.With(join(cells...).Text())
		require.NoError(t, err)
		again := parse(t, string(got))
		require.Equal(t, cells, sources(again), "%s\n%s", data, got)
		require.Equal(t, withoutSources(t, data), withoutSources(t, got))
	}
}

// write writes a notebook in one of the forms that are in use.
func write(t *testing.T, random *rand.Rand, cells []string) []byte {
	var list []any
	for _, c := range cells {
		var source any = c
		if random.IntN(3) > 0 {
			lines := strings.SplitAfter(c, "\n")
			if lines[len(lines)-1] == "" {
				lines = lines[:len(lines)-1]
			}
			source = lines
		}
		list = append(list, map[string]any{"cell_type": "code", "source": source, "outputs": []string{c}})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(random.IntN(2) == 0)
	encoder.SetIndent("", strings.Repeat(" ", random.IntN(3)))
	require.NoError(t, encoder.Encode(map[string]any{"cells": list, "nbformat": 4}))
	return b.Bytes()
}

func withoutSources(t *testing.T, data []byte) any {
	var v map[string]any
	require.NoError(t, json.Unmarshal(data, &v))
	for _, cell := range v["cells"].([]any) {
		delete(cell.(map[string]any), "source")
	}
	return v
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(saved))
	f.Add([]byte(`{"cells":[{"cell_type":"code","source":["\ud800","\udc00\"",""]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		for at := range len(file.Text()) {
			raw, ok := file.Raw(text.Span{Start: at, End: at + 1})
			require.True(t, !ok || 0 <= raw.Start && raw.Start <= raw.End && raw.End <= len(data))
		}
		if bytes.Count(file.Text(), []byte(syntax.CellMarker)) == file.Len() {
			same, err := file.With(file.Text())
			require.NoError(t, err)
			require.Equal(t, string(data), string(same))
		}
	})
}
