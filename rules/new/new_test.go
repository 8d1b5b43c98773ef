package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestTheListIsComplete holds the list of the repository to its folders.
func TestTheListIsComplete(t *testing.T) {
	rules, err := find(filepath.Join(root, "rules", "leaks"))
	require.NoError(t, err)
	want, err := listing(rules)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, "rules", "leaks", "leaks.go"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run go run ./rules/new")
}

// TestANewRule makes a rule in a copy of the repository, which then builds, lists
// it and passes the tests that a rule without findings can pass.
func TestANewRule(t *testing.T) {
	dir := t.TempDir()
	for _, part := range []string{"analyzer", "rules"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(root, part))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), text, 0o644))
	}

	written, err := run(dir, []string{"GL299", "thing-kept-around"})
	require.NoError(t, err)
	for _, path := range written {
		assert.FileExists(t, path)
	}
	assert.Len(t, written, 5)
	command := exec.Command("go", "test", "-trimpath", "-count=1", "-v", "-vet=all", "-run",
		"^(TestPagesHaveTheSameStructure|TestPagesReferToWhatExists|TestFixtures)$/^(GL299|thing-kept-around.*)$", "./rules/leaks")
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "--- PASS: TestPagesHaveTheSameStructure/GL299")
	assert.Contains(t, string(out), "--- PASS: TestFixtures/thing-kept-around")

	_, err = run(dir, []string{"GL298", "thing-kept-around"})
	assert.ErrorContains(t, err, "thing-kept-around is GL299 already")
}

func TestWhatIsNoNewRule(t *testing.T) {
	rules := []rule{{Code: "GL101", Name: "accumulate-with-graph", Package: "accumulate"}, newRule("GL102", "kept-open")}
	for want, given := range map[string][2]string{
		`"L102" is no code`:                             {"L102", "thing-kept"},
		`"GL1000" is no code`:                           {"GL1000", "thing-kept"},
		`"ThingKept" is no name`:                        {"GL103", "ThingKept"},
		`"thing" is no name`:                            {"GL103", "thing"},
		"GL101 is accumulate-with-graph already":        {"GL101", "thing-kept"},
		"accumulate-with-graph is GL101 already":        {"GL103", "accumulate-with-graph"},
		"package keptopen is that of kept-open already": {"GL103", "ke-ptopen"},
	} {
		_, err := chosen(rules, given[0], given[1])
		assert.ErrorContains(t, err, want)
	}
	_, err := run(t.TempDir(), nil)
	assert.ErrorContains(t, err, "run this in the root of the repository")
	_, err = run(root, []string{"GL299"})
	assert.ErrorContains(t, err, "give a code and a name")
}
