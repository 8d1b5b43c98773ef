package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/natefinch/atomic"
	"golang.org/x/sync/errgroup"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/report"
	"github.com/graphleak/graphleak/rules"
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
}

// stdinPath is how standard input is named on the command line, and in reports
// unless the user gives it a name.
const stdinPath = "-"

// Validate is called by kong after parsing.
func (c *checkCmd) Validate() error {
	switch {
	case c.UnsafeFixes && !c.Fix && !c.Diff:
		return errors.New("--unsafe-fixes needs --fix or --diff")
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
	outcomes, skipped, err := c.checkAll(ctx, out)
	if err != nil {
		return err
	}
	reportTo := out.Stdout
	switch {
	case c.Diff:
		return c.showDiff(out, outcomes, skipped)
	case c.Fix && c.readsStdin():
		if _, err := out.Stdout.Write(outcomes[0].fixed); err != nil {
			return err
		}
		reportTo = out.Stderr
	case c.Fix:
		if err := writeFixed(ctx, out, outcomes); err != nil {
			return err
		}
	}
	result := summarize(outcomes, skipped)
	if err := report.Write(reportTo, result, c.Format, out.Color); err != nil {
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

// outcome is what became of one file.
type outcome struct {
	path     string
	text     []byte // what the findings speak of
	findings []rules.Finding
	skipped  string // what was not done for the file, and why

	original, fixed []byte // before and after fixes, where they were asked for
	fixes           int    // number of fixes between the two
}

// checkAll checks what the command line names, in parallel. The outcomes are
// in the order of the paths, whichever file was done first.
func (c *checkCmd) checkAll(ctx context.Context, out *console) ([]outcome, []sources.Skipped, error) {
	checker := rules.NewChecker(leaks.All()...)
	if c.readsStdin() {
		src, err := c.readStdin(out.Stdin)
		if err != nil {
			return nil, nil, err
		}
		o, err := c.checkSource(ctx, checker, src)
		return []outcome{o}, nil, err
	}

	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{"."}
	}
	listing, err := sources.Find(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	outcomes := make([]outcome, len(listing.Files))
	bar := newProgress(out.Stderr, len(listing.Files))
	defer bar.finish()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range listing.Files {
		group.Go(func() (err error) {
			defer bar.step()
			content, err := sources.Read(path, syntax.MaxBytes)
			if err != nil {
				outcomes[i] = outcome{path: path, skipped: err.Error()}
				return nil
			}
			outcomes[i], err = c.checkSource(ctx, checker, rules.Source{Path: path, Text: content})
			return err
		})
	}
	return outcomes, listing.Skipped, group.Wait()
}

func (c *checkCmd) readStdin(stdin io.Reader) (rules.Source, error) {
	// The checker says what is wrong with a text above the cap; one byte more is
	// enough for that.
	content, err := io.ReadAll(io.LimitReader(stdin, syntax.MaxBytes+1))
	if err != nil {
		return rules.Source{}, fmt.Errorf("read standard input: %w", err)
	}
	path := c.StdinFilename
	if path == "" {
		path = stdinPath
	}
	return rules.Source{Path: path, Text: content}, nil
}

// checkSource checks one source, and applies fixes to it if asked to.
func (c *checkCmd) checkSource(ctx context.Context, checker *rules.Checker, src rules.Source) (outcome, error) {
	check := func(ctx context.Context, src rules.Source) (rules.Report, error) {
		rep, err := checker.Check(ctx, src)
		rep.Findings = slices.DeleteFunc(rep.Findings, c.isUnwanted)
		return rep, err
	}
	rep, err := check(ctx, src)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{
		path:     src.Path,
		findings: rep.Findings,
		skipped:  rep.Skipped,
	}
	if o.skipped == "" {
		o.skipped = describeDamage(src.Text, rep.Damaged)
	}
	if len(o.findings) > 0 {
		o.text = src.Text
	}
	if !c.Fix && !c.Diff {
		return o, nil
	}
	o.original, o.fixed = src.Text, src.Text
	repaired, err := repair.Apply(ctx, check, src, rep, c.UnsafeFixes)
	switch {
	case ctx.Err() != nil:
		return outcome{}, ctx.Err()
	case err != nil:
		o.skipped = err.Error()
		return o, nil
	}
	o.fixed, o.fixes = repaired.Text, repaired.Applied
	if !c.Diff {
		o.findings, o.text = repaired.Report.Findings, repaired.Text
	}
	return o, nil
}

func (c *checkCmd) isUnwanted(f rules.Finding) bool {
	matches := func(s selector) bool { return s.matches(f) }
	return len(c.Select) > 0 && !slices.ContainsFunc(c.Select, matches) || slices.ContainsFunc(c.Ignore, matches)
}

// describeDamage says which lines could not be parsed and so were not checked,
// or nothing.
func describeDamage(src []byte, damaged []text.Span) string {
	if len(damaged) == 0 {
		return ""
	}
	m := text.NewMapper(src)
	var lines []string
	for _, span := range damaged {
		first, last := m.LineAt(span.Start)+1, m.LineAt(max(span.Start, span.End-1))+1
		if first == last {
			lines = append(lines, fmt.Sprint(first))
		} else {
			lines = append(lines, fmt.Sprintf("%d-%d", first, last))
		}
	}
	const shown = 5
	if more := len(lines) - shown; more > 0 {
		lines = append(lines[:shown], fmt.Sprintf("and %d more places", more))
	}
	return "syntax errors in lines " + strings.Join(lines, ", ")
}

// summarize joins the outcomes of all files.
func summarize(outcomes []outcome, skipped []sources.Skipped) report.Result {
	result := report.Result{
		Texts:   make(map[string][]byte),
		Files:   len(outcomes),
		Skipped: skipped,
		Version: currentVersion(),
	}
	for _, o := range outcomes {
		result.Findings = append(result.Findings, o.findings...)
		if o.text != nil {
			result.Texts[o.path] = o.text
		}
		if o.skipped != "" {
			result.Skipped = append(result.Skipped, sources.Skipped{Path: o.path, Reason: o.skipped})
		}
	}
	return result
}

// showDiff writes what fixes would change.
func (c *checkCmd) showDiff(out *console, outcomes []outcome, skipped []sources.Skipped) error {
	fixes := 0
	for _, o := range outcomes {
		fixes += o.fixes
		path := filepath.ToSlash(o.path)
		if _, err := io.WriteString(out.Stdout, udiff.Unified(path, path, string(o.original), string(o.fixed))); err != nil {
			return err
		}
	}
	result := summarize(outcomes, skipped)
	for _, s := range result.Skipped {
		fmt.Fprintf(out.Stderr, "%s: skipped: %s\n", s.Path, s.Reason)
	}
	fmt.Fprintf(out.Stderr, "--fix would repair %d of %d findings.\n", fixes, len(result.Findings))
	return c.verdict(result)
}

// writeFixed puts the repaired sources in place, each at once: a file is never
// half written, and one that changed since it was read is left alone.
func writeFixed(ctx context.Context, out *console, outcomes []outcome) error {
	fixes := 0
	for i := range outcomes {
		o := &outcomes[i]
		if o.fixes == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := replace(o.path, o.original, o.fixed); err != nil {
			return fmt.Errorf("write the fixes of %s: %w", o.path, err)
		}
		fixes += o.fixes
	}
	_, err := fmt.Fprintf(out.Stderr, "Fixes applied: %d.\n", fixes)
	return err
}

// replace writes content to path if the file still is as it was.
func replace(path string, was, content []byte) error {
	// The file itself is replaced, not a link to it.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	now, err := sources.Read(path, syntax.MaxBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, was) {
		return errors.New("the file changed while it was checked; run again")
	}
	return atomic.WriteFile(path, bytes.NewReader(content))
}
