package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A tally counts the claims of a rule.
type tally struct {
	Findings    int // in fixtures, examples and snippets
	Proven      int
	NotReached  int
	NotMeasured int
	Silent      int // functions and classes that must be silent and were run
	Flat        int
	SafeFixes   int // functions and classes with fixes that were run
	SafeSame    int
	AllFixes    int
	AllSame     int
}

type report struct {
	rules   map[string]*tally
	shown   map[string]shown // by the fixtures of each rule
	refuted []string         // claims that do not hold
	strange []string         // of programs that are not of this project
	doubts  []string         // what is not claimed to hold: fixes that are not safe
	notRun  []string
	late    int // claims of runs that were stopped
}

func summarize(verdicts []verdict) report {
	r := report{rules: map[string]*tally{}, shown: map[string]shown{}}
	of := func(rule string) *tally {
		if rule == "" {
			rule = "snippets"
		}
		if r.rules[rule] == nil {
			r.rules[rule] = &tally{}
		}
		return r.rules[rule]
	}
	for _, v := range verdicts {
		r.notRun = append(r.notRun, v.notRun...)
		r.show(v)
		for _, c := range v.findings {
			t := of(c.rule)
			t.Findings++
			switch c.state {
			case proven:
				t.Proven++
			case notReached:
				t.NotReached++
			case notMeasured:
				t.NotMeasured++
			}
			r.note(c)
		}
		for _, c := range v.flat {
			r.note(c)
		}
		for _, c := range v.silent {
			r.note(c)
			of(c.rule).Silent++
			of(c.rule).Flat += holds(c)
		}
		for _, c := range slices.Concat(v.fixes[safeFixes], v.fixes[otherFixes]) {
			of(c.rule).SafeFixes++
			of(c.rule).SafeSame += holds(c)
			r.note(c)
		}
		for _, c := range v.fixes[allFixes] {
			of(c.rule).AllFixes++
			of(c.rule).AllSame += holds(c)
			if c.state == refuted {
				r.doubts = append(r.doubts, c.text)
			}
		}
	}
	return r
}

// show counts what fixtures of a rule show of that rule.
func (r *report) show(v verdict) {
	if !v.program.fixture {
		return
	}
	s := r.shown[v.program.rule]
	for _, c := range v.findings {
		if c.rule == v.program.rule {
			s.Fired += holds(c)
		}
	}
	for _, c := range v.silent {
		if c.entry != script {
			s.Silent += holds(c)
		}
	}
	r.shown[v.program.rule] = s
}

// note keeps what does not hold, and what is not known to.
func (r *report) note(c claim) {
	switch c.state {
	case refuted:
		if strings.HasPrefix(c.text, "snippets/") { // which are not of this project
			r.strange = append(r.strange, c.text)
			return
		}
		r.refuted = append(r.refuted, c.text)
	case notReached, notMeasured:
		if strings.Contains(c.text, noEnd) {
			r.late++
		}
		r.notRun = append(r.notRun, c.text+" ("+string(c.state)+")")
	}
}

func holds(c claim) int {
	if c.state == proven {
		return 1
	}
	return 0
}

func (r report) print(out io.Writer, verbose bool) {
	fmt.Fprintln(out, "rule      findings proven  not reached  not measured   silent flat   safe fixes same   all fixes same")
	var sum tally
	for _, rule := range slices.Sorted(maps.Keys(r.rules)) {
		t := r.rules[rule]
		t.print(out, rule)
		sum.add(*t)
	}
	sum.print(out, "all")
	list(out, "not as claimed:", r.refuted)
	list(out, "not as claimed, in programs beside the checkout:", r.strange)
	list(out, "unsafe fixes that change something:", r.doubts)
	if verbose {
		list(out, "not known:", r.notRun)
	}
}

func (t tally) print(out io.Writer, rule string) {
	fmt.Fprintf(out, "%-9s %8d %6d %12d %13d %8d %4d %12d %4d %11d %4d\n", rule,
		t.Findings, t.Proven, t.NotReached, t.NotMeasured, t.Silent, t.Flat, t.SafeFixes, t.SafeSame, t.AllFixes, t.AllSame)
}

func (t *tally) add(o tally) {
	t.Findings += o.Findings
	t.Proven += o.Proven
	t.NotReached += o.NotReached
	t.NotMeasured += o.NotMeasured
	t.Silent += o.Silent
	t.Flat += o.Flat
	t.SafeFixes += o.SafeFixes
	t.SafeSame += o.SafeSame
	t.AllFixes += o.AllFixes
	t.AllSame += o.AllSame
}

func list(out io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintln(out, title)
	}
	for _, line := range lines {
		fmt.Fprintln(out, "  "+line)
	}
}
