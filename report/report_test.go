package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xeipuuv/gojsonschema"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

const source = `for x, y in loader:
	loss = criterion(model(x), y)  # größer
	größe = "損失"; total += loss
`

// spanOf is where part stands in the source for the last time.
func spanOf(t *testing.T, part string) text.Span {
	t.Helper()
	start := strings.LastIndex(source, part)
	require.GreaterOrEqual(t, start, 0)
	return text.Span{Start: start, End: start + len(part)}
}

func sample(t *testing.T) Result {
	const path = "src/train 1.py"
	stored := spanOf(t, "loss")
	return Result{
		Findings: []rules.Finding{{
			Path: path, Span: stored, Code: "GL101", Rule: "accumulate-with-graph",
			Severity: rules.Error, Message: "`total` keeps 100% of the graph.\nDetach it.",
			Memory: rules.Device, Keeps: rules.Graph, Confidence: rules.High,
			Evidence: []rules.Evidence{
				{Path: path, Span: spanOf(t, "criterion(model(x), y)"), Message: "`loss` gets its graph here"},
				{Path: path, Span: spanOf(t, "total += loss"), Message: "`total` keeps it"},
			},
			Fixes: []rules.Fix{{
				Title: "Add `.detach()`", Safety: rules.Safe,
				Edits: []rules.FileEdit{{Path: path, Edit: text.Edit{Span: text.Span{Start: stored.End, End: stored.End}, New: ".detach()"}}},
			}, {
				Title: "Add `.item()`", Safety: rules.Unsafe,
				Edits: []rules.FileEdit{{Path: path, Edit: text.Edit{Span: text.Span{Start: stored.End, End: stored.End}, New: ".item()"}}},
			}},
		}},
		Sources: read(map[string]string{path: source}),
		Files:   2,
		Skipped: []sources.Skipped{{Path: "data/big.py", Reason: "larger than 10 bytes"}},
		Rules: []*rules.Rule{
			{Code: "GL100", Name: "no-finding"},
			{Code: "GL101", Name: "accumulate-with-graph", Doc: "# A sum keeps graphs\n\nWhy.\n"},
		},
		Version: "1.2.3",
	}
}

// read are sources with the given contents by path.
func read(contents map[string]string) map[string]sources.Source {
	out := make(map[string]sources.Source)
	for path, content := range contents {
		source, err := sources.New(path, []byte(content))
		if err != nil {
			panic(err)
		}
		out[path] = source
	}
	return out
}

func write(t *testing.T, result Result, format Format) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Write(&out, result, format, false))
	return out.String()
}

// The caret stands below the loss, although the line has a tab before it and
// characters of one and two columns that take several bytes.
func TestText(t *testing.T) {
	assert.Equal(t, "src/train 1.py:3:25: error: `total` keeps 100% of the graph.\uFFFDDetach it. [GL101 accumulate-with-graph]\n"+
		`    3 |     größe = "損失"; total += loss
      |                              ^^^^
  src/train 1.py:2:9  `+"`loss` gets its graph here"+`
  src/train 1.py:3:16  `+"`total` keeps it"+`
  fix: Add `+"`.detach()`"+` (--fix)
  fix: Add `+"`.item()`"+` (--fix --unsafe-fixes)

data/big.py: skipped: larger than 10 bytes

Found 1 error in 1 of 2 files (1 path skipped in whole or part). Run again with --fix to repair 1 of them, or with --diff to see how.
Why it matters: graphleak explain GL101
`, write(t, sample(t), Text))
}

func TestTextWithoutFindings(t *testing.T) {
	assert.Equal(t, "No leaks found in 3 files.\n", write(t, Result{Files: 3}, Text))
	assert.Equal(t, "No Python files found.\n", write(t, Result{}, Text))
}

func TestTextColors(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Write(&out, sample(t), Text, true))
	assert.Contains(t, out.String(), "\x1b[31;1merror")
	assert.NotContains(t, write(t, sample(t), Text), "\x1b")
}

// A long line is cut around what it is about, and what stands in a file never
// reaches the terminal as a command.
func TestTextOfHostileLines(t *testing.T) {
	line := strings.Repeat("損失 + ", 300) + "loss" + strings.Repeat(" + x", 300) + "\x1b[2J\u202e"
	span := text.Span{Start: strings.Index(line, "loss"), End: strings.Index(line, "loss") + 4}
	got := write(t, Result{
		Findings: []rules.Finding{
			{Path: "a.py", Code: "GL101", Rule: "r", Severity: rules.Hint, Span: span},
			{Path: "a.py", Code: "GL101", Rule: "r", Severity: rules.Hint, Span: text.Span{Start: 0, End: len(line)}},
			{Path: "b\n.py", Code: "GL101", Rule: "r", Severity: rules.Hint, Span: text.Span{Start: 0, End: 30}},
		},
		Sources: read(map[string]string{"a.py": line, "b\n.py": "f(\n\x1b]0;title\a\n  y)\n"}),
		Files:   2,
	}, Text)
	assert.NotContains(t, got, "\x1b")
	assert.NotContains(t, got, "\u202e")
	assert.NotContains(t, got, "\a")
	lines := strings.Split(got, "\n")
	for _, l := range lines {
		assert.Less(t, len([]rune(l)), 140)
	}
	shown, carets := []rune(lines[1]), lines[2]
	assert.Equal(t, "^^^^", strings.TrimLeft(carets, " |"))
	assert.Contains(t, string(shown), "…")
	assert.Contains(t, string(shown), "loss")
}

func TestJSON(t *testing.T) {
	assert.JSONEq(t, `{
		"version": 1,
		"findings": [{
			"path": "src/train 1.py", "code": "GL101", "rule": "accumulate-with-graph", "severity": "error",
			"message": "`+"`total`"+` keeps 100% of the graph.\nDetach it.",
			"range": {"start": {"line": 3, "column": 25}, "end": {"line": 3, "column": 29}},
			"memory": "device", "keeps": "graph", "confidence": "high",
			"evidence": [
				{"path": "src/train 1.py", "range": {"start": {"line": 2, "column": 9}, "end": {"line": 2, "column": 31}}, "message": "`+"`loss` gets its graph here"+`"},
				{"path": "src/train 1.py", "range": {"start": {"line": 3, "column": 16}, "end": {"line": 3, "column": 29}}, "message": "`+"`total` keeps it"+`"}
			],
			"fixes": [
				{"title": "Add `+"`.detach()`"+`", "safety": "safe", "edits": [{"path": "src/train 1.py", "range": {"start": {"line": 3, "column": 29}, "end": {"line": 3, "column": 29}}, "newText": ".detach()"}]},
				{"title": "Add `+"`.item()`"+`", "safety": "unsafe", "edits": [{"path": "src/train 1.py", "range": {"start": {"line": 3, "column": 29}, "end": {"line": 3, "column": 29}}, "newText": ".item()"}]}
			]
		}],
		"files": 2,
		"skipped": [{"path": "data/big.py", "reason": "larger than 10 bytes"}]
	}`, write(t, sample(t), JSON))
}

func TestJSONHasNoNullLists(t *testing.T) {
	bare := Result{Findings: []rules.Finding{{Path: "a.py", Fixes: []rules.Fix{{}}}}}
	assert.NotContains(t, write(t, bare, JSON), "null")
	assert.JSONEq(t, `{"version": 1, "findings": [], "files": 0, "skipped": []}`, write(t, Result{}, JSON))
}

// requireValidSARIF holds a report, as it is written, to the schema that OASIS
// publishes with the standard.
func requireValidSARIF(t *testing.T, report string) {
	t.Helper()
	assert.Empty(t, sarifFaults(t, report))
}

func sarifFaults(t *testing.T, report string) []string {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join("testdata", "sarif-2.1.0.schema.json"))
	require.NoError(t, err)
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewStringLoader(report))
	require.NoError(t, err)
	var faults []string
	for _, fault := range result.Errors() {
		faults = append(faults, fault.String())
	}
	return faults
}

func TestSchemaFindsFaults(t *testing.T) {
	out := write(t, sample(t), SARIF)
	for old, broken := range map[string]string{
		`"level": "error"`:    `"level": "grave"`,
		`"startLine": 3`:      `"startLine": 0`,
		`"codeFlows"`:         `"stories"`,
		`"artifactChanges"`:   `"changes"`,
		`"unicodeCodePoints"`: `"bytes"`,
	} {
		require.Contains(t, out, old)
		assert.NotEmpty(t, sarifFaults(t, strings.Replace(out, old, broken, 1)), broken)
	}
}

func TestSARIF(t *testing.T) {
	out := write(t, sample(t), SARIF)
	got, err := sarif.FromString(out)
	require.NoError(t, err)
	requireValidSARIF(t, out)
	assert.Equal(t, "2.1.0", got.Version)

	run := got.Runs[0]
	assert.Equal(t, "unicodeCodePoints", *run.ColumnKind)
	assert.Equal(t, "1.2.3", *run.Tool.Driver.Version)
	assert.Equal(t, "accumulate-with-graph", *run.Tool.Driver.Rules[0].Name)
	require.Len(t, run.Tool.Driver.Rules, 1, "those that have findings")
	assert.True(t, strings.HasSuffix(*run.Tool.Driver.Rules[0].HelpURI, "/rules/leaks/accumulate-with-graph/doc.md"))
	assert.Equal(t, "A sum keeps graphs", *run.Tool.Driver.Rules[0].ShortDescription.Text)
	assert.Contains(t, *run.Tool.Driver.Rules[0].Help.Markdown, "Why.")
	require.Len(t, run.Results, 1)
	result := run.Results[0]
	assert.Equal(t, "error", result.Level)
	assert.Equal(t, 0, result.RuleIndex)
	place := result.Locations[0].PhysicalLocation
	assert.Equal(t, "src/train%201.py", *place.ArtifactLocation.URI)
	assert.Equal(t, []int{3, 25, 3, 29}, []int{*place.Region.StartLine, *place.Region.StartColumn, *place.Region.EndLine, *place.Region.EndColumn})
	steps := result.CodeFlows[0].ThreadFlows[0].Locations
	require.Len(t, steps, 2)
	assert.Equal(t, "`loss` gets its graph here", *steps[0].Location.Message.Text)
	require.Len(t, result.Fixes, 2)
	replacement := result.Fixes[0].ArtifactChanges[0].Replacements[0]
	assert.Equal(t, ".detach()", *replacement.InsertedContent.Text)
	assert.Equal(t, 29, *replacement.DeletedRegion.StartColumn)
	note := run.Invocations[0].ToolExecutionNotifications[0]
	assert.Equal(t, "Skipped: larger than 10 bytes", *note.Message.Text)
}

func TestSARIFWithoutFindingsIsValid(t *testing.T) {
	requireValidSARIF(t, write(t, Result{Version: "1"}, SARIF))
	var raw struct {
		Runs []struct{ Results []any }
	}
	require.NoError(t, json.Unmarshal([]byte(write(t, Result{}, SARIF)), &raw))
	assert.NotNil(t, raw.Runs[0].Results, "GitHub wants the list even where it is empty")
}

func TestSARIFKeepsAbsolutePaths(t *testing.T) {
	result := Result{
		Findings: []rules.Finding{{Path: "/home/me/a b.py", Code: "GL101", Rule: "r", Severity: rules.Hint}},
		Sources:  read(map[string]string{"/home/me/a b.py": "x\n"}),
		Rules:    []*rules.Rule{{Code: "GL101", Name: "r", Doc: "# R\n"}},
	}
	got, err := sarif.FromString(write(t, result, SARIF))
	require.NoError(t, err)
	assert.Equal(t, "file:///home/me/a%20b.py", *got.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI)
	assert.Equal(t, "note", got.Runs[0].Results[0].Level)
}

func TestGitHub(t *testing.T) {
	assert.Equal(t, "::error file=src/train 1.py,line=3,endLine=3,col=25,endColumn=29,title=GL101 accumulate-with-graph::`total` keeps 100%25 of the graph.%0ADetach it.\n"+
		"::notice file=data/big.py::skipped: larger than 10 bytes\n", write(t, sample(t), GitHub))

	several := Result{
		Findings: []rules.Finding{{Path: "a,b:c.py", Code: "GL102", Rule: "r", Severity: rules.Hint, Message: "m", Span: text.Span{Start: 0, End: 3}}},
		Sources:  read(map[string]string{"a,b:c.py": "(\n)\n"}),
	}
	assert.Equal(t, "::notice file=a%2Cb%3Ac.py,line=1,endLine=2,title=GL102 r::m\n", write(t, several, GitHub))
}

func TestUnknownFormat(t *testing.T) {
	assert.ErrorContains(t, Write(&bytes.Buffer{}, Result{}, "xml", false), `"xml"`)
}
