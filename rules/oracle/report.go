package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// A tally counts the claims of a rule.
type tally struct {
	Findings    int `json:"findings"` // in fixtures, examples and snippets
	Proven      int `json:"proven"`
	NotReached  int `json:"notReached"`
	NotMeasured int `json:"notMeasured"`
	Silent      int `json:"silent"` // functions and classes that must be silent and were run
	Flat        int `json:"flat"`
	SafeFixes   int `json:"safeFixes"` // functions and classes with fixes that were run
	SafeSame    int `json:"safeSame"`
	AllFixes    int `json:"allFixes"`
	AllSame     int `json:"allSame"`
}

type report struct {
	rules   map[string]*tally
	refuted []string // claims that do not hold
	doubts  []string // what is not claimed to hold: fixes that are not safe
	notRun  []string
}

func summarize(verdicts []verdict) report {
	r := report{rules: map[string]*tally{}}
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

// note keeps what does not hold, and what is not known to.
func (r *report) note(c claim) {
	switch c.state {
	case refuted:
		r.refuted = append(r.refuted, c.text)
	case notReached, notMeasured:
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

// write keeps the counts for the table of rules.
func (r report) write(path string) error {
	data, err := json.MarshalIndent(r.rules, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
