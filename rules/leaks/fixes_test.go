package leaks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// TestEachFixRemovesItsFinding applies each fix of each finding of the fixtures
// alone, safe or not, the first or not. What comes out is Python, no longer has
// the finding, and has nothing that was not there before. So applying a fix again
// finds nothing to do.
func TestEachFixRemovesItsFinding(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		if strings.HasSuffix(path, fixedSuffix) {
			continue
		}
		src := read(t, path)
		findings := check(t, checker, src).Findings
		for _, f := range findings {
			for _, fix := range f.Fixes {
				if slices.ContainsFunc(fix.Edits, func(e rules.FileEdit) bool { return e.Path != path }) {
					continue
				}
				at := fmt.Sprintf("%s:%d %s: %s", path, lineOf(src.Text, f.Span), f.Code, fix.Title)
				var edits []text.Edit
				for _, e := range fix.Edits {
					edits = append(edits, e.Edit)
				}
				fixed, err := text.Apply(src.Text, edits)
				require.NoError(t, err, at)
				report := check(t, checker, rules.Source{Path: path, Text: fixed})
				assert.Empty(t, report.Damaged, "%s breaks the syntax:\n%s", at, fixed)
				for _, problem := range worse(findings, f, report.Findings) {
					t.Errorf("%s: %s", at, problem)
				}
			}
		}
	}
}

// worse says what a fix of one finding left or brought: nothing, if it is good.
// It may remove more than its own finding. Values stay when their graph goes, and
// what only raises the peak is told when the leak that outweighed it is gone.
func worse(before []rules.Finding, fixed rules.Finding, after []rules.Finding) []string {
	left := map[string]int{}
	for _, f := range before {
		left[f.Code]++
	}
	left[fixed.Code]--
	var out []string
	for _, f := range after {
		left[f.Code]--
		switch {
		case left[f.Code] >= 0:
		case f.Memory == rules.Host && fixed.Memory == rules.Device: // it stays there, which is what the fix promises
		case f.Code == fixed.Code:
			out = append(out, "the finding stays: "+f.Message)
		case f.Memory != rules.Peak && f.Keeps != rules.Values && f.Keeps != rules.Storage:
			out = append(out, "it brings "+f.Code+": "+f.Message)
		}
	}
	return out
}
