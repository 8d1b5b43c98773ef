package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the program prints into README.md")

// consoleBlock is a command of the README with what it prints.
var consoleBlock = regexp.MustCompile("(?s)```console\n\\$ graphleak ([^\n|]+?)(?: \\| head -(\\d+))?\n(.*?)```")

// The README shows what the program prints for the example, word for word. To
// take over a change: go test -run Readme . -update
func TestReadmeShowsWhatTheProgramPrints(t *testing.T) {
	readme := readFile(t, "README.md")
	root, err := os.Getwd()
	require.NoError(t, err)
	t.Chdir("testdata/example")

	blocks := 0
	got := consoleBlock.ReplaceAllStringFunc(readme, func(block string) string {
		blocks++
		m := consoleBlock.FindStringSubmatch(block)
		printed := graphleak(t, "", strings.Fields(m[1])...)
		assert.NotEqual(t, exitFailure, printed.code, printed.stderr)
		lines := strings.SplitAfter(printed.stdout, "\n")
		if m[2] != "" {
			n, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			lines = lines[:min(n, len(lines))]
		}
		if !*update {
			assert.Equal(t, strings.Join(lines, ""), m[3], "the output of graphleak %s", m[1])
		}
		return strings.TrimSuffix(block, m[3]+"```") + strings.Join(lines, "") + "```"
	})
	assert.NotZero(t, blocks)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, "README.md"), []byte(got), 0o644))
	}
}
