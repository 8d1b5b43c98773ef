package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// patience is how long one file may take.
const patience = 10 * time.Second

// checked runs the checker so that a file that breaks it is one line of the
// result and not the end of the run.
type checked struct {
	check func(context.Context, rules.Source) (rules.Report, error)
}

func newChecked() checked { return checked{rules.NewChecker(leaks.All()...).Check} }

// result is what the checker says of one file.
type result struct {
	source   []byte
	findings []rules.Finding
	// trouble is why there are no findings to trust: unreadable, skipped, a
	// panic or a hang.
	trouble string
	took    time.Duration
	lines   int // of the source
}

func (c checked) file(ctx context.Context, path string) result {
	src, err := sources.Load(path)
	if err != nil {
		return result{trouble: err.Error()}
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan result, 1)
	go func() { done <- c.source(ctx, src) }()
	var r result
	select {
	case r = <-done:
	case <-time.After(2 * patience): // deaf to the end of ctx
		r.trouble = fmt.Sprintf("not done after %v", 2*patience)
	}
	r.source, r.lines, r.took = src.Data, bytes.Count(src.Code, []byte("\n")), time.Since(start)
	return r
}

func (c checked) source(ctx context.Context, src sources.Source) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r = result{trouble: fmt.Sprintf("panic: %v%s", p, panicSite(debug.Stack()))}
		}
	}()
	report, err := c.check(ctx, rules.Source{Path: src.Path, Text: src.Code, Notebook: src.Notebook != nil})
	if err != nil {
		return result{trouble: err.Error()}
	}
	if src.Notebook != nil {
		for i := range report.Findings {
			inNotebook(src, &report.Findings[i])
		}
	}
	return result{findings: report.Findings, trouble: report.Skipped}
}

// inNotebook puts a finding where its text stands in the notebook's file.
func inNotebook(src sources.Source, f *rules.Finding) {
	if raw, ok := src.Notebook.Raw(f.Span); ok {
		f.Span = raw
	}
	for i, e := range f.Evidence {
		if raw, ok := src.Notebook.Raw(e.Span); ok && e.Path == f.Path {
			f.Evidence[i].Span = raw
		}
	}
}

// panicSite returns the first line of the analyser in a stack, " at file:line".
func panicSite(stack []byte) string {
	for line := range strings.Lines(string(stack)) {
		line = strings.TrimSpace(line)
		file, _, _ := strings.Cut(line, " +0x")
		if strings.Contains(file, ".go:") && (strings.Contains(file, "/analyzer/") || strings.Contains(file, "/rules/")) &&
			!strings.Contains(file, "/rules/eval/") {
			return " at " + file
		}
	}
	return ""
}

// each calls f for 0 to n-1 on all processors.
func each(ctx context.Context, n int, f func(i int)) error {
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return ctx.Err()
}

// rank orders severities; silence is 0.
func rank(s rules.Severity) int {
	switch s {
	case rules.Error:
		return 3
	case rules.Warning:
		return 2
	case rules.Hint:
		return 1
	}
	return 0
}

// worst returns the most severe finding, the first of equals.
func worst(findings []rules.Finding) (rules.Finding, bool) {
	if len(findings) == 0 {
		return rules.Finding{}, false
	}
	return slices.MaxFunc(findings, func(a, b rules.Finding) int {
		return cmp.Compare(rank(a.Severity), rank(b.Severity))
	}), true
}

// lineOf returns the number, from 1, of the line that holds offset.
func lineOf(source []byte, offset int) int {
	return 1 + bytes.Count(source[:min(max(offset, 0), len(source))], []byte("\n"))
}

func lineText(source []byte, line int) string {
	for range line - 1 {
		_, rest, ok := bytes.Cut(source, []byte("\n"))
		if !ok {
			return ""
		}
		source = rest
	}
	first, _, _ := bytes.Cut(source, []byte("\n"))
	return strings.TrimSpace(string(first))
}

func onLine(source []byte, s text.Span, line int) bool {
	return lineOf(source, s.Start) <= line && line <= lineOf(source, s.End)
}

// brief is a finding in one line: its line, code, severity and what it keeps.
func brief(source []byte, f rules.Finding) string {
	return fmt.Sprintf("line %d %s %s keeps %s", lineOf(source, f.Span.Start), f.Code, f.Severity, f.Keeps)
}
