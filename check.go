package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/report"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
	"github.com/graphleak/graphleak/rules/leaks"
	"github.com/graphleak/graphleak/rules/repair"
)

type checkCmd struct {
	Paths         []string       `arg:"" optional:"" name:"path" help:"Files and directories to check; - is standard input. Default: the working directory."`
	Format        report.Format  `enum:"text,json,sarif,github" default:"text" help:"How to write the findings: ${enum}."`
	Select        []selector     `placeholder:"CODES" help:"Report only these rules: codes (GL101), beginnings of codes (GL1) or names, separated by commas."`
	Ignore        []selector     `placeholder:"CODES" help:"Do not report these rules."`
	FailOn        rules.Severity `enum:"error,warning,hint" default:"warning" help:"Exit with 1 for findings of this severity or above: ${enum}."`
	Fix           bool           `help:"Apply the fixes that keep the program's behaviour, then report what is left."`
	Diff          bool           `help:"Show what --fix would change, and change nothing."`
	UnsafeFixes   bool           `help:"With --fix or --diff: apply also the fixes that need a look."`
	StdinFilename string         `placeholder:"NAME" help:"Read standard input and report it under this name."`
	NoCrossFile   bool           `help:"Check every file by itself: do not look into the files that it imports."`
	Statistics    bool           `help:"Show how often each rule has findings, instead of the findings; in JSON beside them."`
	ForceExclude  bool           `help:"Leave out excluded files even if they are named: for tools that name the files that have changed."`
	ShowConfig    bool           `help:"Print the configuration that holds, and check nothing."`
	configFlags
}

// stdinPath is how standard input is named on the command line, and in reports
// unless the user gives it a name.
const stdinPath = "-"

// Validate is called by kong after parsing.
func (c *checkCmd) Validate() error {
	switch {
	case c.UnsafeFixes && !c.Fix && !c.Diff:
		return errors.New("--unsafe-fixes needs --fix or --diff")
	case c.Statistics && c.Diff:
		return errors.New("--statistics and --diff show different things: give one of them")
	case c.Statistics && (c.Format == report.SARIF || c.Format == report.GitHub):
		return fmt.Errorf("--statistics has no place in the format %s: choose text or json", c.Format)
	case c.Diff && c.Format != report.Text:
		return errors.New("--diff writes a unified diff and no other format")
	case c.StdinFilename != "" && len(c.Paths) > 0 && !slices.Equal(c.Paths, []string{stdinPath}):
		return errors.New("--stdin-filename names standard input: give no other path")
	case len(c.Paths) > 1 && slices.Contains(c.Paths, stdinPath):
		return errors.New("standard input (-) cannot be checked together with other paths")
	}
	return nil
}

func (c *checkCmd) readsStdin() bool {
	return c.StdinFilename != "" || slices.Contains(c.Paths, stdinPath)
}

// Run checks the files, applies fixes if asked to, and reports.
func (c *checkCmd) Run(ctx context.Context, out *console) error {
	loader, err := c.loader()
	if err != nil {
		return err
	}
	inputs, skipped, err := c.inputs(ctx, out.Stdin, loader)
	if err != nil {
		return err
	}
	if err := configured(loader, inputs); err != nil {
		return err
	}
	checker := c.checker(loader, nil)
	if c.ShowConfig {
		return showConfig(out, checker, inputs)
	}
	if c.Fix || c.Diff {
		return c.repair(ctx, out, loader, inputs, skipped)
	}
	outcomes, err := c.checkAll(ctx, out, checker, inputs, false)
	if err != nil {
		return err
	}
	return c.report(out.Stdout, out, outcomes, skipped)
}

// report writes what was found and tells the exit code.
func (c *checkCmd) report(w io.Writer, out *console, outcomes []outcome, skipped []sources.Skipped) error {
	result := summarize(outcomes, skipped)
	result.Statistics = c.Statistics
	if err := report.Write(w, result, c.Format, out.Color); err != nil {
		return err
	}
	return c.verdict(result)
}

// verdict is the exit code for what was found.
func (c *checkCmd) verdict(result report.Result) error {
	order := []rules.Severity{rules.Hint, rules.Warning, rules.Error}
	bar := slices.Index(order, c.FailOn)
	for _, f := range result.Findings {
		if slices.Index(order, f.Severity) >= bar {
			return exitError{exitFindings}
		}
	}
	return nil
}

// input is one source to check. Standard input has its text; files are read
// when it is their turn.
type input struct {
	path string
	text []byte // nil: that of the file at path
}

// inputs lists what the command line names.
func (c *checkCmd) inputs(ctx context.Context, stdin io.Reader, loader *config.Loader) ([]input, []sources.Skipped, error) {
	if c.readsStdin() {
		// The checker says what is wrong with a text above the cap; one byte more
		// is enough for that.
		name := cmp.Or(c.StdinFilename, stdinPath)
		content, err := io.ReadAll(io.LimitReader(stdin, int64(sources.Limit(name))+1))
		if err != nil {
			return nil, nil, fmt.Errorf("read standard input: %w", err)
		}
		return []input{{path: name, text: content}}, nil, nil
	}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{"."}
	}
	listing, err := sources.Find(ctx, paths, loader.Excludes)
	if err != nil {
		return nil, nil, err
	}
	inputs := make([]input, 0, len(listing.Files))
	for _, path := range listing.Files {
		if abs, err := filepath.Abs(path); err == nil && c.ForceExclude && loader.Excludes(abs, false) {
			continue
		}
		inputs = append(inputs, input{path: path})
	}
	return inputs, listing.Skipped, nil
}

// outcome is what became of one input.
type outcome struct {
	path     string
	source   *sources.Source // what the findings speak of, if there are any
	findings []rules.Finding
	skipped  string // what was not checked, and why

	// Where fixes were asked for:
	original, fixed []byte
	fixes           int   // number of fixes between the two
	unfixed         error // why fixes were not applied
}

// checkAll checks the inputs in parallel. The outcomes are in the order of the
// inputs, whichever was done first.
func (c *checkCmd) checkAll(ctx context.Context, out *console, checker *config.Checker, inputs []input, fix bool) ([]outcome, error) {
	outcomes := make([]outcome, len(inputs))
	bar := newProgress(out.Stderr, len(inputs))
	defer bar.finish()
	interrupted := ctx.Done()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, in := range inputs {
		group.Go(func() (err error) {
			defer bar.step()
			outcomes[i], err = survive(in.path, func() (outcome, error) { return c.checkInput(ctx, checker, in, fix) })
			return err
		})
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	select {
	case err := <-done:
		return outcomes, err
	case <-interrupted:
		// Checks write nothing, so nobody has to wait for them to stop.
		return nil, ctx.Err()
	}
}

// survive runs the check of the file at path. A fault of ours in one file must
// not cost the user the findings in all others.
func survive(path string, check func() (outcome, error)) (o outcome, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			o, err = outcome{path: path, skipped: fmt.Sprintf("internal error, please report it: %v", fault)}, nil
		}
	}()
	return check()
}

// checkInput checks one input, and tries fixes on it if asked to. It fails only
// when ctx ends.
func (c *checkCmd) checkInput(ctx context.Context, checker *config.Checker, in input, fix bool) (outcome, error) {
	source, err := in.load()
	if err != nil {
		return outcome{path: in.path, skipped: err.Error()}, nil
	}
	src := rules.Source{Path: in.path, Text: source.Code, Notebook: source.Notebook != nil}
	rep, err := checker.Check(ctx, src)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{path: in.path, findings: rep.Findings, skipped: rep.Skipped}
	if o.skipped == "" {
		o.skipped = describeDamage(source, rep.Damaged)
	}
	if len(o.findings) > 0 {
		o.source = &source
	}
	if !fix {
		return o, nil
	}
	o.original, o.fixed = source.Data, source.Data
	repaired, err := repair.Apply(ctx, checker.Check, src, rep, c.UnsafeFixes)
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	fixed := source.Data
	if err == nil {
		fixed, err = source.With(repaired.Text)
	}
	if err != nil {
		o.unfixed = err
	} else {
		o.fixed, o.fixes = fixed, repaired.Applied
	}
	return o, nil
}

// load reads the input.
func (in input) load() (sources.Source, error) {
	if in.text != nil {
		return sources.New(in.path, in.text)
	}
	return sources.Load(in.path)
}

// describeDamage says which lines, or cells of a notebook, could not be parsed and so were not checked,
// or nothing.
func describeDamage(src sources.Source, damaged []text.Span) string {
	if len(damaged) == 0 {
		return ""
	}
	unit, at := "line", text.NewMapper(src.Code).LineAt
	if nb := src.Notebook; nb != nil {
		unit, at = "cell", func(offset int) int { return nb.Number(nb.At(offset)) - 1 }
	}
	var places []string
	for _, span := range damaged {
		first, last := at(span.Start)+1, at(max(span.Start, span.End-1))+1
		if first == last {
			places = append(places, fmt.Sprint(first))
		} else {
			places = append(places, fmt.Sprintf("%d-%d", first, last))
		}
	}
	if places = slices.Compact(places); len(places) > 1 || strings.Contains(places[0], "-") {
		unit += "s"
	}
	const shown = 5
	if more := len(places) - shown; more > 0 {
		places = append(places[:shown], fmt.Sprintf("and %d more places", more))
	}
	return "syntax errors in " + unit + " " + strings.Join(places, ", ")
}

// summarize joins the outcomes of all inputs.
func summarize(outcomes []outcome, skipped []sources.Skipped) report.Result {
	result := report.Result{
		Sources: make(map[string]sources.Source),
		Files:   len(outcomes),
		Skipped: skipped,
		Rules:   leaks.All(),
		Version: currentVersion(),
	}
	for _, o := range outcomes {
		if o.source != nil {
			result.Sources[o.path] = *o.source
		}
		if o.skipped != "" {
			result.Skipped = append(result.Skipped, sources.Skipped{Path: o.path, Reason: o.skipped})
		}
	}
	slices.SortStableFunc(result.Skipped, func(a, b sources.Skipped) int { return cmp.Compare(a.Path, b.Path) })
	for _, o := range outcomes {
		for _, f := range o.findings {
			f.Evidence = quoted(f, result.Sources)
			result.Findings = append(result.Findings, f)
		}
	}
	return result
}

// quoted is the evidence of f in files that can be shown. Files that f leads to
// but that are not known yet are read and added. Their paths are written like
// that of f: relative to the working directory, or absolute.
func quoted(f rules.Finding, known map[string]sources.Source) []rules.Evidence {
	var evidence []rules.Evidence
	for _, e := range f.Evidence {
		if !filepath.IsAbs(f.Path) {
			e.Path = relative(e.Path)
		}
		if _, ok := known[e.Path]; !ok {
			source, err := sources.Load(e.Path)
			if err != nil {
				continue // it was there a moment ago
			}
			known[e.Path] = source
		}
		evidence = append(evidence, e)
	}
	return evidence
}

// relative is path relative to the working directory if it lies within.
func relative(path string) string {
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
