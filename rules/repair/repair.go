// Package repair applies the fixes of findings to a source.
//
// Fixes of one check may touch the same text, and one fix may bring out
// another finding, so fixes are applied in rounds: all that do not meet each
// other at once, then the result is checked again, until nothing is left to
// apply.
package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// maxRounds bounds the work on one source. Each round applies at least one
// fix, so only fixes that undo one another come near it.
const maxRounds = 100

// Outcome is a source after its fixes.
type Outcome struct {
	Text    []byte       // the source's own text if nothing was applied
	Applied int          // number of fixes applied
	Report  rules.Report // what is left in Text
}

// Check is how a source is checked; see [rules.Checker.Check].
type Check func(context.Context, rules.Source) (rules.Report, error)

// Apply takes the report of src and applies for each finding its first fix that
// is safe, or its first fix at all if unsafe is set. Fixes that edit other files
// are left alone. It fails if fixes break the syntax of the source or undo each
// other; the text of its error is one line for a person.
func Apply(ctx context.Context, check Check, src rules.Source, report rules.Report, unsafe bool) (Outcome, error) {
	out := Outcome{Text: src.Text, Report: report}
	damaged := len(report.Damaged)
	for range maxRounds {
		edits, applied := Select(src.Path, firstOfEach(src.Path, out.Report.Findings, unsafe), unsafe)
		if applied == 0 {
			return out, nil
		}
		fixed, err := text.Apply(out.Text, edits)
		if err != nil {
			return Outcome{}, fmt.Errorf("fixes were not applied: %w", err)
		}
		src.Text = fixed
		report, err := check(ctx, src)
		if err != nil {
			return Outcome{}, err
		}
		if report.Skipped != "" || len(report.Damaged) > damaged {
			return Outcome{}, errors.New("fixes were not applied: they would break the syntax")
		}
		out = Outcome{Text: fixed, Applied: out.Applied + applied, Report: report}
	}
	return Outcome{}, errors.New("fixes were not applied: they undo each other")
}

// firstOfEach leaves out findings that may be gone when an earlier one is fixed: they
// have a step of their argument in common. A list that keeps the sum of each epoch
// needs no fix once the sum has one, and a loop under no_grad none at all: what only
// raises the peak comes first.
func firstOfEach(path string, findings []rules.Finding, unsafe bool) []rules.Finding {
	type place struct {
		path string
		span text.Span
	}
	seen := make(map[place]bool)
	peaks := func(f rules.Finding) int {
		if f.Memory == rules.Peak {
			return 0
		}
		return 1
	}
	var out []rules.Finding
	for _, f := range slices.SortedStableFunc(slices.Values(findings), func(a, b rules.Finding) int { return peaks(a) - peaks(b) }) {
		if _, ok := chosen(path, f, unsafe); !ok {
			continue
		}
		waits := slices.ContainsFunc(f.Evidence, func(e rules.Evidence) bool { return seen[place{e.Path, e.Span}] })
		for _, e := range f.Evidence { // what waits for it waits as well
			seen[place{e.Path, e.Span}] = true
		}
		if !waits {
			out = append(out, f)
		}
	}
	return out
}

// Select chooses fixes of findings that can be applied together to the source
// at path, and returns their edits and how many fixes they are. Where fixes
// meet, the one of the first finding is chosen.
func Select(path string, findings []rules.Finding, unsafe bool) (edits []text.Edit, fixes int) {
	for _, finding := range findings {
		fix, ok := chosen(path, finding, unsafe)
		if !ok {
			continue
		}
		added, ok := disjoint(edits, fix.Edits)
		if !ok {
			continue
		}
		edits = append(edits, added...)
		fixes++
	}
	return edits, fixes
}

// chosen is the fix of a finding that is applied to the source at path.
func chosen(path string, f rules.Finding, unsafe bool) (rules.Fix, bool) {
	i := slices.IndexFunc(f.Fixes, func(fix rules.Fix) bool {
		return (unsafe || fix.Safety == rules.Safe) && len(fix.Edits) > 0 && isLocal(fix, path)
	})
	if i < 0 {
		return rules.Fix{}, false
	}
	return f.Fixes[i], true
}

func isLocal(fix rules.Fix, path string) bool {
	return !slices.ContainsFunc(fix.Edits, func(e rules.FileEdit) bool { return e.Path != path })
}

// disjoint returns those of edits that are not in chosen yet, or false if one
// of them touches a different edit in chosen. Edits that merely touch are kept
// apart too: what two insertions at one place mean together is anyone's guess.
func disjoint(chosen []text.Edit, edits []rules.FileEdit) (added []text.Edit, ok bool) {
	for _, edit := range edits {
		if slices.Contains(chosen, edit.Edit) {
			continue
		}
		if slices.ContainsFunc(chosen, func(c text.Edit) bool {
			return c.Start <= edit.End && edit.Start <= c.End
		}) {
			return nil, false
		}
		added = append(added, edit.Edit)
	}
	return added, true
}
