package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/graphleak/graphleak/rules"
)

// Selector names rules: a code ("GL101"), the beginning of codes ("GL1") or the
// name of a rule.
type Selector string

// Check fails if s names none of the rules.
func (s Selector) Check(all []*rules.Rule) error {
	var known []string
	for _, r := range all {
		if s.strength(r) > 0 {
			return nil
		}
		known = append(known, r.Code, r.Name)
	}
	return fmt.Errorf("%q names no rule%s Give a code (GL101), the beginning of codes (GL1) or a name; graphleak explain list shows them all", string(s), didYouMean(string(s), known))
}

// strength is how closely s describes a rule, 0 if it does not: a longer
// beginning of its code is closer than a shorter one.
func (s Selector) strength(r *rules.Rule) int {
	switch {
	case s == "":
		return 0
	case string(s) == r.Name:
		return len(r.Code)
	case strings.HasPrefix(r.Code, string(s)):
		return len(s)
	}
	return 0
}

// strongest is the strength of the closest description of a rule.
func strongest(selectors []Selector, r *rules.Rule) int {
	best := 0
	for _, s := range selectors {
		best = max(best, s.strength(r))
	}
	return best
}

// didYouMean ends a sentence about a word that is not known with the one that
// was probably meant, if there is one.
func didYouMean(word string, known []string) string {
	if len(known) == 0 {
		return "."
	}
	distance := func(other string) int {
		return levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(other))
	}
	nearest := slices.MinFunc(known, func(a, b string) int { return distance(a) - distance(b) })
	if distance(nearest) > max(1, len(word)/3) {
		return "."
	}
	return fmt.Sprintf("; did you mean %q?", nearest)
}
