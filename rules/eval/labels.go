package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/rules"
)

// A label is one line of a public repository that somebody read and judged.
type label struct {
	repo, commit, path string
	line               int
	kind               string // of leak: A accumulate, B collect, B2 values on the device, …
	leak               bool
	why                string
	difficulty         string
}

// A judged label says whether the checker agrees with it.
type judged struct {
	label
	result
	// found is what the checker says about the line: the most severe finding
	// on it, for a leak also one whose evidence is on it.
	found rules.Finding
	said  bool
}

// importers looks for a leak from the files that import the one it is in: what
// a meter keeps is told where it is given a value, with the line of the meter
// as evidence.
func (c checked) importers(ctx context.Context, dir string, j *judged) {
	of := filepath.Join(dir, filepath.FromSlash(j.path))
	name := strings.TrimSuffix(path.Base(j.path), ".py")
	if name == "__init__" {
		name = path.Base(path.Dir(j.path))
	}
	imports := regexp.MustCompile(`(?m)^\s*(?:from|import)\b.*\b` + regexp.QuoteMeta(name) + `\b`)
	listing, err := sources.Find(ctx, []string{dir}, nil)
	if err != nil {
		return
	}
	left := maxImporters
	for _, file := range listing.Files {
		text, err := os.ReadFile(file)
		if err != nil || file == of || !imports.Match(text) {
			continue
		}
		if left--; left < 0 {
			return
		}
		for _, f := range c.file(ctx, file).findings {
			tells := slices.ContainsFunc(f.Evidence, func(e rules.Evidence) bool {
				return e.Path == of && lineOf(j.source, e.Span.Start) == j.line
			})
			if tells {
				j.found, j.said = f, true
				return
			}
		}
	}
}

// maxImporters bounds how many files are looked at for one label.
const maxImporters = 40

// right says that the checker agrees: a leak has a finding, other lines have no
// error and no warning.
func (j judged) right() bool {
	if j.leak {
		return j.said
	}
	return !j.accused()
}

// accused says that the line has an error or a warning.
func (j judged) accused() bool { return j.said && rank(j.found.Severity) >= rank(rules.Warning) }

func judgeLabel(l label, r result) judged {
	about := slices.DeleteFunc(slices.Clone(r.findings), func(f rules.Finding) bool {
		return !onLine(r.source, f.Span, l.line) && !(l.leak && touches(r.source, f, l.line))
	})
	j := judged{label: l, result: r}
	j.found, j.said = worst(about)
	return j
}

// near lists findings a few lines away, which tell a miss from a finding that
// was put elsewhere.
func (j judged) near() string {
	const reach = 4
	var near []string
	for _, f := range j.findings {
		if d := lineOf(j.source, f.Span.Start) - j.line; -reach <= d && d <= reach {
			near = append(near, brief(j.source, f))
		}
	}
	return strings.Join(near, ", ")
}

func evalLabels(ctx context.Context, c checked, cfg config, out io.Writer) error {
	labels, err := readLabels(cfg.labels)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "labels: none, there is no %s\n", cfg.labels)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(cfg.clones); err != nil {
		fmt.Fprintf(out, "labels: %d, not measured, there is no %s with the repositories\n", len(labels), cfg.clones)
		return nil
	}
	labels = slices.DeleteFunc(labels, func(l label) bool { return !strings.HasPrefix(l.repo+":"+l.path, cfg.only) })

	type file struct{ repo, commit, path string }
	trees := map[file]string{} // of a repository and commit
	missing := map[string]error{}
	results := map[file]result{}
	for _, l := range labels {
		tree := file{l.repo, l.commit, ""}
		if _, ok := trees[tree]; ok {
			continue
		}
		dir, err := unpack(ctx, cfg, l.repo, l.commit)
		if err != nil {
			missing[l.repo+"@"+l.commit] = err
		}
		trees[tree] = dir
	}
	for _, l := range labels {
		results[file{l.repo, l.commit, l.path}] = result{trouble: "not checked"}
	}
	files := slices.Collect(maps.Keys(results))
	checkedFiles := make([]result, len(files))
	err = each(ctx, len(files), func(i int) {
		f := files[i]
		dir := trees[file{f.repo, f.commit, ""}]
		if dir == "" {
			checkedFiles[i] = result{trouble: "no such repository or commit here"}
			return
		}
		checkedFiles[i] = c.file(ctx, filepath.Join(dir, filepath.FromSlash(f.path)))
	})
	if err != nil {
		return err
	}
	for i, f := range files {
		results[f] = checkedFiles[i]
	}
	all := make([]judged, len(labels))
	for i, l := range labels {
		all[i] = judgeLabel(l, results[file{l.repo, l.commit, l.path}])
	}
	err = each(ctx, len(all), func(i int) {
		if j := &all[i]; j.leak && !j.said {
			c.importers(ctx, trees[file{j.repo, j.commit, ""}], j)
		}
	})
	if err != nil {
		return err
	}
	printLabels(out, all, cfg.verbose)
	for _, repo := range sortedKeys(missing) {
		fmt.Fprintf(out, "  missing %s: %v\n", repo, missing[repo])
	}
	return nil
}

func printLabels(out io.Writer, all []judged, verbose bool) {
	type tally struct{ n, found, accused int }
	byKind, byDifficulty := map[string]*tally{}, map[string]*tally{}
	var leaks, core, ok tally
	add := func(t *tally, j judged) {
		t.n++
		t.found += count(j.said)
		t.accused += count(j.accused())
	}
	for _, j := range all {
		if !j.leak {
			add(&ok, j)
			continue
		}
		for _, m := range []struct {
			by  map[string]*tally
			key string
		}{{byKind, j.kind}, {byDifficulty, j.difficulty}} {
			if m.by[m.key] == nil {
				m.by[m.key] = &tally{}
			}
			add(m.by[m.key], j)
		}
		add(&leaks, j)
		if j.kind != "C" && j.kind != "I" {
			add(&core, j)
		}
	}
	fmt.Fprintf(out, "labels: %d lines of public repositories\n", len(all))
	fmt.Fprintf(out, "  leaks    %3d of %3d found, %d as error or warning; growth kinds (all but C and I): %d of %d\n",
		leaks.found, leaks.n, leaks.accused, core.found, core.n)
	fmt.Fprintf(out, "  others   %3d of %3d without error or warning; precision %s\n",
		ok.n-ok.accused, ok.n, percent(leaks.accused, leaks.accused+ok.accused))
	for _, m := range []struct {
		by   string
		each map[string]*tally
	}{{"kind", byKind}, {"difficulty", byDifficulty}} {
		fmt.Fprintf(out, "  found by %s:", m.by)
		for _, k := range sortedKeys(m.each) {
			fmt.Fprintf(out, " %s %d/%d", k, m.each[k].found, m.each[k].n)
		}
		fmt.Fprintln(out)
	}
	if !verbose {
		return
	}
	for _, j := range all {
		if j.right() {
			continue
		}
		what := "missed " + j.kind
		switch {
		case j.trouble != "":
			what += " (" + j.trouble + ")"
		case !j.leak:
			what = "false " + brief(j.source, j.found)
		case j.near() != "":
			what += " (near: " + j.near() + ")"
		}
		fmt.Fprintf(out, "  %s:%s:%d %s\n      %s\n      label: %s [%s] %.8s\n",
			j.repo, j.path, j.line, what, lineText(j.source, j.line), j.why, j.difficulty, j.commit)
	}
}

func readLabels(path string) ([]label, error) {
	rows, err := readTable(path)
	if err != nil {
		return nil, err
	}
	labels := make([]label, 0, len(rows))
	for i, row := range rows {
		line, err := number(row["line"])
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+2, err)
		}
		labels = append(labels, label{
			repo: row["repo"], commit: row["commit"], path: row["path"], line: line,
			kind: row["kind"], leak: row["verdict"] == "leak", why: row["evidence"], difficulty: row["difficulty"],
		})
	}
	return labels, nil
}

// number reads a field that may be empty.
func number(field string) (int, error) {
	if field == "" {
		return 0, nil
	}
	return strconv.Atoi(field)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func percent(n, of int) string {
	if of == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
