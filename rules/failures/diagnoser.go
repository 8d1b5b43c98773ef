package failures

import (
	"context"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
)

// Options of a Diagnoser.
type Options struct {
	// Roots are the workspace folders. Files that a traceback names are looked
	// up in them and never anywhere else.
	Roots []string
	// Checker looks for suspects in those files; nil names none.
	Checker *rules.Checker
}

// A Diagnoser explains failed runs from their logs. It keeps no state between
// calls and may be used by many goroutines.
type Diagnoser struct {
	opts Options
}

// NewDiagnoser returns a diagnoser that knows all pages.
func NewDiagnoser(opts Options) *Diagnoser { return &Diagnoser{opts: opts} }

// Diagnose reads the inputs, one incident, to their ends and says what failed
// first. A log that shows no failure is not an error: its diagnosis is
// "unknown". Errors are those of the readers, and the end of ctx.
func (d *Diagnoser) Diagnose(ctx context.Context, inputs []crash.Input) (*crash.Diagnosis, error) {
	return crash.New(crash.Options{Roots: d.opts.Roots}).Diagnose(ctx, inputs)
}
