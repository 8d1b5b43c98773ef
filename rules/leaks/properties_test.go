package leaks

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/repair"
)

// The tests of this file change the fixtures in ways whose effect on the
// findings is known. The comments that say what is expected travel with their
// lines.

// transformed checks a changed fixture at its own path, so that its imports
// lead where they did, and returns how its findings differ from expectations.
func transformed(t *testing.T, checker *rules.Checker, path, src string) []string {
	t.Helper()
	report := check(t, checker, rules.Source{Path: path, Text: []byte(src)})
	require.Empty(t, report.Damaged, "the changed fixture is not valid Python:\n%s", src)
	return differences(path, []byte(src), report.Findings)
}

func TestNamesDoNotDecide(t *testing.T) {
	t.Parallel()
	checker := rules.NewChecker(All()...)
	for name, renaming := range map[string]func(*syntax.Tree, bool) []text.Edit{"variables": renamedVariables, "attributes": renamedAttributes} {
		t.Run(name, func(t *testing.T) {
			renamed := 0
			for _, path := range fixtures(t) {
				src := string(read(t, path).Text)
				alone := filepath.Base(filepath.Dir(path)) == "testdata" // no other file knows its names
				edits := renaming(parse(t, src), alone)
				renamed += len(edits)
				for _, d := range transformed(t, checker, path, apply(t, src, edits)) {
					t.Error(d)
				}
			}
			assert.Greater(t, renamed, 500)
		})
	}
}

func TestWhatDoesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	insertions := map[string]string{
		"lines":     "# total += loss\n\n%s_unused = 0\n%sassert True, 'unreachable'\n",
		"branches":  "%sif False:\n%s    raise ValueError\n",
		"functions": "%s_unused = lambda total, loss: total + loss\n%sdef _unused(total, loss):\n%s    return total + loss\n",
	}
	checker := rules.NewChecker(All()...)
	for name, insertion := range insertions {
		t.Run(name, func(t *testing.T) {
			for _, path := range fixtures(t) {
				src := string(read(t, path).Text)
				var edits []text.Edit
				statements(parse(t, src), func(_ syntax.NodeID, line int, indent string) {
					added := strings.ReplaceAll(insertion, "%s", indent)
					edits = append(edits, text.Edit{Span: text.Span{Start: line, End: line}, New: added})
				})
				for _, d := range transformed(t, checker, path, apply(t, src, edits)) {
					t.Error(d)
				}
			}
		})
	}
}

// TestFormattingDoesNotMatter writes programs in other ways.
func TestFormattingDoesNotMatter(t *testing.T) {
	t.Parallel()
	checker := rules.NewChecker(All()...)
	for name, change := range map[string]func(*testing.T, string) string{
		"tabs and carriage returns": func(t *testing.T, src string) string {
			return strings.ReplaceAll(indentedBy("\t")(t, src), "\n", "\r\n")
		},
		"two spaces, parentheses and blanks before the colon": func(t *testing.T, src string) string {
			return indentedBy("  ")(t, strings.ReplaceAll(parenthesised(t, src), ":\n", " :\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range fixtures(t) {
				for _, d := range transformed(t, checker, path, change(t, string(read(t, path).Text))) {
					t.Error(d)
				}
			}
		})
	}
}

// TestSplitFunctions splits every function in two. What it keeps stays where it
// is kept; where that is in a function that is now called by the other half, the
// call may be what is reported.
func TestSplitFunctions(t *testing.T) {
	t.Parallel()
	checker := rules.NewChecker(All()...)
	for name, change := range map[string]func(*testing.T, string) string{
		"the first half apart":  withFirstHalvesApart,
		"the second half apart": withSecondHalvesApart,
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range fixtures(t) {
				src := change(t, string(read(t, path).Text))
				report := check(t, checker, rules.Source{Path: path, Text: []byte(src)})
				require.Empty(t, report.Damaged, "the changed fixture is not valid Python:\n%s", src)
				for _, d := range misplaced(path, src, report.Findings) {
					t.Error(d)
				}
			}
		})
	}
}

// misplaced is differences for findings that may be where a function is called
// that keeps a value, once for all that it keeps. Where it does is a step of
// their evidence. Hints are left out: they may be about a call of the other half.
func misplaced(path, src string, findings []rules.Finding) []string {
	left := slices.DeleteFunc(expectations(src), func(e expectation) bool { return strings.Contains(e.want, " hint ") })
	var out []string
	calls := map[string]bool{} // what calls of halves keep
	lines := strings.Split(src, "\n")
	for _, f := range findings {
		if f.Severity == rules.Hint {
			continue
		}
		at := []int{lineOf([]byte(src), f.Span)}
		for _, e := range f.Evidence {
			if e.Path == f.Path {
				at = append(at, lineOf([]byte(src), e.Span))
			}
		}
		kept := fmt.Sprintf(" %s %s", f.Severity, f.Keeps)
		i := slices.IndexFunc(left, func(e expectation) bool { return slices.Contains(at, e.line) && strings.HasSuffix(e.want, kept) })
		if i < 0 {
			out = append(out, fmt.Sprintf("%s:%d: unexpected %s: %s\n%s", path, at[0], summary(f), f.Message, src))
			continue
		}
		left = slices.Delete(left, i, i+1)
		if strings.Contains(lines[at[0]-1], "_half_") {
			calls[kept] = true
		}
	}
	for _, e := range left {
		if _, kept, _ := strings.Cut(e.want, " "); !calls[" "+kept] {
			out = append(out, fmt.Sprintf("%s:%d: missing %s", path, e.line, e.want))
		}
	}
	return out
}

// TestGuardedCodeIsSilent puts the bodies of all functions and loops under
// no_grad: nothing made there carries a graph.
func TestGuardedCodeIsSilent(t *testing.T) {
	t.Parallel()
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		src := guarded(t, string(read(t, path).Text))
		tree := parse(t, src)
		report := check(t, checker, rules.Source{Path: path, Text: []byte(src)})
		require.Empty(t, report.Damaged, src)
		for _, f := range report.Findings {
			growth := strings.HasPrefix(f.Code, "GL1") || f.Code == "GL405"
			if growth && !switchedOn(tree, f.Span) && recordsHere(f) {
				t.Errorf("%s: %s: %s", path, src[f.Span.Start:f.Span.End], f.Message)
			}
		}
	}
}

// switchedOn reports whether a place is where gradients are switched on again.
func switchedOn(tree *syntax.Tree, s text.Span) bool {
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch tree.Kind(n) {
		case syntax.WithStatement:
			if tree.Span(n).Covers(s) && strings.Contains(tree.Text(tree.First(n)), "enable_grad()") {
				return true
			}
		case syntax.FunctionDefinition:
			if tree.Span(n).Covers(s) && strings.Contains(tree.Text(n), "set_grad_enabled") {
				return true
			}
		}
	}
	return false
}

// recordsHere reports whether the graph of a finding is made in the same file,
// and not by the library that runs it.
func recordsHere(f rules.Finding) bool {
	return slices.ContainsFunc(f.Evidence, func(e rules.Evidence) bool {
		return e.Path == f.Path && strings.HasSuffix(e.Message, "records the graph here")
	})
}

// TestWhereAProgramStandsDoesNotMatter moves whole modules under statements
// that run them once.
func TestWhereAProgramStandsDoesNotMatter(t *testing.T) {
	t.Parallel()
	checker := rules.NewChecker(All()...)
	for _, header := range []string{"if __name__ == '__main__':", "try:", "with open('log') as log_file:"} {
		t.Run(header, func(t *testing.T) {
			for _, path := range fixtures(t) {
				lines := strings.Split(string(read(t, path).Text), "\n")
				for i, l := range lines {
					if l != "" {
						lines[i] = "    " + l
					}
				}
				moved := header + "\n" + strings.Join(lines, "\n")
				if header == "try:" {
					moved += "\nfinally:\n    pass\n"
				}
				for _, d := range transformed(t, checker, path, moved) {
					t.Error(d)
				}
			}
		})
	}
}

// mutate changes a few lines of a program: it leaves some out, exchanges or
// repeats them, and takes in some of another program.
func mutate(draw *rand.Rand, lines, other []string) string {
	lines = slices.Clone(lines)
	for range 1 + draw.IntN(5) {
		i, j := draw.IntN(len(lines)), draw.IntN(len(lines))
		switch draw.IntN(6) {
		case 0:
			if len(lines) > 1 {
				lines = slices.Delete(lines, i, i+1)
			}
		case 1:
			lines[i], lines[j] = lines[j], lines[i]
		case 2:
			lines[i] = lines[j]
		case 3:
			lines[i] = other[draw.IntN(len(other))]
		case 4:
			lines[i] = "    " + lines[i]
		case 5:
			lines[i] = strings.TrimPrefix(lines[i], "    ")
		}
	}
	return strings.Join(lines, "")
}

// TestMutatedFixtures checks and fixes programs that are broken in many ways.
func TestMutatedFixtures(t *testing.T) {
	t.Parallel()
	const programs = 400
	checker := rules.NewChecker(All()...)
	var sources [][]string
	for _, path := range fixtures(t) {
		sources = append(sources, strings.SplitAfter(string(read(t, path).Text), "\n"))
	}
	draw := rand.New(rand.NewPCG(3, 4))
	for range programs {
		mutated := mutate(draw, sources[draw.IntN(len(sources))], sources[draw.IntN(len(sources))])
		src := rules.Source{Path: "mutated.py", Text: []byte(mutated)}
		report, err := checker.Check(t.Context(), src)
		require.NoError(t, err)
		require.NoError(t, wellFormed(report, len(mutated)), mutated)
		for _, unsafe := range []bool{false, true} {
			outcome, err := repair.Apply(t.Context(), checker.Check, src, report, unsafe)
			if err != nil && len(report.Damaged) > 0 {
				continue // around damage it may give up, but never on a program that is whole
			}
			require.NoError(t, err, mutated)
			assert.LessOrEqual(t, len(outcome.Report.Findings), len(report.Findings), "a fix brought a finding:\n%s", mutated)
			for _, f := range outcome.Report.Findings {
				assert.False(t, slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool { return fix.Safety == rules.Safe }), "a safe fix was not applied:\n%s", mutated)
			}
		}
	}
}
