package pages

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/failures"
	"github.com/graphleak/graphleak/rules/leaks"
)

var update = flag.Bool("update", false, "write the related pages anew")

// file is where a page lies.
type file struct {
	path    string
	related []string
}

// files are the pages by id. Those of failures have their related pages in the front
// matter, since the diagnosis reads them; those of rules in the text.
func files(t *testing.T) map[string]file {
	t.Helper()
	out := map[string]file{}
	for _, r := range leaks.All() {
		page, ok := Lookup(leaks.All(), r.Code)
		require.True(t, ok)
		out[r.Code] = file{filepath.Join("..", "leaks", r.Name, "doc.md"), page.Related}
	}
	for _, p := range failures.Pages() {
		out[p.ID] = file{filepath.Join("..", "failures", p.ID+".md"), p.Related}
	}
	return out
}

// relatedTo is the part of a page that leads to others: a link to the file of each,
// and what it is about.
func relatedTo(t *testing.T, all map[string]file, from file) string {
	t.Helper()
	var b strings.Builder
	for _, id := range from.related {
		page, ok := Lookup(leaks.All(), id)
		require.True(t, ok, "%s: there is no page about %s", from.path, id)
		rel, err := filepath.Rel(filepath.Dir(from.path), all[id].path)
		require.NoError(t, err)
		about := page.Title
		if _, finds, isRule := strings.Cut(about, ": "); isRule && page.URL != "" {
			about = finds
		}
		fmt.Fprintf(&b, "- [%s](%s): %s\n", id, filepath.ToSlash(rel), about)
	}
	return b.String()
}

// TestRelatedPages holds what pages say of others to what those are. Run it with
// -update to write it anew.
func TestRelatedPages(t *testing.T) {
	all := files(t)
	for id, f := range all {
		src, err := os.ReadFile(f.path)
		require.NoError(t, err)
		before, rest, found := strings.Cut(string(src), "\n## Related\n")
		require.True(t, found || *update, "%s has no part about related pages", id)
		_, after, more := strings.Cut(rest, "\n## ")
		want := strings.TrimRight(before, "\n") + "\n\n## Related\n\n" + relatedTo(t, all, f)
		if _, isRule := ruleOf(id); !isRule {
			want = strings.Replace(want, "\n\n## Related\n\n", "\n\n## Related\n", 1) // as its other parts
		}
		if more {
			want += "\n## " + after
		}
		if *update {
			require.NoError(t, os.WriteFile(f.path, []byte(want), 0o644))
			continue
		}
		assert.Equal(t, want, string(src), "go test ./rules/pages -update")
		assert.NotEmpty(t, f.related, id)
		assert.NotContains(t, f.related, id)
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(f.related))), len(f.related), "%s names a page twice", id)
	}
}

func ruleOf(id string) (*rules.Rule, bool) {
	i := slices.IndexFunc(leaks.All(), func(r *rules.Rule) bool { return r.Code == id })
	if i < 0 {
		return nil, false
	}
	return leaks.All()[i], true
}

// TestLinksOfPages follows all links: in the repository to files, elsewhere to pages.
func TestLinksOfPages(t *testing.T) {
	linked := regexp.MustCompile(`\]\(([^)]*)\)`)
	for id, f := range files(t) {
		page, ok := Lookup(leaks.All(), id)
		require.True(t, ok)
		assert.Equal(t, id, page.ID)
		for _, m := range linked.FindAllStringSubmatch(page.source, -1) {
			assert.FileExists(t, filepath.Join(filepath.Dir(f.path), m[1]), id)
		}
		assert.Empty(t, linked.FindAllString(page.Text(), -1), id)
		var to []string
		for _, m := range linked.FindAllStringSubmatch(page.Linked(func(id string) string { return "page:" + id }), -1) {
			to = append(to, strings.TrimPrefix(m[1], "page:"))
		}
		assert.Equal(t, page.Related, to, id)
	}
}

// TestPagesLeadToTheRulesTheyName looks for codes in the text of the pages about
// rules: whoever reads of another rule finds it among the related ones.
func TestPagesLeadToTheRulesTheyName(t *testing.T) {
	code := regexp.MustCompile(`GL\d{3}`)
	for _, r := range leaks.All() {
		page, _ := Lookup(leaks.All(), r.Code)
		for _, named := range code.FindAllString(codeBlock.ReplaceAllString(r.Doc, ""), -1) {
			assert.True(t, named == r.Code || slices.Contains(page.Related, named), "%s names %s", r.Code, named)
		}
	}
}

var codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")

func TestLookup(t *testing.T) {
	for topic, want := range map[string]string{"GL101": "GL101", "collect-with-graph": "GL102", "memory.growth": "memory.growth"} {
		page, ok := Lookup(leaks.All(), topic)
		assert.True(t, ok, topic)
		assert.Equal(t, want, page.ID)
	}
	_, ok := Lookup(leaks.All(), "GL999")
	assert.False(t, ok)
}
