package failures

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// Options of a Diagnoser.
type Options struct {
	// Roots are the workspace folders. Files that a traceback names, and what
	// these import, are looked up in them and never anywhere else.
	Roots []string
	// Open, if not nil, gives the text of files that are open in an editor. It
	// comes before what is on disk.
	Open func(path string) ([]byte, bool)
	// Checker looks for suspects in those files; nil names none.
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
		checker := opts.Checker.With(rules.Files{Open: opts.Open, Within: absolute(opts.Roots)})
		c.Suspects = func(ctx context.Context, file crash.File) ([]crash.Suspect, error) {
			if opts.Open != nil {
				if src, open := opts.Open(file.Name()); open {
					file.Text = src
				}
			}
			return suspects(ctx, checker, file)
		}
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

// suspects checks one file of a traceback.
func suspects(ctx context.Context, checker *rules.Checker, file crash.File) ([]crash.Suspect, error) {
	report, err := checker.Check(ctx, rules.Source{Path: file.Name(), Text: file.Text})
	if err != nil {
		return nil, err
	}
	if report.Skipped != "" {
		return nil, errors.New(report.Skipped)
	}
	if len(report.Findings) == 0 {
		return nil, nil
	}
	tree, err := syntax.Parse(file.Text)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	lines, within := text.NewMapper(file.Text), functions{tree}
	var list []crash.Suspect
	for _, f := range report.Findings {
		list = append(list, crash.Suspect{
			Path: file.Path, Code: f.Code, Message: f.Message,
			Range:      crash.Range{Start: position(lines, f.Span.Start), End: position(lines, f.Span.End)},
			Severity:   severities[f.Severity],
			Function:   within.enclosing(f.Span.Start),
			Grows:      grows(f),
			Evaluation: f.Rule == "evaluation-without-no-grad" || f.Rule == "trainer-keeps-logits",
		})
	}
	return list, nil
}

var severities = map[rules.Severity]crash.Severity{
	rules.Error: crash.SeverityError, rules.Warning: crash.SeverityWarning, rules.Hint: crash.SeverityHint,
}

func position(lines *text.Mapper, offset int) crash.Position {
	p := lines.Position(offset, text.UTF32)
	return crash.Position{Line: p.Line + 1, Column: p.Column + 1}
}

// grows says which memory a finding makes grow in earnest.
func grows(f rules.Finding) crash.Grows {
	switch {
	case f.Memory == rules.Device && f.Keeps == rules.Graph:
		return crash.DeviceGraph
	case f.Memory == rules.Device && (f.Keeps == rules.Values || f.Keeps == rules.Storage):
		return crash.DeviceValues
	case f.Memory == rules.Host:
		return crash.HostMemory
	}
	return crash.GrowsLittle
}

// functions finds the functions of a file by offset.
type functions struct{ tree *syntax.Tree }

// enclosing is the name of the innermost function around an offset, empty at
// module level.
func (f functions) enclosing(offset int) string {
	name := ""
	for n := f.tree.Root(); int(n) < f.tree.Len(); n++ {
		if f.tree.Kind(n) == syntax.FunctionDefinition && f.tree.Span(n).Contains(offset) {
			name = f.tree.Text(f.tree.Child(n, syntax.FieldName))
		}
	}
	return name
}
