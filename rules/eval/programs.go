package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/rules"
)

// A program is a script whose memory was measured.
type program struct {
	id          string
	file        string
	description string
	verdict     string // as measured
	rule        string // code of the rule whose business it is
	want        expectation
	line        int // where the finding belongs, or 0 where the table has none
}

// An expectation is what an honest checker says about a program.
type expectation struct {
	kind  kind
	keeps rules.Keeps // empty where several answers are right
}

type kind string

const (
	wantError   kind = "error"
	wantWarning kind = "warning"
	wantSilence kind = "none"
	wantAtMost  kind = "hint"   // a hint or nothing
	raises      kind = "raises" // the program ends with an exception: nothing could grow
)

// expect reads a measured verdict.
func expect(verdict string) (expectation, error) {
	switch {
	case strings.HasPrefix(verdict, "leak-large"):
		return expectation{wantError, rules.Graph}, nil
	case strings.HasPrefix(verdict, "leak-graph-nodes"):
		return expectation{wantWarning, rules.Nodes}, nil
	case strings.HasPrefix(verdict, "cycle"):
		return expectation{kind: wantWarning}, nil
	case strings.HasPrefix(verdict, "none"):
		return expectation{kind: wantSilence}, nil
	case verdict == "error":
		return expectation{kind: raises}, nil
	}
	for _, p := range []string{"value-growth", "one-step", "bounded", "python objects"} {
		if strings.HasPrefix(verdict, p) {
			return expectation{kind: wantAtMost}, nil
		}
	}
	return expectation{}, fmt.Errorf("unknown verdict %q", verdict)
}

// An outcome holds what the checker said of a program against the truth.
type outcome struct {
	program
	result
	top      rules.Finding // the most severe
	said     bool
	severity bool // the severity is right
	keeps    bool // the severity and what is kept are right
	place    bool // a finding of the right severity is on the right line, or none is known
}

func judge(p program, r result) outcome {
	o := outcome{program: p, result: r}
	o.top, o.said = worst(r.findings)
	got := rank(o.top.Severity)
	switch p.want.kind {
	case wantError:
		o.severity = got == rank(rules.Error)
	case wantWarning:
		o.severity = got == rank(rules.Warning)
	case wantSilence:
		o.severity = !o.said
	case wantAtMost, raises:
		o.severity = got <= rank(rules.Hint)
	}
	o.severity = o.severity && r.trouble == ""
	o.keeps, o.place = o.severity, o.severity
	if !o.severity || !o.said {
		return o
	}
	if p.want.keeps != "" {
		o.keeps = slices.ContainsFunc(r.findings, func(f rules.Finding) bool {
			return f.Severity == o.top.Severity && f.Keeps == p.want.keeps
		})
	}
	if p.line > 0 {
		o.place = slices.ContainsFunc(r.findings, func(f rules.Finding) bool {
			return f.Severity == o.top.Severity && touches(r.source, f, p.line)
		})
	}
	return o
}

// touches says that a finding or a step of its evidence is on a line.
func touches(source []byte, f rules.Finding, line int) bool {
	return onLine(source, f.Span, line) || slices.ContainsFunc(f.Evidence, func(e rules.Evidence) bool {
		return e.Path == f.Path && lineOf(source, e.Span.Start) == line
	})
}

func evalPrograms(ctx context.Context, c checked, cfg config, out io.Writer) error {
	programs, err := readPrograms(cfg.programs)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "programs: none, there is no %s\n\n", filepath.Join(cfg.programs, "truth.tsv"))
		return nil
	}
	if err != nil {
		return err
	}
	programs = slices.DeleteFunc(programs, func(p program) bool { return !strings.HasPrefix(p.id, cfg.only) })
	outcomes := make([]outcome, len(programs))
	err = each(ctx, len(programs), func(i int) { outcomes[i] = judge(programs[i], c.file(ctx, programs[i].file)) })
	if err != nil {
		return err
	}
	printPrograms(out, outcomes, cfg.verbose)
	return nil
}

func printPrograms(out io.Writer, outcomes []outcome, verbose bool) {
	fmt.Fprintf(out, "programs: %d measured\n", len(outcomes))
	of := func(k kind, spine bool) (n, severity, keeps, place int) {
		for _, o := range outcomes {
			if o.want.kind != k || spine && !inSpine(o.rule) {
				continue
			}
			n++
			severity += count(o.severity)
			keeps += count(o.keeps)
			place += count(o.place)
		}
		return n, severity, keeps, place
	}
	for _, k := range []kind{wantError, wantWarning} {
		n, severity, keeps, place := of(k, false)
		m, inside, _, _ := of(k, true)
		fmt.Fprintf(out, "  %-8s %3d of %3d with this severity, %3d keep the right thing, %3d at the line; GL101-GL103: %d of %d\n",
			k, severity, n, keeps, place, inside, m)
	}
	n, silent, _, _ := of(wantSilence, false)
	fmt.Fprintf(out, "  %-8s %3d of %3d silent\n", wantSilence, silent, n)
	n, right, _, _ := of(wantAtMost, false)
	fmt.Fprintf(out, "  %-8s %3d of %3d silent or hinted\n", wantAtMost, right, n)
	n, right, _, _ = of(raises, false)
	fmt.Fprintf(out, "  %-8s %3d, on %d of them an error or a warning\n", raises, n, n-right)

	type tally struct{ n, right int }
	byRule := map[string]*tally{}
	for _, o := range outcomes {
		if o.want.kind != wantError && o.want.kind != wantWarning {
			continue
		}
		if byRule[o.rule] == nil {
			byRule[o.rule] = &tally{}
		}
		byRule[o.rule].n++
		byRule[o.rule].right += count(o.severity)
	}
	fmt.Fprint(out, "  errors and warnings by rule:")
	for _, code := range sortedKeys(byRule) {
		fmt.Fprintf(out, " %s %d/%d", code, byRule[code].right, byRule[code].n)
	}
	fmt.Fprintln(out)

	if verbose {
		printMisses(out, outcomes)
	}
	fmt.Fprintln(out)
}

func printMisses(out io.Writer, outcomes []outcome) {
	misses := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o.keeps && o.place })
	slices.SortStableFunc(misses, func(a, b outcome) int { return strings.Compare(a.rule, b.rule) })
	code := ""
	for _, o := range misses {
		if o.rule != code {
			code = o.rule
			fmt.Fprintf(out, "  %s\n", code)
		}
		got := "nothing"
		switch {
		case o.trouble != "":
			got = o.trouble
		case o.said:
			got = brief(o.source, o.top)
		}
		want := string(o.want.kind)
		if o.want.keeps != "" {
			want += " keeps " + string(o.want.keeps)
		}
		if o.line > 0 && !o.place && o.severity {
			want += fmt.Sprintf(" line %d", o.line)
		}
		fmt.Fprintf(out, "    %-26s want %-20s got %-32s  %s\n", o.id, want, got, o.description)
	}
}

// readPrograms reads the table of a folder. Its columns are found by name: id,
// "snippet file", description and verdict, and where they are there, rule and
// line.
func readPrograms(dir string) ([]program, error) {
	path := filepath.Join(dir, "truth.tsv")
	rows, err := readTable(path)
	if err != nil {
		return nil, err
	}
	programs := make([]program, 0, len(rows))
	for _, row := range rows {
		p := program{
			id:          row["id"],
			file:        filepath.Join(dir, filepath.FromSlash(row["snippet file"])),
			description: row["description"],
			verdict:     row["verdict"],
			rule:        row["rule"],
		}
		if p.rule == "" {
			p.rule = ruleOf(p.id)
		}
		if p.line, err = number(row["line"]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, p.id, err)
		}
		if p.want, err = expect(p.verdict); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, p.id, err)
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// readTable reads tab-separated values under a line of column names.
func readTable(path string) ([]map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	all, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no line of column names", path)
	}
	rows := make([]map[string]string, 0, len(all)-1)
	for _, fields := range all[1:] {
		row := make(map[string]string, len(fields))
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ruleByGroup names the rule that a group of measured programs belongs to. A
// group is a prefix of ids; the longest one that fits decides.
var ruleByGroup = map[string]string{
	"0": "GL101", "1": "GL102", "2": "GL501", "3": "GL101", "4": "GL101", "5": "GL101",
	"6": "GL101", "7": "GL101", "8": "GL101", "9": "GL101",
	"01f": "GL105", "09b": "GL102", "10d": "GL101", "10e": "GL101", "13": "GL103", "14": "GL101", "17": "GL101",
	"18": "GL101", "19": "GL405", "20c": "GL102", "20d": "GL401", "21": "GL402", "22": "GL404", "23": "GL403",
	"23f": "GL101", "24": "GL501", "25": "GL302", "26": "GL205", "27": "GL204", "28": "GL504", "29": "GL301",
	"36": "GL102", "37": "GL102", "39d": "GL102", "40b": "GL102", "41": "GL102", "43c": "GL102", "43j": "GL102",
	"51b": "GL102", "51j": "GL102", "51l": "GL102", "51m": "GL102", "51n": "GL102",
	"11i": "GL102", "34a": "GL102", "34d": "GL302", "55": "GL102", "56": "GL104", "57": "GL104", "58": "GL104",
	"59": "GL102", "75d": "GL102", "75e": "GL102", "75f": "GL102", "94": "GL102",
	"110": "GL502", "111a": "GL101", "112": "GL502", "113": "GL102", "114a": "GL104", "114b": "GL203",
	"118": "GL103", "119": "GL101", "120": "GL104", "121": "GL301", "135": "GL203",
}

func ruleOf(id string) string {
	for n := len(id); n > 0; n-- {
		if code, ok := ruleByGroup[id[:n]]; ok {
			return code
		}
	}
	return "other"
}

// inSpine says that a rule is one of the three about accumulating graphs in a
// value, a container or a meter.
func inSpine(code string) bool { return code == "GL101" || code == "GL102" || code == "GL103" }
