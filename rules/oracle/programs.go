package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
	"github.com/graphleak/graphleak/rules/repair"
)

// A program is one text to run, with what the checker says of it and what the
// fixes make of it. Its exported fields go to Python.
type program struct {
	Name     string    `json:"name"`
	Folder   string    `json:"folder"`  // where imports are found, or empty
	Package  string    `json:"package"` // of the program within Folder
	Source   string    `json:"source"`
	Findings []place   `json:"findings"`
	Variants []variant `json:"variants"`
	// Controls is set where an instrument must see nothing.
	Controls instrument `json:"controls"`
	Values   bool       `json:"values"` // without graphs must not grow either

	rule     string // code of the rule whose folder it is in, or empty
	fixture  bool   // and not an example of a page
	silent   bool   // made to show where the rule must not speak
	drawn    bool   // of random uses
	about    subject
	findings []rules.Finding
}

// A place is the expression that a finding names.
type place struct {
	ID         int        `json:"id"`
	Start      [2]int     `json:"start"` // line from one, column in bytes from zero
	End        [2]int     `json:"end"`
	Cut        string     `json:"cut"` // how to take from it what it keeps
	Peak       bool       `json:"peak"`
	Cycle      bool       `json:"cycle"` // what stays is free after a garbage collection
	Instrument instrument `json:"instrument"`
}

// A variant is what fixes leave of a program.
type variant struct {
	Label    string  `json:"label"`
	Source   string  `json:"source"`
	Findings []place `json:"findings"` // what is left
}

const (
	safeFixes  = "safe fixes"
	otherFixes = "other safe fixes" // the last one that a finding offers
	allFixes   = "all fixes"
)

// collect finds everything there is to run.
func collect(ctx context.Context, cfg config) ([]program, error) {
	var programs []program
	add := func(name string, p program) {
		wanted := len(cfg.only) == 0 || slices.ContainsFunc(cfg.only, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if p.Name = name; wanted {
			programs = append(programs, p)
		}
	}
	for _, rule := range leaks.All() {
		if rule.Last { // about what others say, not about memory
			continue
		}
		folder := filepath.Join(cfg.rules, rule.Name)
		if err := addFixtures(add, folder, rule.Code); err != nil {
			return nil, err
		}
		for i, example := range examples(rule.Doc) {
			name := fmt.Sprintf("%s#%s-%d", filepath.ToSlash(filepath.Join(folder, "doc.md")), example.mark, i+1)
			add(name, program{rule: rule.Code, silent: example.mark == "good", Source: example.code})
		}
	}
	folder, err := filepath.Abs(filepath.Join(cfg.programs, "snippets")) // programs run elsewhere
	if err != nil {
		return nil, err
	}
	snippets, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil {
		return nil, err
	}
	for _, path := range snippets {
		if filepath.Base(path) == "common.py" {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		add("snippets/"+filepath.Base(path), program{Folder: filepath.Dir(path), Source: string(src)})
	}
	uses, err := readUses(filepath.Join(cfg.rules, "..", "fixes", "testdata", "uses.tsv"))
	if err != nil {
		return nil, err
	}
	for i, src := range laterUses(uses, 3, 20) {
		add(fmt.Sprintf("later-uses/%d.py", i+1), program{Source: src, drawn: true})
	}
	checker := rules.NewChecker(leaks.All()...)
	for i := range programs {
		if err := programs[i].examine(ctx, checker, cfg); err != nil {
			return nil, fmt.Errorf("%s: %w", programs[i].Name, err)
		}
	}
	return programs, nil
}

// addFixtures adds the fixtures of a rule. A fixture in a folder of its own
// imports its neighbours.
func addFixtures(add func(string, program), folder, code string) error {
	root := filepath.Join(folder, "testdata")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".py" || strings.HasSuffix(path, ".fixed.py") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		p := program{Source: string(src), rule: code, fixture: true, silent: strings.HasPrefix(filepath.Base(path), "silent_")}
		if below, _ := filepath.Rel(root, filepath.Dir(path)); below != "." {
			top, inner, _ := strings.Cut(filepath.ToSlash(below), "/")
			if p.Folder, err = filepath.Abs(filepath.Join(root, top)); err != nil {
				return err
			}
			p.Package = strings.ReplaceAll(inner, "/", ".")
		}
		add(filepath.ToSlash(path), p)
		return nil
	})
}

type example struct{ mark, code string }

var codeBlock = regexp.MustCompile("(?ms)^```python (bad|good)\n(.*?)^```$")

// examples are the marked blocks of a page.
func examples(page string) []example {
	var out []example
	for _, m := range codeBlock.FindAllStringSubmatch(page, -1) {
		out = append(out, example{m[1], m[2]})
	}
	return out
}

// examine checks a program and applies its fixes.
func (p *program) examine(ctx context.Context, checker *rules.Checker, cfg config) error {
	src := rules.Source{Path: filepath.FromSlash(p.Name), Text: []byte(p.Source)}
	if name, ok := strings.CutPrefix(p.Name, "snippets/"); ok {
		src.Path = filepath.Join(cfg.programs, "snippets", name)
	}
	report, err := checker.Check(ctx, src)
	if err != nil {
		return err
	}
	p.findings = report.Findings
	p.Findings = places(src.Text, report.Findings)
	if p.silent {
		p.Controls = instrumentFor(p.rule)
	}
	labels := []string{safeFixes, otherFixes, allFixes}
	if p.drawn { // with uses for which a fix is not safe
		labels = labels[:2]
	}
	for _, label := range labels {
		check := checker.Check
		if label == otherFixes {
			check = func(ctx context.Context, src rules.Source) (rules.Report, error) {
				report, err := checker.Check(ctx, src)
				preferLast(report)
				return report, err
			}
		}
		report, err := check(ctx, src)
		if err != nil {
			return err
		}
		fixed, err := repair.Apply(ctx, check, src, report, label == allFixes)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(p.Variants, func(v variant) bool { return v.Source == string(fixed.Text) })
		if fixed.Applied == 0 || known {
			continue
		}
		p.Variants = append(p.Variants, variant{label, string(fixed.Text), places(fixed.Text, fixed.Report.Findings)})
	}
	return nil
}

// preferLast puts the last safe fix of each finding first.
func preferLast(report rules.Report) {
	for _, f := range report.Findings {
		last := -1
		for i, fix := range f.Fixes {
			if fix.Safety == rules.Safe {
				last = i
			}
		}
		if last > 0 {
			f.Fixes[0], f.Fixes[last] = f.Fixes[last], f.Fixes[0]
		}
	}
}

func places(src []byte, findings []rules.Finding) []place {
	out := []place{}
	for i, f := range findings {
		out = append(out, place{i, position(src, f.Span.Start), position(src, f.Span.End), cut(f), f.Memory == rules.Peak, isCycle(f), instrumentFor(f.Code)})
	}
	return out
}

// isCycle says that what a finding is about can be freed, but only by a garbage
// collection, which may be long in coming.
func isCycle(f rules.Finding) bool {
	return f.Code == "GL403" || f.Code == "GL502" || f.Code == "GL504"
}

func position(src []byte, offset int) [2]int {
	before := src[:offset]
	return [2]int{1 + bytes.Count(before, []byte("\n")), offset - 1 - bytes.LastIndexByte(before, '\n')}
}

// cut names the way in which a finding's expression is kept from doing what the
// finding says; see watch.py. It is empty where there is none.
func cut(f rules.Finding) string {
	switch f.Code {
	case "GL301":
		return "record"
	case "GL305":
		return "guard"
	case "GL401", "GL402":
		return "off"
	case "GL206":
		return "arguments"
	case "GL504":
		return "once"
	case "GL303", "GL304", "GL503", "GL601": // of a device, a library, or no growth
		return ""
	}
	switch f.Keeps {
	case rules.Storage:
		return "copy"
	case rules.Values:
		return "move"
	}
	return "detach"
}
