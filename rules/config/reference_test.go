package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules/leaks"
)

// The reference has a row for each key that is read, and for no other.
func TestConfigurationIsDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	require.NoError(t, err)
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(raw), -1) {
		rows = append(rows, m[1])
	}
	assert.ElementsMatch(t, slices.Concat(keys(reflect.TypeFor[options]()), keys(reflect.TypeFor[contracts]())), rows)

	example := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(raw)
	require.NotNil(t, example)
	c, err := parse("pyproject.toml", example[1], leaks.All())
	require.NoError(t, err)
	assert.NotNil(t, c)
}
