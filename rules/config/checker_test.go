package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// project writes files below a new directory and returns it.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

func newChecker(loader *Loader, layers ...Layer) *Checker {
	return NewChecker(rules.NewChecker(leaks.All()...), rules.Files{}, loader, layers...)
}

// codes are the findings in a file, each a code with its severity.
func codes(t *testing.T, c *Checker, path string) []string {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	report, err := c.Check(t.Context(), rules.Source{Path: path, Text: src})
	require.NoError(t, err)
	out := []string{}
	for _, f := range report.Findings {
		out = append(out, f.Code+" "+string(f.Severity))
	}
	return out
}

const training = `import torch
from torch import nn

model = nn.Linear(2, 1)
total = 0.0
losses = []
for x in loader:
    loss = model(x).mean()
    total += loss
    losses.append(loss)
`

func TestTheNearestFileCounts(t *testing.T) {
	dir := project(t, map[string]string{
		"pyproject.toml":              "[tool.graphleak]\nselect = [\"GL101\"]\n",
		"train.py":                    training,
		"part/pyproject.toml":         "[tool.graphleak]\nseverity = { GL102 = \"hint\" }\n",
		"part/deep/train.py":          training,
		"other/pyproject.toml":        "[project]\nname = \"graphleak-user\"\n",
		"other/train.py":              training,
		"broken/pyproject.toml":       "[tool.graphleak]\nselect = 1\n",
		"broken/train.py":             training,
		"tests/pyproject.toml":        "[tool.graphleak.per-file-ignores]\n\"test_*\" = [\"GL101\"]\n",
		"tests/test_train.py":         training,
		"tests/train.py":              training,
		"nothing/pyproject.toml":      "[tool.graphleak]\nselect = []\n",
		"nothing/train.py":            training,
		"nothing/sub/pyproject.toml":  "[tool.graphleak]\n",
		"nothing/sub/train.py":        training,
		"nothing/sub2/deep/train2.py": training,
	})
	loader := NewLoader(leaks.All())
	checker := newChecker(loader)
	at := func(name string) []string { return codes(t, checker, filepath.Join(dir, filepath.FromSlash(name))) }
	both := []string{"GL101 error", "GL102 error"}
	assert.Equal(t, []string{"GL101 error"}, at("train.py"))
	assert.Equal(t, []string{"GL101 error", "GL102 hint"}, at("part/deep/train.py"), "files are not merged")
	assert.Equal(t, []string{"GL101 error"}, at("other/train.py"), "a file without the table does not count")
	assert.Equal(t, []string{"GL102 error"}, at("tests/test_train.py"))
	assert.Equal(t, both, at("tests/train.py"))
	assert.Empty(t, at("nothing/train.py"))
	assert.Equal(t, both, at("nothing/sub/train.py"), "an empty table counts")
	assert.Empty(t, at("nothing/sub2/deep/train2.py"))
	require.NoError(t, loader.Err())

	assert.Equal(t, []string{"GL101 error"}, at("broken/train.py"), "a file that is wrong is passed over")
	assert.ErrorContains(t, loader.Err(), "graphleak.select has to be a list")

	assert.Equal(t, both, codes(t, newChecker(None()), filepath.Join(dir, "train.py")))
	only, err := Only(filepath.Join(dir, "part", "pyproject.toml"), leaks.All())
	require.NoError(t, err)
	assert.Equal(t, []string{"GL101 error", "GL102 hint"}, codes(t, newChecker(only), filepath.Join(dir, "train.py")))
	_, err = Only(filepath.Join(dir, "other", "pyproject.toml"), leaks.All())
	require.ErrorContains(t, err, "has no table [tool.graphleak]")
	_, err = Only(filepath.Join(dir, "absent.toml"), leaks.All())
	require.ErrorIs(t, err, os.ErrNotExist)

	report, err := checker.Check(t.Context(), rules.Source{Text: []byte(training)})
	require.NoError(t, err)
	assert.Len(t, report.Findings, 2, "what is no file is not configured")
}

func TestLayersOnTop(t *testing.T) {
	dir := project(t, map[string]string{
		"pyproject.toml": "[tool.graphleak]\nignore = [\"GL101\"]\nseverity = { GL1 = \"hint\" }\n",
		"train.py":       training,
	})
	path := filepath.Join(dir, "train.py")
	assert.Equal(t, []string{"GL101 hint"}, codes(t, newChecker(NewLoader(leaks.All()), Layer{Select: []Selector{"GL101"}}), path))
	assert.Empty(t, codes(t, newChecker(NewLoader(leaks.All()), Layer{Ignore: []Selector{"GL1"}}), path))
	on, off := newChecker(NewLoader(leaks.All()), Layer{Select: []Selector{"GL10"}, Ignore: []Selector{"GL102"}}).Chosen(path)
	assert.Contains(t, on, "GL101")
	assert.Contains(t, off, "GL102")
}

func TestTheLastGoodFileStaysInUse(t *testing.T) {
	dir := project(t, map[string]string{"pyproject.toml": "[tool.graphleak]\nignore = [\"GL101\"]\n", "train.py": training})
	path, configured := filepath.Join(dir, "train.py"), filepath.Join(dir, FileName)
	write := func(src string) { require.NoError(t, os.WriteFile(configured, []byte(src), 0o600)) }
	loader := NewLoader(leaks.All())
	assert.Equal(t, []string{"GL102 error"}, codes(t, newChecker(loader), path))

	write("[tool.graphleak]\nignore = [\"GL10\n")
	for range 2 {
		loader = loader.Again()
		assert.Equal(t, []string{"GL102 error"}, codes(t, newChecker(loader), path))
		assert.Len(t, loader.Problems()[configured], 1)
	}
	write("[tool.graphleak]\nignore = [\"GL102\"]\n")
	loader = loader.Again()
	assert.Equal(t, []string{"GL101 error"}, codes(t, newChecker(loader), path))
	require.NoError(t, os.Remove(configured))
	loader = loader.Again()
	assert.Len(t, codes(t, newChecker(loader), path), 2, "a file that is gone says nothing")
	assert.Empty(t, loader.Problems())
}

func TestSourceRootsAndContracts(t *testing.T) {
	dir := project(t, map[string]string{
		"pyproject.toml": `[tool.graphleak]
src = ["python/lib"]

[tool.graphleak.contracts]
detaches = ["lab.to_host"]
`,
		"python/lib/models.py": "from torch import nn\n\n\ndef build():\n    return nn.Linear(2, 1)\n",
		"scripts/train.py": `import torch
from lab import to_host
from models import build

model = build()
total = 0.0
host = 0.0
for x in loader:
    loss = model(x).mean()
    total += loss
    host += to_host(loss)
`,
	})
	path := filepath.Join(dir, "scripts", "train.py")
	assert.Equal(t, []string{"GL101 error"}, codes(t, newChecker(NewLoader(leaks.All())), path))
	assert.Empty(t, codes(t, newChecker(None()), path), "without the root it is not known what build makes")
}
