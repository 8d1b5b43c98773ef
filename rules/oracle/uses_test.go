package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLaterUses(t *testing.T) {
	uses, err := readUses(filepath.Join("..", "fixes", "testdata", "uses.tsv"))
	require.NoError(t, err)
	require.NotEmpty(t, uses)
	assert.Contains(t, uses, use{"sum", `"%.4f" % total`}, "quotes are Python's")
	assert.NotContains(t, uses, use{"sum", "total.backward()"}, "it fails where the graph was freed")

	programs := laterUses(uses, 2, 30)
	require.Len(t, programs, 2)
	assert.NotEqual(t, programs[0], programs[1])
	assert.Equal(t, programs, laterUses(uses, 2, 30), "the same are drawn each time")
	assert.Equal(t, 30, strings.Count(programs[0], "\ndef run_"))
	assert.Contains(t, programs[0], "total += loss")
	assert.Contains(t, programs[0], "losses.append(loss)")
	assert.NotContains(t, programs[0], "print(print(")
	assert.NotContains(t, programs[0], "print(for ")
}
