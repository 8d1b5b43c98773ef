package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// result is what one run of the command line left behind.
type result struct {
	code           int
	stdout, stderr string
}

// graphleak runs one command line.
func graphleak(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return graphleakContext(t.Context(), stdin, args...)
}

func graphleakContext(ctx context.Context, stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(ctx, &console{Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr}, args)
	return result{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// project writes files below a new directory and makes it the working
// directory.
func project(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.FromSlash(name), []byte(content), 0o644))
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

func TestHelpNamesEveryCommand(t *testing.T) {
	got := graphleak(t, "", "--help")
	assert.Equal(t, exitClean, got.code)
	assert.Empty(t, got.stderr)
	for _, command := range []string{"check", "diagnose", "explain", "serve", "version"} {
		assert.Contains(t, got.stdout, "\n  "+command)
	}
}

func TestVersion(t *testing.T) {
	got := graphleak(t, "", "version")
	assert.Equal(t, exitClean, got.code)
	assert.Regexp(t, `^graphleak \S+ \(go1\.\d+\S*, \w+/\w+\)\n$`, got.stdout)
	assert.Equal(t, got, graphleak(t, "", "--version"))
}

func TestWrongUsage(t *testing.T) {
	project(t, map[string]string{"a.py": ""})
	tests := []struct {
		name string
		args []string
		want string // in the message
	}{
		{"no command", nil, "expected one of"},
		{"unknown command", []string{"chekc"}, "chekc"},
		{"unknown flag", []string{"check", "--formt=json"}, "--formt"},
		{"unknown format", []string{"check", "--format=xml"}, "text"},
		{"unknown severity", []string{"check", "--fail-on=fatal"}, "warning"},
		{"code that is none", []string{"check", "--select=E501"}, "E501"},
		{"code that is none in a list", []string{"check", "--ignore=GL101,nonsense"}, "nonsense"},
		{"unsafe fixes of nothing", []string{"check", "--unsafe-fixes"}, "--fix or --diff"},
		{"diff in another format", []string{"check", "--diff", "--format=json"}, "--diff"},
		{"name for standard input and a path", []string{"check", "--stdin-filename=a.py", "a.py"}, "--stdin-filename"},
		{"standard input and a path", []string{"check", "-", "a.py"}, "standard input"},
		{"missing path", []string{"check", "a.py", "no/such.py"}, filepath.Join("no", "such.py") + ": no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := graphleak(t, "", tt.args...)
			assert.Equal(t, exitFailure, got.code)
			assert.Empty(t, got.stdout)
			assert.True(t, strings.HasPrefix(got.stderr, "graphleak: "), got.stderr)
			assert.Contains(t, got.stderr, tt.want)
			assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %s", got.stderr)
		})
	}
}

func TestInterruptedRunSaysSo(t *testing.T) {
	project(t, map[string]string{"a.py": "x = 1\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := graphleakContext(ctx, "", "check")
	assert.Equal(t, exitFailure, got.code)
	assert.Equal(t, "graphleak: interrupted\n", got.stderr)
}
