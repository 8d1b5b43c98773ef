package repair

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

const path = "train.py"

// rewrite is a rule that finds a pattern and offers to replace it.
func rewrite(pattern, replacement string, safety rules.Safety) Check {
	re := regexp.MustCompile(pattern)
	return func(ctx context.Context, src rules.Source) (rules.Report, error) {
		var report rules.Report
		for _, at := range re.FindAllIndex(src.Text, -1) {
			span := text.Span{Start: at[0], End: at[1]}
			fixed := string(re.ReplaceAll(src.Text[at[0]:at[1]], []byte(replacement)))
			report.Findings = append(report.Findings, rules.Finding{Path: src.Path, Span: span, Fixes: []rules.Fix{{
				Title: "Replace it", Safety: safety,
				Edits: []rules.FileEdit{{Path: src.Path, Edit: text.Edit{Span: span, New: fixed}}},
			}}})
		}
		return report, ctx.Err()
	}
}

func apply(t *testing.T, check Check, src string, unsafe bool) (Outcome, error) {
	t.Helper()
	source := rules.Source{Path: path, Text: []byte(src)}
	report, err := check(t.Context(), source)
	require.NoError(t, err)
	return Apply(t.Context(), check, source, report, unsafe)
}

func TestApply(t *testing.T) {
	tests := []struct {
		name      string
		check     Check
		unsafe    bool
		src, want string
		applied   int
		left      int
	}{
		{"all findings at once", rewrite(`loss\b`, "loss_", rules.Safe), false, "a += loss\nb += loss\n", "a += loss_\nb += loss_\n", 2, 0},
		{"what one fix brings out", rewrite(`aa`, "ab", rules.Safe), false, "aaaa", "abab", 2, 0},
		{"fixes of neighbours one after the other", rewrite(`[xX]`, "y", rules.Safe), false, "xX", "yy", 2, 0},
		{"unsafe fixes are left", rewrite(`loss\b`, "loss_", rules.Unsafe), false, "a += loss", "a += loss", 0, 1},
		{"unsafe fixes where they are asked for", rewrite(`loss\b`, "loss_", rules.Unsafe), true, "a += loss", "a += loss_", 1, 0},
		{"no findings", rewrite(`nothing`, "", rules.Safe), false, "a = 1\n", "a = 1\n", 0, 0},
		{"a byte order mark", rewrite(`loss\b`, "loss_", rules.Safe), false, "\ufeffa = loss", "\ufeffa = loss_", 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(t, tt.check, tt.src, tt.unsafe)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got.Text))
			assert.Equal(t, tt.applied, got.Applied)
			assert.Len(t, got.Report.Findings, tt.left)
		})
	}
}

// A fix may remove findings that have a step of their argument in common with its
// own: those wait for the next check.
func TestApplyLooksAgainWhereOneFixMayRemoveTwo(t *testing.T) {
	loop := rules.Evidence{Path: path, Span: text.Span{Start: 0, End: 3}}
	check := func(_ context.Context, src rules.Source) (rules.Report, error) {
		var report rules.Report
		at := bytes.Index(src.Text, []byte("sum += loss;"))
		if at < 0 {
			return report, nil // nothing keeps a graph any more
		}
		end := len(src.Text)
		for _, place := range []int{at + len("sum += loss"), end} {
			report.Findings = append(report.Findings, rules.Finding{Path: path, Evidence: []rules.Evidence{loop}, Fixes: []rules.Fix{{
				Safety: rules.Safe, Edits: []rules.FileEdit{{Path: path, Edit: text.Edit{Span: text.Span{Start: place, End: place}, New: ".detach()"}}},
			}}})
		}
		// One whose fix edits another file is left alone, and holds up no other.
		elsewhere := rules.Fix{Safety: rules.Safe, Edits: []rules.FileEdit{{Path: "meter.py", Edit: text.Edit{New: "x"}}}}
		report.Findings = slices.Insert(report.Findings, 0, rules.Finding{Path: path, Evidence: []rules.Evidence{loop}, Fixes: []rules.Fix{elsewhere}})
		return report, nil
	}
	got, err := apply(t, check, "for: sum += loss; sums += sum", false)
	require.NoError(t, err)
	assert.Equal(t, "for: sum += loss.detach(); sums += sum", string(got.Text))
	assert.Equal(t, 1, got.Applied)
}

func TestApplyGivesUpOnFixesThatUndoEachOther(t *testing.T) {
	swap := func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if bytes.Contains(src.Text, []byte("a")) {
			return rewrite("a", "b", rules.Safe)(ctx, src)
		}
		return rewrite("b", "a", rules.Safe)(ctx, src)
	}
	_, err := apply(t, swap, "a", false)
	assert.ErrorContains(t, err, "undo each other")
}

func TestApplyNeverBreaksTheSyntax(t *testing.T) {
	check := func(ctx context.Context, src rules.Source) (rules.Report, error) {
		report, err := rewrite(`loss\b`, "(loss_", rules.Safe)(ctx, src)
		if at := bytes.IndexByte(src.Text, '('); at >= 0 {
			report.Damaged = []text.Span{{Start: at, End: at + 1}}
		}
		return report, err
	}
	_, err := apply(t, check, "a += loss", false)
	assert.ErrorContains(t, err, "break the syntax")
}

func TestApplyPassesErrorsOfTheCheckOn(t *testing.T) {
	stopped := errors.New("stopped")
	check := func(context.Context, rules.Source) (rules.Report, error) { return rules.Report{}, stopped }
	src := rules.Source{Path: path, Text: []byte("loss")}
	report, err := rewrite("loss", "x", rules.Safe)(t.Context(), src)
	require.NoError(t, err)
	_, err = Apply(t.Context(), check, src, report, false)
	assert.ErrorIs(t, err, stopped)
}

func TestSelect(t *testing.T) {
	edit := func(path string, start, end int, s string) rules.FileEdit {
		return rules.FileEdit{Path: path, Edit: text.Edit{Span: text.Span{Start: start, End: end}, New: s}}
	}
	finding := func(fixes ...rules.Fix) rules.Finding { return rules.Finding{Path: path, Fixes: fixes} }
	safe := func(edits ...rules.FileEdit) rules.Fix { return rules.Fix{Safety: rules.Safe, Edits: edits} }
	unsafe := func(edits ...rules.FileEdit) rules.Fix { return rules.Fix{Safety: rules.Unsafe, Edits: edits} }
	tests := []struct {
		name     string
		findings []rules.Finding
		want     []text.Edit
		fixes    int
	}{
		{
			"the first safe fix of each finding",
			[]rules.Finding{finding(unsafe(edit(path, 1, 2, "u")), safe(edit(path, 1, 2, "s")), safe(edit(path, 1, 2, "t"))), finding()},
			[]text.Edit{edit(path, 1, 2, "s").Edit}, 1,
		},
		{
			"the first of fixes that meet",
			[]rules.Finding{finding(safe(edit(path, 1, 5, "a"))), finding(safe(edit(path, 8, 9, ""), edit(path, 4, 6, "b"))), finding(safe(edit(path, 8, 9, "c")))},
			[]text.Edit{edit(path, 1, 5, "a").Edit, edit(path, 8, 9, "c").Edit}, 2,
		},
		{
			"edits that two fixes share are made once",
			[]rules.Finding{finding(safe(edit(path, 0, 0, "import torch\n"), edit(path, 5, 6, "a"))), finding(safe(edit(path, 0, 0, "import torch\n"), edit(path, 8, 9, "b")))},
			[]text.Edit{edit(path, 0, 0, "import torch\n").Edit, edit(path, 5, 6, "a").Edit, edit(path, 8, 9, "b").Edit}, 2,
		},
		{
			"different insertions at one place",
			[]rules.Finding{finding(safe(edit(path, 3, 3, ".detach()"))), finding(safe(edit(path, 3, 3, ".item()")))},
			[]text.Edit{edit(path, 3, 3, ".detach()").Edit}, 1,
		},
		{
			"fixes that edit another file",
			[]rules.Finding{finding(safe(edit(path, 1, 2, "a"), edit("meters.py", 1, 2, "b")))},
			nil, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			edits, fixes := Select(path, tt.findings, false)
			assert.Equal(t, tt.want, edits)
			assert.Equal(t, tt.fixes, fixes)
		})
	}
}
