// Package rules turns what the flow analysis found out about a program into
// findings for people: a code, a severity that follows measured truth, the
// chain of evidence, and fixes.
//
// Each rule lives in its own folder under rules/leaks; each known failure of a
// run is a page under rules/failures.
package rules

import (
	"context"

	"github.com/graphleak/graphleak/analyzer/text"
)

// Source is one Python document to check. Path may be empty for text that is
// not on disk.
type Source struct {
	Path string
	Text []byte
	// Notebook says that the text comes from notebook cells: lines of IPython
	// magics and shell commands are not Python and are blanked.
	Notebook bool
}

// Report is what checking one source gave.
type Report struct {
	Findings []Finding // sorted by Span.Start
	// Skipped is why the source was not analysed, as one line for a person, or
	// empty. A source with syntax errors is not skipped.
	Skipped string
	// Damaged are the parts of the text that could not be parsed. Findings of
	// functions that touch them may be missing.
	Damaged []text.Span
}

// A Checker runs rules over sources. It has no mutable state: one Checker may
// be used by many goroutines.
type Checker struct{}

// NewChecker returns a checker that runs all rules.
func NewChecker() *Checker { return &Checker{} }

// Check analyses one source. It returns an error only when ctx ends first.
func (c *Checker) Check(ctx context.Context, src Source) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	return Report{}, nil
}
