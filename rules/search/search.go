// Package search finds the pages that a text is about, best first: those whose
// words are rare among all pages and frequent in it. It is the usual ranking by
// words (BM25), over a few hundred short pages that are in memory anyway.
package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Document is a page as the search sees it.
type Document struct {
	ID    string
	Title string
	// Messages are what people have in front of them when they look for the page.
	Messages []string
	Body     string
}

// Index is a set of documents to search.
type Index struct {
	ids     []string
	counts  []map[string]float64 // weighed, by document
	lengths []float64
	average float64
	holders map[string]int // number of documents with a word
}

// A word of the name, the title or a message tells more of what a page is about
// than one of its text.
const (
	nameWeight    = 4
	messageWeight = 2
	bodyWeight    = 1
)

// New makes an index.
func New(documents []Document) *Index {
	x := &Index{holders: make(map[string]int)}
	var total float64
	for _, d := range documents {
		counts := make(map[string]float64)
		add := func(text string, weight float64) {
			for _, w := range words(text) {
				counts[w] += weight
			}
		}
		add(d.ID+" "+d.Title, nameWeight)
		for _, m := range d.Messages {
			add(m, messageWeight)
		}
		add(d.Body, bodyWeight)
		var length float64
		for w, n := range counts {
			x.holders[w]++
			length += n
		}
		x.ids, x.counts, x.lengths = append(x.ids, d.ID), append(x.counts, counts), append(x.lengths, length)
		total += length
	}
	if len(documents) > 0 {
		x.average = total / float64(len(documents))
	}
	return x
}

// Find returns the ids of the documents that have words of the text, best first.
// A word that no document has stands for those that begin like it.
func (x *Index) Find(text string) []string {
	type hit struct {
		id    string
		score float64
	}
	var terms []string
	for _, w := range words(text) {
		for _, t := range x.known(w) {
			if !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		}
	}
	var hits []hit
	for i, id := range x.ids {
		var score float64
		for _, t := range terms {
			score += x.weight(i, t)
		}
		if score > 0 {
			hits = append(hits, hit{id, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	ids := make([]string, 0, len(hits))
	for _, h := range hits {
		ids = append(ids, h.id)
	}
	return ids
}

// weight is what a word contributes to the score of a document (BM25).
func (x *Index) weight(document int, word string) float64 {
	const saturation, normalisation = 1.2, 0.75
	n := x.counts[document][word]
	if n == 0 {
		return 0
	}
	holders := float64(x.holders[word])
	rarity := math.Log(1 + (float64(len(x.ids))-holders+0.5)/(holders+0.5))
	return rarity * n * (saturation + 1) / (n + saturation*(1-normalisation+normalisation*x.lengths[document]/x.average))
}

// known are the words of the index that a word of the text stands for.
func (x *Index) known(word string) []string {
	const stem = 5
	if x.holders[word] > 0 {
		return []string{word}
	}
	if len(word) < stem {
		return nil
	}
	var list []string
	for w := range x.holders {
		if strings.HasPrefix(w, word[:stem]) {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return list
}

// words are those of a text, in lower case. Of numbers only short ones count,
// which may be codes; long ones are of one run.
func words(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(fields, func(w string) bool {
		number := strings.IndexFunc(w, unicode.IsLetter) < 0
		return number && len(w) > 3 || !number && len(w) < 2
	})
}
