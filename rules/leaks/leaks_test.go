package leaks

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/repair"
)

// A fixture is a Python file under <rule>/testdata. A comment on the line where
// a finding starts says which one is expected there, by its code, its severity
// and what it keeps; several are separated by semicolons:
//
//	total += loss  # want: GL101 warning nodes
//	log(a, b)      # want: GL103 error graph; GL103 error graph
//
// Nothing else may be reported, by any rule. A fixture in a folder of its own
// imports its neighbours.
//
// Beside a fixture name.py with safe fixes lies name.fixed.py, what is left
// after all of them: a fixture too, whose comments are those of the findings
// that have no safe fix. Run the test with -update to write it anew.
var update = flag.Bool("update", false, "write the golden files of fixes")

const fixedSuffix = ".fixed.py"

var wantComment = regexp.MustCompile(`[ \t]*# want: (.*)$`)

// fixtures are the paths of all fixtures.
func fixtures(t testing.TB) []string {
	t.Helper()
	var paths []string
	folders, err := filepath.Glob("*/testdata")
	require.NoError(t, err)
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".py" {
				paths = append(paths, path)
			}
			return err
		}))
	}
	require.NotEmpty(t, paths)
	return paths
}

// expectation is one finding at a line.
type expectation struct {
	line int
	want string // "GL101 warning nodes"
}

// expectations are what the comments of a fixture say.
func expectations(src string) []expectation {
	var out []expectation
	for i, line := range strings.Split(src, "\n") {
		m := wantComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for want := range strings.SplitSeq(m[1], ";") {
			out = append(out, expectation{i + 1, strings.Join(strings.Fields(want), " ")})
		}
	}
	return out
}

func summary(f rules.Finding) string { return fmt.Sprintf("%s %s %s", f.Code, f.Severity, f.Keeps) }

func lineOf(src []byte, s text.Span) int { return 1 + strings.Count(string(src[:s.Start]), "\n") }

// differences compares findings with the expectations of a fixture; each
// difference is a line for a person.
func differences(path string, src []byte, findings []rules.Finding) []string {
	left := expectations(string(src))
	var out []string
	for _, f := range findings {
		got := expectation{lineOf(src, f.Span), summary(f)}
		if i := slices.Index(left, got); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		out = append(out, fmt.Sprintf("%s:%d: unexpected %s: %s", path, got.line, got.want, f.Message))
	}
	for _, e := range left {
		out = append(out, fmt.Sprintf("%s:%d: missing %s", path, e.line, e.want))
	}
	return out
}

func read(t testing.TB, path string) rules.Source {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	return rules.Source{Path: path, Text: src}
}

func check(t testing.TB, checker *rules.Checker, src rules.Source) rules.Report {
	t.Helper()
	report, err := checker.Check(t.Context(), src)
	require.NoError(t, err)
	require.Empty(t, report.Skipped, src.Path)
	return report
}

func TestFixtures(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		t.Run(path, func(t *testing.T) {
			src := read(t, path)
			report := check(t, checker, src)
			assert.Empty(t, report.Damaged, "the fixture is not valid Python")
			for _, d := range differences(path, src.Text, report.Findings) {
				t.Error(d)
			}
		})
	}
}

// TestFindingsAreComplete looks at what every finding of the fixtures must
// offer to a person.
func TestFindingsAreComplete(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		src := read(t, path)
		for _, f := range check(t, checker, src).Findings {
			at := fmt.Sprintf("%s:%d", path, lineOf(src.Text, f.Span))
			assert.NotEmpty(t, f.Evidence, at)
			assert.NotContains(t, f.Message, "\n", at)
			assert.NotEqual(t, f.Span.Start, f.Span.End, at)
			switch f.Keeps {
			case rules.Graph:
				if f.Severity == rules.Hint { // one iteration's, or a program that raises
					assert.Equal(t, rules.Peak, f.Memory, at)
					continue
				}
				assert.Equal(t, rules.Device, f.Memory, at)
			case rules.Nodes:
				assert.Equal(t, rules.Host, f.Memory, at)
				assert.Equal(t, rules.Warning, f.Severity, at)
			}
			for _, fix := range f.Fixes {
				assert.NotEmpty(t, fix.Title, at)
				assert.NotEmpty(t, fix.Edits, at)
			}
		}
	}
}

func TestSafeFixesOfFixtures(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		if strings.HasSuffix(path, fixedSuffix) {
			continue
		}
		t.Run(path, func(t *testing.T) {
			src := read(t, path)
			outcome, err := repair.Apply(t.Context(), checker.Check, src, check(t, checker, src), false)
			require.NoError(t, err)
			golden := strings.TrimSuffix(path, ".py") + fixedSuffix
			if outcome.Applied == 0 {
				assert.NoFileExists(t, golden, "nothing is fixed in this fixture")
				return
			}
			got := withoutFixed(outcome)
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got))

			// What is left was there before: a fix brings nothing new. It may add
			// lines, so that what counts is how many there are of a kind. Values
			// stay when their graph goes.
			before := map[string]int{}
			for _, e := range expectations(string(src.Text)) {
				before[e.want]++
			}
			for _, f := range outcome.Report.Findings {
				before[summary(f)]--
				if f.Keeps != rules.Values && f.Keeps != rules.Storage {
					assert.GreaterOrEqual(t, before[summary(f)], 0, "%s:%d: a fix brought %s", golden, lineOf(outcome.Text, f.Span), f.Message)
				}
			}

			fixed := rules.Source{Path: golden, Text: want}
			again, err := repair.Apply(t.Context(), checker.Check, fixed, check(t, checker, fixed), false)
			require.NoError(t, err)
			assert.Zero(t, again.Applied, "fixing is not idempotent")
		})
	}
}

// withoutFixed is the text of an outcome with comments that expect what is
// left.
func withoutFixed(outcome repair.Outcome) []byte {
	left := map[int][]string{}
	for _, f := range outcome.Report.Findings {
		line := lineOf(outcome.Text, f.Span)
		left[line] = append(left[line], summary(f))
	}
	lines := strings.Split(string(outcome.Text), "\n")
	for i := range lines {
		want := ""
		if len(left[i+1]) > 0 {
			want = "  # want: " + strings.Join(left[i+1], "; ")
		}
		lines[i] = wantComment.ReplaceAllString(lines[i], want)
	}
	return []byte(strings.Join(lines, "\n"))
}

// TestUnsafeFixesKeepTheSyntax applies all fixes, safe or not: what comes out
// is Python and settles.
func TestUnsafeFixesKeepTheSyntax(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		src := read(t, path)
		outcome, err := repair.Apply(t.Context(), checker.Check, src, check(t, checker, src), true)
		if assert.NoError(t, err, path) {
			for _, f := range outcome.Report.Findings {
				assert.Empty(t, f.Fixes, "%s:%d: a fix does not remove its finding", path, lineOf(outcome.Text, f.Span))
			}
		}
	}
}

// TestEachRuleHasFixtures holds the catalogue to what it promises: each rule is
// shown in programs in which it speaks and in such in which it must not. A program
// is a function, a class or a script; one of a few lines does not count.
func TestEachRuleHasFixtures(t *testing.T) {
	const atLeast, lines = 6, 4
	for _, rule := range All() {
		var fired, silent int
		for _, path := range fixtures(t) {
			if !strings.HasPrefix(path, rule.Name+string(filepath.Separator)) || strings.HasSuffix(path, fixedSuffix) {
				continue
			}
			mustBeSilent := strings.HasPrefix(filepath.Base(path), "silent_")
			for _, program := range topLevel(string(read(t, path).Text)) {
				switch {
				case len(strings.FieldsFunc(program, func(r rune) bool { return r == '\n' })) < lines:
				case mustBeSilent:
					silent++
				case slices.ContainsFunc(expectations(program), func(e expectation) bool { return strings.HasPrefix(e.want, rule.Code) }):
					fired++
				}
			}
		}
		assert.GreaterOrEqual(t, fired, atLeast, "%s: programs in which it speaks", rule.Code)
		assert.GreaterOrEqual(t, silent, atLeast, "%s: programs in which it is silent", rule.Code)
	}
}

var definition = regexp.MustCompile(`(?m)^(?:async def|def|class) `)

// topLevel are the functions and classes of a module, and what is before the first.
func topLevel(src string) []string {
	var parts []string
	start := 0
	for _, at := range definition.FindAllStringIndex(src, -1) {
		parts = append(parts, src[start:at[0]])
		start = at[0]
	}
	return append(parts, src[start:])
}

func topLevelFunctions(src string) int { return len(definition.FindAllString(src, -1)) }

func TestCheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rules.NewChecker(All()...).Check(ctx, rules.Source{Text: []byte("x = 1\n")})
	assert.ErrorIs(t, err, context.Canceled)
}
