package failures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules/leaks"
)

func TestPagesAreForPeopleToo(t *testing.T) {
	pages := Pages()
	ids := make(map[string]bool)
	for _, p := range pages {
		ids[p.ID] = true
	}
	for _, rule := range leaks.All() {
		ids[rule.Code] = true
	}
	for _, p := range pages {
		t.Run(p.ID, func(t *testing.T) {
			for _, part := range []string{"# ", "## What it is", "## What you see", "## Why", "## How to confirm", "## Fix", "## Prevent"} {
				assert.Contains(t, p.Body, part)
			}
			for _, related := range p.Related {
				assert.True(t, ids[related], "related to %s, which has no page", related)
			}
			if p.Strength > 0 {
				assert.NotEmpty(t, p.Fixes)
				assert.NotEmpty(t, p.Title)
			}
		})
	}
	got, ok := Lookup("unknown")
	assert.True(t, ok)
	assert.Equal(t, "unknown", got.ID)
	_, ok = Lookup("nothing")
	assert.False(t, ok)
}

// Nobody knows that a page works without a log that it is the answer to. The
// pages that are never the answer have one in which they follow from it.
func TestEveryPageHasALog(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(logs, "*.txt"))
	require.NoError(t, err)
	answered, followed := make(map[string]bool), make(map[string]bool)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		d := diagnose(t, "log", string(text))
		answered[d.Failure] = true
		for _, c := range d.Collateral {
			followed[c.Event] = true
		}
	}
	for _, p := range Pages() {
		assert.True(t, answered[p.ID] || p.Strength == 0 && followed[p.Title], p.ID)
	}
}

const valid = `---
id: family.thing
title: A thing failed
family: family
role: initiating
strength: 4
signatures:
  - name: first
    scope: exception
    literals: ["thing failed"]
    pattern: 'thing failed: %{size:request} of %{int}'
fix:
  - title: Use less than {request}
    detail: Of {what|anything}.
verify:
  command: run
  expect: it runs
---

# Text
`

func TestParse(t *testing.T) {
	p, err := parse("family.thing.md", []byte(valid))
	require.NoError(t, err)
	assert.Equal(t, "family.thing", p.ID)
	assert.Equal(t, "# Text\n", p.Body)
	assert.Equal(t, crash.InException, p.Signatures[0].Scope)
	m := p.Signatures[0].Pattern.FindStringSubmatch("thing failed: 20.00 MiB\n of 3")
	require.NotNil(t, m)
	assert.Equal(t, "20.00 MiB", m[p.Signatures[0].Pattern.SubexpIndex("request")])
}

func TestMistakesInPagesAreExplained(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no front matter":         {"---\nid", "id", "a page starts with front matter"},
		"no end":                  {"---\n\n# Text", "", "does not end"},
		"unknown key":             {"role:", "rule:", "rule"},
		"YAML":                    {"strength: 4", "strength: [", "front matter"},
		"id and name":             {"id: family.thing", "id: family.other", "is called family.other"},
		"no title":                {"title: A thing failed", "title: ''", "title is missing"},
		"no family":               {"family: family", "family: ''", "family is missing"},
		"role":                    {"role: initiating", "role: guilty", `role "guilty" is not one of`},
		"strength":                {"strength: 4", "strength: 9", "not between 0 and 5"},
		"short literal":           {`["thing failed"]`, `["thing"]`, "shorter than 6"},
		"no literal":              {`["thing failed"]`, `[]`, "literals are missing"},
		"scope":                   {"scope: exception", "scope: file", `scope "file" is not one of`},
		"kind of field":           {"%{size:request}", "%{amount:request}", `no kind of field "amount"`},
		"regular expression":      {"%{int}'", "(%{int}'", "signature first"},
		"field of a fix":          {"{request}", "{demand}", "{demand} is no field of a signature"},
		"fix without detail":      {"detail: Of {what|anything}.", "detail: ''", "a title and a detail"},
		"verify without expect":   {"  expect: it runs\n", "", "both command and expect"},
		"no text":                 {"# Text\n", "", "the text is missing"},
		"refines with signatures": {"strength: 4", "strength: 4\nrefines: x", "no signatures of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, valid, c.old)
			_, err := parse("family.thing.md", []byte(strings.Replace(valid, c.old, c.new, 1)))
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	_, err := parseAll(fstest.MapFS{
		"a.md": {Data: []byte("no front matter")}, "b.md": {Data: []byte("neither")}, "family.thing.md": {Data: []byte(valid)},
	})
	assert.ErrorContains(t, err, "a.md")
	assert.ErrorContains(t, err, "b.md")
}

func TestPagesThatDoNotFitTogether(t *testing.T) {
	for name, c := range map[string]struct {
		change func(pages []crash.Page) []crash.Page
		want   string
	}{
		"twice":          {func(p []crash.Page) []crash.Page { return append(p, p[0]) }, "there are two of them"},
		"missing":        {func(p []crash.Page) []crash.Page { return remove(p, "unknown") }, "page unknown is missing"},
		"refines nobody": {func(p []crash.Page) []crash.Page { return changed(p, "refines", "x.y") }, "refines x.y, which does not exist"},
		"refines one that is not refined": {
			func(p []crash.Page) []crash.Page { return changed(p, "refines", "signal.abort") }, "which nothing tells apart",
		},
		"exit code twice": {func(p []crash.Page) []crash.Page { return changed(p, "exit", "") }, "exit code -9 is that of"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := crash.NewKnowledge(c.change(Pages()))
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func remove(pages []crash.Page, id string) []crash.Page {
	var kept []crash.Page
	for _, p := range pages {
		if p.ID != id {
			kept = append(kept, p)
		}
	}
	return kept
}

// changed adds a page that is wrong in one way.
func changed(pages []crash.Page, what, to string) []crash.Page {
	p := crash.Page{ID: "x", Title: "x", Family: "x", Role: crash.RoleInitiating, Body: "x"}
	switch what {
	case "refines":
		p.Refines = to
	case "exit":
		p.ExitCodes = []int{-9}
	}
	return append(pages, p)
}
