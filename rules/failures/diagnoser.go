package failures

import (
	"context"
	"path/filepath"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

// Options of a Diagnoser.
type Options struct {
	// Roots are the workspace folders. Files that a traceback names, and what
	// these import, are looked up in them and never anywhere else.
	Roots []string
	// Open, if not nil, gives the text of files that are open in an editor. It
	// comes before what is on disk.
	Open func(path string) ([]byte, bool)
	// Checker looks for suspects in those files, as they are configured; nil names
	// none.
	Checker *rules.Checker
}

// A Diagnoser explains failed runs from their logs. It keeps no state between
// calls and may be used by many goroutines.
type Diagnoser struct{ crash *crash.Diagnoser }

// NewDiagnoser returns a diagnoser that knows all pages.
func NewDiagnoser(opts Options) *Diagnoser {
	_, knowledge := load()
	c := crash.Options{Knowledge: knowledge, Roots: opts.Roots}
	if opts.Checker != nil {
		p := project{
			roots: absolute(opts.Roots), open: opts.Open,
			checker: config.NewChecker(opts.Checker, rules.Files{Open: opts.Open, Within: absolute(opts.Roots)}, config.NewLoader(opts.Checker.Rules())),
		}
		c.Suspects, c.Imports, c.Mutations = p.suspects, p.imports, p.mutations
	}
	return &Diagnoser{crash.New(c)}
}

// absolute are the directories as the checker names files.
func absolute(dirs []string) []string {
	var abs []string
	for _, dir := range dirs {
		if dir, err := filepath.Abs(dir); err == nil {
			abs = append(abs, dir)
		}
	}
	return abs
}

// Diagnose reads the inputs, one incident, to their ends and says what failed
// first. A log that shows no failure is not an error: its diagnosis is
// "unknown". Errors are those of the readers, and the end of ctx.
func (d *Diagnoser) Diagnose(ctx context.Context, inputs []crash.Input) (*crash.Diagnosis, error) {
	return d.crash.Diagnose(ctx, inputs)
}
