package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPosition(t *testing.T) {
	src := []byte("x = 1\né = loss\n")
	assert.Equal(t, [2]int{1, 0}, position(src, 0))
	assert.Equal(t, [2]int{2, 5}, position(src, len("x = 1\né = ")), "columns count bytes")
}

func TestCollect(t *testing.T) {
	leaks := filepath.Join("..", "leaks")
	programs, err := collect(t.Context(), config{rules: leaks, only: []string{"../leaks/accumulate-with-graph/"}})
	require.NoError(t, err)
	byName := map[string]program{}
	for _, p := range programs {
		byName[strings.TrimPrefix(p.Name, "../leaks/accumulate-with-graph/")] = p
	}
	loops := byName["testdata/training_loops.py"]
	require.NotEmpty(t, loops.Findings)
	assert.Equal(t, "detach", loops.Findings[0].Cut)
	require.NotEmpty(t, loops.Variants)
	assert.Contains(t, loops.Variants[0].Source, "running_loss += loss.detach()")
	assert.Empty(t, loops.Variants[0].Findings)

	assert.True(t, byName["testdata/silent_values.py"].silent)
	assert.NotContains(t, byName, "testdata/training_loops.fixed.py")
	assert.Equal(t, "engine", byName["testdata/several_files/engine/loop.py"].Package)
	assert.NotEmpty(t, byName["doc.md#bad-1"].Findings)
	assert.Empty(t, byName["doc.md#good-2"].Findings)
}
