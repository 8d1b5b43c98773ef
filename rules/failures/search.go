package failures

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/crash"
)

// maxSearched bounds the text that is searched with: more is no search.
const maxSearched = 64 << 10

// Search finds the pages about a text, best first: those that know a message in
// it, then those that its words stand in, in the id, the title, or anywhere.
func Search(text string) []crash.Page {
	text = text[:min(len(text), maxSearched)]
	pages, _ := load()
	score := make(map[string]int)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, scope := range []crash.Scope{crash.InException, crash.InLine} {
			if id, _ := Recognise(line, scope); id != "" {
				score[id] += 1000
			}
		}
	}
	words := strings.Fields(strings.ToLower(text))
	for i := range pages {
		p := &pages[i]
		score[p.ID] += MatchWords(words, p.ID+" "+p.Title, p.Body)
	}
	found := slices.DeleteFunc(slices.Clone(pages), func(p crash.Page) bool { return score[p.ID] <= 0 })
	slices.SortStableFunc(found, func(a, b crash.Page) int { return cmp.Compare(score[b.ID], score[a.ID]) })
	return found
}

// MatchWords says how well a page fits words in lower case: those in its heading
// count most. It is zero unless all words are there.
func MatchWords(words []string, heading, body string) int {
	heading, body = strings.ToLower(heading), strings.ToLower(body)
	score := 0
	for _, w := range words {
		switch {
		case strings.Contains(heading, w):
			score += 10
		case strings.Contains(body, w):
			score++
		default:
			return 0
		}
	}
	return score
}
