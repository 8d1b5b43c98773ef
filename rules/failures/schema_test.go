package failures

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
)

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
    example: 'thing failed: 2.00 MiB of 7'
fix:
  - title: Use less than {request}
    detail: Of {what|anything}.
verify:
  command: run
  expect: it runs
---

# Text

## What it is
A thing.

## What you see
Its failure.

## Why
It is so.

## How to confirm
Look.

## Fix
Mend it.

## Prevent
Be careful.

## Related
- another page
`

func TestParse(t *testing.T) {
	p, err := parse("family.thing.md", []byte(valid))
	require.NoError(t, err)
	assert.Equal(t, "family.thing", p.ID)
	assert.True(t, strings.HasPrefix(p.Body, "# Text\n"))
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
		"verify without default":  {"expect: it runs", "expect: it asks for {request}", "verify: {request} needs a default"},
		"no text":                 {"# Text\n", "", "the text is missing"},
		"refines with signatures": {"strength: 4", "strength: 4\nrefines: x", "no signatures of its own"},
		"confirms by its role":    {"strength: 4", "strength: 4\nconfirms: [x]", "only a page with the role confirmation"},
		"confidence":              {"strength: 4", "strength: 4\nconfidence: certain", `confidence "certain" is not one of`},
		"no example":              {"    example: 'thing failed: 2.00 MiB of 7'\n", "", "example is missing"},
		"example without literal": {"example: 'thing", "example: 'Thing", "none of the literals is in it"},
		"example not matched":     {"MiB of 7'", "MiB of all'", "the pattern does not match"},
		"role of a signature":     {"    scope: exception", "    scope: exception\n    role: guilty", `role "guilty" is not one of`},
		"strength of a signature": {"    scope: exception", "    scope: exception\n    strength: -1", "not between 0 and 5"},
		"cause of a signature":    {"    scope: exception", "    scope: exception\n    cause: It was {what}.", "{what} is no field of a signature"},
		"a part is missing":       {"## Why\nIt is so.\n", "", "the text has the parts"},
		"a part is empty":         {"It is so.\n", "", `the part "Why" is empty`},
		"the last part is empty":  {"Be careful.\n", "", `the part "Prevent" is empty`},
		"code without end":        {"Mend it.", "```python\nmend()", "a block of code does not end"},
		"signature twice":         {"fix:\n", "  - {name: first, scope: any, literals: [thing f], pattern: thing f, example: thing f}\nfix:\n", "two of that name"},
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
		"confirms nobody": {func(p []crash.Page) []crash.Page { return changed(p, "confirms", "x.y") }, "confirms x.y, which does not exist"},
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
	p, _ := Lookup("unknown")
	p.ID = "x"
	switch what {
	case "confirms":
		p.Role, p.Confirms = crash.RoleConfirmation, []string{to}
	case "refines":
		p.Refines = to
	case "exit":
		p.ExitCodes = []int{-9}
	}
	return append(pages, p)
}
