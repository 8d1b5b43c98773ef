// Package crash reads the log of a failed run and says what failed first.
package crash

import "context"

// Options of a Diagnoser.
type Options struct {
	Roots []string
}

// A Diagnoser explains failed runs from their logs.
type Diagnoser struct{ opts Options }

// New returns a diagnoser.
func New(opts Options) *Diagnoser { return &Diagnoser{opts: opts} }

// Diagnose reads the inputs and says what failed first.
func (d *Diagnoser) Diagnose(ctx context.Context, inputs []Input) (*Diagnosis, error) {
	return &Diagnosis{Version: 1, Failure: "unknown", Confidence: Low}, ctx.Err()
}

// Markdown renders d for an editor.
func (d *Diagnosis) Markdown() string { return "# " + d.Title + "\n" }
