// Package crash reads the log of a failed run and says what failed first, why,
// how sure that is, what to do, and what is missing to be sure.
//
// A log goes through these stages:
//
//	reader       bytes → interesting lines, in bounded memory
//	clean        control sequences, entities, odd spaces → plain text
//	prefixes     what launchers and loggers put before a line → its Origin
//	streams      lines of one process, whatever they are interleaved with
//	tracebacks   lines → exceptions with their calls
//	knowledge    messages → events, by the signatures of pages
//	incident     events → the one that started it, and those that followed
//	refiners     numbers and context → which of several related failures it is
//	workspace    calls → files of the user → findings of the static analysis
//
// What is known about failures is not here but on pages, which the caller hands
// in; the package knows how messages are found and weighed. The same input
// always gives the same diagnosis.
package crash

import (
	"context"
	"fmt"
)

// Options of a Diagnoser.
type Options struct {
	Knowledge *Knowledge
	// Roots are the workspace folders, outside of which no file is opened.
	Roots []string
	// Suspects analyses one file of a traceback. Nil finds none.
	Suspects func(ctx context.Context, file File) ([]Suspect, error)
	// Mutations finds where a file changes in place what an operation returned,
	// given its name in the graph of autograd. Nil finds none.
	Mutations func(ctx context.Context, file File, operation string) ([]Suspect, error)
	// Imports lists the files of the folders that a file imports, which may keep
	// what the failure is about too. Nil lists none.
	Imports func(ctx context.Context, file File) ([]File, error)
}

// A Diagnoser explains failed runs from their logs. It has no state: one may be
// used by many goroutines.
type Diagnoser struct{ opts Options }

// New returns a diagnoser.
func New(opts Options) *Diagnoser { return &Diagnoser{opts: opts} }

// Diagnose reads the inputs, which are one incident, to their ends. Errors are
// those of the readers and of ctx; a log without a failure gives the diagnosis
// "unknown".
func (d *Diagnoser) Diagnose(ctx context.Context, inputs []Input) (*Diagnosis, error) {
	in := newIncident(d.opts.Knowledge, inputs)
	for i := range inputs {
		if err := in.read(ctx, i); err != nil {
			return nil, fmt.Errorf("%s: %w", inputs[i].Name, err)
		}
	}
	return d.conclude(ctx, in)
}
