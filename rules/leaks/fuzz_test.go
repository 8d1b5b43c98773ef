package leaks

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/graphleak/graphleak/rules"
)

// budget is the time that a check of a small file may take, however odd the
// file is. It is far above what is usual so that a busy machine passes.
const budget = 10 * time.Second

// wellFormed reports what is wrong with a report on a source of n bytes.
func wellFormed(report rules.Report, n int) error {
	within := func(start, end int) bool { return 0 <= start && start <= end && end <= n }
	last := 0
	for _, f := range report.Findings {
		if !within(f.Span.Start, f.Span.End) || f.Span.Start == f.Span.End {
			return fmt.Errorf("the finding %q is at %v", f.Message, f.Span)
		}
		if f.Span.Start < last {
			return errors.New("findings are not in order")
		}
		last = f.Span.Start
		for _, e := range f.Evidence {
			if e.Path == f.Path && !within(e.Span.Start, e.Span.End) {
				return fmt.Errorf("the evidence %q is at %v", e.Message, e.Span)
			}
		}
		for _, fix := range f.Fixes {
			for _, e := range fix.Edits {
				if e.Path == f.Path && !within(e.Start, e.End) {
					return fmt.Errorf("the fix %q is at %v", fix.Title, e.Span)
				}
			}
		}
	}
	return nil
}

func FuzzCheck(f *testing.F) {
	for _, path := range fixtures(f) {
		f.Add(string(read(f, path).Text))
	}
	for _, src := range []string{
		"while 1: x = x + f(x)\n",
		"class A(A): pass\nA().b.c += A()\n",
		"def f(x): return f(f(x)) + f\nfor f in f(f): f += f(f)\n",
		"x = [x := x for x in x for x in x]\n",
		"for a, (b, *c) in zip(*a): a[b], *c = c, a; c += a\n",
		"lambda *a, **k: (yield)\n",
		"from . import *\nfrom .. import a as a\nimport a.b.c as d, e.f\n",
	} {
		f.Add(src)
	}
	checker := rules.NewChecker(All()...)
	f.Fuzz(func(t *testing.T, src string) {
		ctx, cancel := context.WithTimeout(t.Context(), budget)
		defer cancel()
		for _, notebook := range []bool{false, true} {
			report, err := checker.Check(ctx, rules.Source{Text: []byte(src), Notebook: notebook})
			if err != nil {
				t.Fatalf("not done within %v: %v", budget, err)
			}
			if err := wellFormed(report, len(src)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
