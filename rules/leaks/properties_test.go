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

	"github.com/graphleak/graphleak/analyzer/names"
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

func parse(t testing.TB, src string) *syntax.Tree {
	t.Helper()
	tree, err := syntax.Parse([]byte(src))
	require.NoError(t, err)
	return tree
}

func apply(t *testing.T, src string, edits []text.Edit) string {
	t.Helper()
	out, err := text.Apply([]byte(src), edits)
	require.NoError(t, err)
	return string(out)
}

// single reports whether a fixture stands alone: no other file knows its names.
func single(path string) bool { return filepath.Base(filepath.Dir(path)) == "testdata" }

func TestNamesDoNotDecide(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		if !single(path) {
			continue
		}
		src := string(read(t, path).Text)
		for _, d := range transformed(t, checker, path, apply(t, src, renaming(parse(t, src)))) {
			t.Error(d)
		}
	}
}

// renaming gives every variable, function and class of a module a name that
// says nothing. Names that are also used as keywords of calls keep theirs, as
// do imported ones.
func renaming(tree *syntax.Tree) []text.Edit {
	module := names.NewModule("", tree)
	fixed := map[string]bool{"self": true}
	var identifiers []syntax.NodeID
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch tree.Kind(n) {
		case syntax.KeywordArgument:
			fixed[tree.Text(tree.Child(n, syntax.FieldName))] = true
		case syntax.ImportStatement, syntax.ImportFromStatement:
			for c := n; c < tree.End(n); c++ {
				fixed[tree.Text(c)] = true
			}
		case syntax.ClassDefinition: // attributes of a class are read with a dot
			body := tree.Child(n, syntax.FieldBody)
			for c := range tree.Children(body) {
				for d := c; d < tree.End(c) && tree.Kind(c) != syntax.FunctionDefinition; d++ {
					fixed[tree.Text(d)] = true
				}
			}
		case syntax.Identifier:
			identifiers = append(identifiers, n)
		}
	}
	fresh := map[string]string{}
	var edits []text.Edit
	for _, n := range identifiers {
		name, parent := tree.Text(n), tree.Parent(n)
		switch {
		case fixed[name], tree.Kind(parent) == syntax.Attribute && tree.Role(n) == syntax.FieldAttribute:
			continue
		case tree.Kind(parent) == syntax.FunctionDefinition && tree.Role(n) == syntax.FieldName && inClass(tree, parent):
			continue // a method
		}
		scope := scopeAt(module, n)
		if owner := scope.Lookup(name); !owner.Binds(name) {
			continue // a builtin
		}
		if fresh[name] == "" {
			fresh[name] = fmt.Sprintf("v%d", len(fresh))
		}
		edits = append(edits, text.Edit{Span: tree.Span(n), New: fresh[name]})
	}
	return edits
}

func inClass(tree *syntax.Tree, function syntax.NodeID) bool {
	for at := tree.Parent(function); at >= 0; at = tree.Parent(at) {
		switch tree.Kind(at) {
		case syntax.ClassDefinition:
			return true
		case syntax.FunctionDefinition, syntax.Module:
			return false
		}
	}
	return false
}

func scopeAt(module *names.Module, n syntax.NodeID) *names.Scope {
	for at := n; at > 0; at = module.Tree.Parent(at) {
		if s := module.Scope(at); s != nil {
			return s
		}
	}
	return module.Scope(module.Tree.Root())
}

// statements are the first statements of their lines, with the indentation.
func statements(tree *syntax.Tree, yield func(n syntax.NodeID, line int, indent string)) {
	src := tree.Source()
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch tree.Kind(tree.Parent(max(n, 0))) {
		case syntax.Block, syntax.Module:
		default:
			continue
		}
		if k := tree.Kind(n); n == tree.Root() || k == syntax.Comment || k == syntax.CaseClause {
			continue
		}
		start := tree.Span(n).Start
		line := strings.LastIndexByte(src[:start], '\n') + 1
		if indent := src[line:start]; strings.TrimSpace(indent) == "" {
			yield(n, line, indent)
		}
	}
}

func TestWhatDoesNothingChangesNothing(t *testing.T) {
	insertions := map[string]string{
		"comments":       "# total += loss\n\n",
		"a dead name":    "%s_unused = 0\n",
		"a dead branch":  "%sif False:\n%s    raise ValueError\n",
		"a passed check": "%sassert True, 'unreachable'\n",
		"a lambda":       "%s_unused = lambda total, loss: total + loss\n",
		"a scope":        "%sdef _unused(total, loss):\n%s    return total + loss\n",
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

// TestGuardedLoopsAreSilent puts the body of every loop under no_grad: nothing
// made there carries a graph.
func TestGuardedLoopsAreSilent(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, path := range fixtures(t) {
		src := string(read(t, path).Text)
		guarded := guardLoops(t, src)
		tree := parse(t, guarded)
		report := check(t, checker, rules.Source{Path: path, Text: []byte(guarded)})
		require.Empty(t, report.Damaged, guarded)
		for _, f := range report.Findings {
			ofGraph := f.Keeps == rules.Graph || f.Keeps == rules.Nodes // values stay without one
			if ofGraph && f.Code != "GL305" && !unguarded(tree, f.Span) && !loopsElsewhere(f, path, guarded) {
				t.Errorf("%s: %s: %s", path, guarded[f.Span.Start:f.Span.End], f.Message)
			}
		}
	}
}

// loopsElsewhere reports whether the loop of a finding is no loop statement of the
// file: a function that calls itself or that code which is not here calls again
// and again, a fold.
func loopsElsewhere(f rules.Finding, path, src string) bool {
	return slices.ContainsFunc(f.Evidence, func(e rules.Evidence) bool {
		if !strings.HasSuffix(e.Message, "adds to it") {
			return false
		}
		header := strings.TrimPrefix(src[min(e.Span.Start, len(src)):], "async ")
		return e.Path != path || !strings.HasPrefix(header, "for ") && !strings.HasPrefix(header, "while ")
	})
}

// guardLoops indents the bodies of all loops under no_grad.
func guardLoops(t *testing.T, src string) string {
	tree := parse(t, src)
	guards := map[int]string{} // line → the with statement before it
	deeper := map[int]int{}    // line → how many levels deeper
	line := func(at int) int { return strings.Count(src[:at], "\n") }
	lines := strings.Split(src, "\n")
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		if k := tree.Kind(n); k != syntax.ForStatement && k != syntax.WhileStatement {
			continue
		}
		body := tree.Span(tree.Child(n, syntax.FieldBody))
		first, last := line(body.Start), line(body.End)
		require.Less(t, line(tree.Span(n).Start), first, "a loop on one line")
		indent := lines[first][:len(lines[first])-len(strings.TrimLeft(lines[first], " "))]
		guards[first] = strings.Repeat("    ", deeper[first]) + indent + "with torch.no_grad():"
		for i := first; i <= last; i++ {
			deeper[i]++
		}
	}
	out := []string{"import torch"}
	for i, l := range lines {
		if guard, ok := guards[i]; ok {
			out = append(out, guard)
		}
		if l != "" {
			l = strings.Repeat("    ", deeper[i]) + l
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// unguarded reports whether a place is in no statement loop, or where gradients
// are switched on again.
func unguarded(tree *syntax.Tree, s text.Span) bool {
	loop := false
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		if !tree.Span(n).Covers(s) {
			continue
		}
		switch k := tree.Kind(n); {
		case k == syntax.ForStatement, k == syntax.WhileStatement:
			loop = true
		case k == syntax.WithStatement && strings.HasPrefix(tree.Text(n), "with torch.enable_grad()"),
			slices.Contains([]syntax.Kind{syntax.ListComprehension, syntax.SetComprehension, syntax.DictionaryComprehension, syntax.GeneratorExpression}, k):
			return true
		case k == syntax.Call && (strings.HasPrefix(tree.Text(n), "sum(") || strings.HasPrefix(tree.Text(n), "list(") || strings.Contains(tree.Text(tree.Child(n, syntax.FieldFunction)), "reduce")):
			return true
		}
	}
	return !loop
}

// TestWhereAProgramStandsDoesNotMatter moves whole modules under statements
// that run them once.
func TestWhereAProgramStandsDoesNotMatter(t *testing.T) {
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
			require.NoError(t, err, mutated)
			assert.LessOrEqual(t, len(outcome.Report.Findings), len(report.Findings), "a fix brought a finding:\n%s", mutated)
			for _, f := range outcome.Report.Findings {
				assert.False(t, slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool { return fix.Safety == rules.Safe }), "a safe fix was not applied:\n%s", mutated)
			}
		}
	}
}
