package failures

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/search"
)

// Hit is a page that a search found.
type Hit struct {
	ID, Title string
	Rule      bool // the page is that of a rule, not of a failure
	Knows     bool // it knows a message of the text
}

// Bounds on a search: what is longer is no search, and who looks for a page reads
// the first few.
const (
	maxSearched = 64 << 10
	maxHits     = 12
)

// Search finds the pages of rules and of failures that a text is about, best
// first: those that know a message in it, then by the words.
func Search(all []*rules.Rule, text string) []Hit {
	text = text[:min(len(text), maxSearched)]
	hits := make(map[string]Hit)
	var documents []search.Document
	for _, rule := range all {
		hits[rule.Code] = Hit{ID: rule.Code, Title: rule.Title(), Rule: true}
		documents = append(documents, search.Document{ID: rule.Code, Title: rule.Name + " " + rule.Title(), Body: own(rule.Doc)})
	}
	for _, page := range Pages() {
		hits[page.ID] = Hit{ID: page.ID, Title: page.Title}
		d := search.Document{ID: page.ID, Title: page.Title, Body: own(page.Body)}
		for _, s := range page.Signatures {
			d.Messages = append(d.Messages, s.Example)
		}
		documents = append(documents, d)
	}
	var found []Hit
	known := knowing(text)
	for _, id := range known {
		hit := hits[id]
		hit.Knows = true
		found = append(found, hit)
	}
	for _, id := range search.New(documents).Find(text) {
		if !slices.Contains(known, id) {
			found = append(found, hits[id])
		}
	}
	return found[:min(len(found), maxHits)]
}

// own is the text of a page without the part that names others, which would be
// found for what those are about.
func own(page string) string {
	before, rest, _ := strings.Cut(page, "\n## Related\n")
	_, after, _ := strings.Cut(rest, "\n## ")
	return before + "\n" + after
}

// knowing are the ids of the pages that know a message of the text, whether it is
// given with or without the type of its exception.
func knowing(text string) []string {
	var ids []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, message := range []string{line, "RuntimeError: " + line} {
			for _, scope := range []crash.Scope{crash.InException, crash.InLine} {
				if id, _ := Recognise(message, scope); id != "" && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}
