package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules/leaks"
)

func TestParse(t *testing.T) {
	c, err := parse("/project/pyproject.toml", []byte(`[project]
name = "x"

[tool.other]
unknown = { nested = [1, 2] }

[tool.graphleak]
select = ["GL1", "evaluation-without-no-grad"]
ignore = ["GL104"]
exclude = ["gen/", "*_pb2.py"]
src = ["lib", "."]
severity = { GL102 = "hint", GL1 = "error" }

[tool.graphleak.per-file-ignores]
"tests/" = ["GL2"]

[tool.graphleak.contracts]
detaches = ["lab.ops.to_host"]
called-each-step = ["lab.Trainer.on_batch"]
`), leaks.All())
	require.NoError(t, err)
	assert.Equal(t, []Selector{"GL1", "evaluation-without-no-grad"}, c.options.Select)
	assert.Equal(t, []string{"/project/lib", "/project"}, c.sources)
	assert.Len(t, c.claims, 2)
	assert.True(t, c.Excludes("/project/deep/msg_pb2.py", false))
	assert.True(t, c.Excludes("/project/gen/deep/a.py", false))
	assert.True(t, c.Excludes("/project/gen", true))
	assert.False(t, c.Excludes("/project/train.py", false))
	assert.False(t, c.Excludes("/elsewhere/gen/a.py", false), "patterns end at the directory of the file")
	assert.Equal(t, []Selector{"GL2"}, c.ignoredIn("/project/tests/deep/test_a.py"))
	assert.Empty(t, c.ignoredIn("/project/train.py"))

	again, err := parse("/project/pyproject.toml", []byte(c.String()), leaks.All())
	require.NoError(t, err, "what is printed can be read")
	assert.Equal(t, c.options, again.options)
}

func TestParseWithoutTheTable(t *testing.T) {
	for name, src := range map[string]string{
		"empty":                              "",
		"of other tools":                     "[tool.ruff]\nselect = [\"E\"]\n",
		"mentioned only":                     "[project]\ndependencies = [\"graphleak\"]\n",
		"wrong, but none of our business":    "[tool.ruff\n",
		"a table of another tool's plugin":   "[tool.other.graphleak]\nselect = 1\n",
		"a byte order mark before the table": "\ufeff[tool.ruff]\n",
	} {
		c, err := parse("pyproject.toml", []byte(src), leaks.All())
		require.NoError(t, err, name)
		assert.Nil(t, c, name)
	}
	c, err := parse("pyproject.toml", []byte("\ufeff[tool.graphleak]\n"), leaks.All())
	require.NoError(t, err)
	assert.NotNil(t, c, "an empty table is one: files above do not count")
}

func TestProblemsHaveTheirPlace(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"no TOML", "[tool.graphleak]\nselect = [\"GL1\n", "p.toml:2:"},
		{"an unknown key", "[tool.graphleak]\nselct = [\"GL1\"]\n", `p.toml:2:1: unknown key "selct" in [tool.graphleak]; did you mean "select"?`},
		{"an unknown table", "[tool.graphleak.severities]\nGL1 = \"hint\"\n", `p.toml:1:2: unknown key "severities" in [tool.graphleak]`},
		{"an unknown contract", "[tool.graphleak.contracts]\ndetach = [\"a.b\"]\n", `p.toml:2:1: unknown key "detach" in [tool.graphleak.contracts]; did you mean "detaches"?`},
		{"no list", "[tool.graphleak]\nselect = \"GL1\"\n", "p.toml:2:10: graphleak.select has to be a list of strings"},
		{"no table", "[tool.graphleak]\nseverity = \"hint\"\n", "p.toml:2:12: graphleak.severity has to be a table"},
		{"no string", "[tool.graphleak.severity]\nGL1 = 3\n", "p.toml:2:7: graphleak.severity.GL1 has to be a string"},
		{"an unknown rule", "[tool.graphleak]\nselect = [\n  \"GL1\",\n  \"GL9\",\n]\n", `p.toml:4:3: "GL9" names no rule`},
		{"a name that is misspelt", "[tool.graphleak]\nignore = [\"acumulate-with-graph\"]\n", `p.toml:2:11: "acumulate-with-graph" names no rule; did you mean "accumulate-with-graph"?`},
		{"an unknown severity", "[tool]\ngraphleak.severity.GL1 = \"eror\"\n", `p.toml:2:20: "eror" is no severity; did you mean "error"?`},
		{"in an inline table", "[tool.graphleak]\nseverity = { GL1 = \"hint\", GL9 = \"hint\" }\n", `p.toml:2:28: "GL9" names no rule`},
		{"a rule for some files", "[tool.graphleak.per-file-ignores]\n\"tests/\" = [\"GL1\", \"X\"]\n", `p.toml:2:20: "X" names no rule`},
		{"a contract for no function", "[tool.graphleak.contracts]\ndetaches = [\"to_host\"]\n", `p.toml:2:13: "to_host" is no dotted name of a function`},
		{"an absolute source root", "[tool.graphleak]\nsrc = [\"/opt\"]\n", `p.toml:2:8: "/opt" is not relative`},
		{"a bad pattern", "[tool.graphleak]\nexclude = [\"a[[:x:]]\"]\n", `p.toml:2:1: unknown POSIX class`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("p.toml", []byte(tt.src), leaks.All())
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAllProblemsAreTold(t *testing.T) {
	_, err := parse("p.toml", []byte("[tool.graphleak]\nselct = []\nignore = [\"GL9\", \"GL8\"]\n"), leaks.All())
	var problems Problems
	require.ErrorAs(t, err, &problems)
	lines := []int{}
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	assert.Equal(t, []int{2, 3, 3}, lines)
}

func FuzzParse(f *testing.F) {
	f.Add("[tool.graphleak]\nselect = [\"GL1\"]\nseverity = { GL1 = \"hnt\" }\n")
	f.Add("tool.graphleak.per-file-ignores.\"a\\\"b\" = [\"X\"]\n[[tool.graphleak.src]]\n")
	f.Add("[tool]\ngraphleak = [{ select = 1 }]\n")
	f.Fuzz(func(t *testing.T, src string) {
		c, err := parse("p.toml", []byte(src), leaks.All())
		if err != nil {
			assert.Nil(t, c)
			var problems Problems
			require.ErrorAs(t, err, &problems)
			for _, p := range problems {
				assert.Positive(t, p.Line)
				assert.Positive(t, p.Column)
			}
		}
	})
}
