package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExplainListNamesEveryPageThatExplainShows(t *testing.T) {
	list := graphleak(t, "", "explain", "list")
	assert.Equal(t, exitClean, list.code)
	lines := strings.Split(strings.TrimSpace(list.stdout), "\n")
	assert.Greater(t, len(lines), 10)
	for _, line := range lines {
		id, title, ok := strings.Cut(line, "  ")
		assert.True(t, ok, line)
		assert.NotEmpty(t, strings.TrimSpace(title), line)
		page := graphleak(t, "", "explain", id)
		assert.Equal(t, exitClean, page.code, id)
		assert.True(t, strings.HasPrefix(page.stdout, id+"\n\n# "), id)
		assert.NotContains(t, page.stdout, "signatures:", "the front matter is for the program")
	}
}

func TestExplainOfAnUnknownTopic(t *testing.T) {
	got := graphleak(t, "", "explain", "GL999")
	assert.Equal(t, exitFailure, got.code)
	assert.Equal(t, "graphleak: there is no page about \"GL999\": graphleak explain list shows all pages\n", got.stderr)
}
