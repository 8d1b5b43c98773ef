package fixes_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// use is something that a program does with a sum or a list of losses, and
// what PyTorch made of it after each fix; see testdata/measure.py.
type use struct {
	holds        string // "sum" or "list"
	detach, item string // "ok", "changes", or an error
	code         string // statements separated by semicolons
}

// uses are those that work before a fix.
func uses(t *testing.T) []use {
	t.Helper()
	data, err := os.ReadFile("testdata/uses.tsv")
	require.NoError(t, err)
	_, rows, _ := strings.Cut(string(data), "\n")
	var out []use
	for row := range strings.Lines(rows) {
		fields := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 5)
		require.Len(t, fields, 5, row)
		if fields[1] == "ok" {
			out = append(out, use{fields[0], fields[2], fields[3], fields[4]})
		}
	}
	require.NotEmpty(t, out)
	return out
}

// program trains a model, leaks into a sum or a list, and then makes these uses
// of it.
func program(evaluates bool, later ...use) string {
	var b strings.Builder
	b.WriteString(`import copy
import json
import math
import pickle
import statistics

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def run(model: nn.Module, batches, optimizer):
    history, log = [], {}
    total, losses = 0.0, []
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
`)
	if !evaluates {
		b.WriteString("        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n")
	}
	if later[0].holds == "sum" {
		b.WriteString("        total += loss\n")
	} else {
		b.WriteString("        losses.append(loss)\n")
	}
	for _, u := range later {
		for statement := range strings.SplitSeq(u.code, "; ") {
			fmt.Fprintf(&b, "    %s\n", statement)
		}
	}
	return b.String()
}

// offered are the fixes of the leak in a program: whether there is a safe one
// that detaches, and one of any kind that takes the number.
func offered(t *testing.T, checker *rules.Checker, src string) (found, detach, item bool) {
	t.Helper()
	report, err := checker.Check(t.Context(), rules.Source{Text: []byte(src)})
	require.NoError(t, err)
	require.Empty(t, report.Skipped)
	require.Empty(t, report.Damaged, src)
	for _, f := range report.Findings {
		for _, fix := range f.Fixes {
			for _, e := range fix.Edits {
				detach = detach || strings.Contains(e.New, ".detach()") && fix.Safety == rules.Safe
				item = item || strings.Contains(e.New, ".item()")
			}
		}
	}
	return len(report.Findings) > 0, detach, item
}

// TestNoFixBreaksALaterUse tries each use of the measured matrix alone.
func TestNoFixBreaksALaterUse(t *testing.T) {
	checker := rules.NewChecker(leaks.All()...)
	var takeNumbers, missed int
	for _, u := range uses(t) {
		for _, evaluates := range []bool{false, true} {
			src := program(evaluates, u)
			found, detach, item := offered(t, checker, src)
			if !found {
				assert.True(t, evaluates, "the leak is not found with the later use %s", u.code)
				continue
			}
			if u.detach != "ok" {
				assert.False(t, detach, "detach is called safe although %s %s", u.code, u.detach)
			}
			switch u.item {
			case "ok":
				takeNumbers++
				if !item {
					missed++
				}
			case "changes":
			default:
				assert.False(t, item, "item is offered although %s gives %s", u.code, u.item)
			}
		}
	}
	assert.LessOrEqual(t, 2*missed, takeNumbers, "the number is offered in too few programs that would take it")
}

// TestNoFixBreaksSeveralUses draws programs that make several uses.
func TestNoFixBreaksSeveralUses(t *testing.T) {
	const programs = 300
	checker := rules.NewChecker(leaks.All()...)
	all := uses(t)
	draw := rand.New(rand.NewPCG(1, 2))
	for range programs {
		holds := []string{"sum", "list"}[draw.IntN(2)]
		var later []use
		for range 1 + draw.IntN(4) {
			if u := all[draw.IntN(len(all))]; u.holds == holds {
				later = append(later, u)
			}
		}
		if len(later) == 0 {
			continue
		}
		src := program(draw.IntN(2) == 0, later...)
		_, detach, item := offered(t, checker, src)
		if slices.ContainsFunc(later, func(u use) bool { return u.detach != "ok" }) {
			assert.False(t, detach, src)
		}
		if slices.ContainsFunc(later, func(u use) bool { return strings.HasSuffix(u.item, "Error") }) {
			assert.False(t, item, src)
		}
	}
}

// inTheCaller is a program whose function returns what it sums up or collects, to
// a caller that makes the uses of it.
func inTheCaller(later ...use) string {
	name, held := "total", "total"
	if later[0].holds == "list" {
		name, held = "losses", "losses"
	}
	src, uses, _ := strings.Cut(program(false, later...), held+" += loss\n")
	if name == "losses" {
		src, uses, _ = strings.Cut(program(false, later...), "losses.append(loss)\n")
		return src + "losses.append(loss)\n    return losses\n\n\ndef main(model, batches, optimizer):\n    history, log = [], {}\n    losses = run(model, batches, optimizer)\n" + uses
	}
	return src + "total += loss\n    return total\n\n\ndef main(model, batches, optimizer):\n    history, log = [], {}\n    total = run(model, batches, optimizer)\n" + uses
}

// TestNoFixBreaksAUseInTheCaller tries each use of the measured matrix behind a
// return.
func TestNoFixBreaksAUseInTheCaller(t *testing.T) {
	checker := rules.NewChecker(leaks.All()...)
	offers := 0
	for _, u := range uses(t) {
		src := inTheCaller(u)
		found, detach, item := offered(t, checker, src)
		if u.detach == "ok" {
			assert.True(t, found, "the leak is not found with the later use %s", u.code)
		} else {
			assert.False(t, detach, "detach is called safe although %s %s", u.code, u.detach)
		}
		if u.item != "ok" && u.item != "changes" {
			assert.False(t, item, "item is offered although %s gives %s", u.code, u.item)
		} else if item {
			offers++
		}
	}
	assert.Positive(t, offers, "the number is offered through a return")
}

// TestTheNumberIsOfferedForWhatPeopleDo with a running loss.
func TestTheNumberIsOfferedForWhatPeopleDo(t *testing.T) {
	checker := rules.NewChecker(leaks.All()...)
	for _, code := range []string{
		`f"{total / 3:.4f}"`, `"%.4f" % total`, `"{:.4f}".format(total)`, `float(total)`, `math.exp(total)`, `print(float(total))`,
		`mean = total / 3; f"{mean:.3f}"`, `1 if total < 1e9 else 2`, `total /= len(batches); f"{total:.3f}"`,
	} {
		_, detach, item := offered(t, checker, program(false, use{holds: "sum", code: code}))
		assert.True(t, detach, "detach for %s", code)
		assert.True(t, item, "item for %s", code)
	}
	for _, code := range []string{`sum(losses) / len(losses)`, `f"{sum(losses) / len(losses):.4f}"`, `torch.tensor(losses)`, `len(losses)`} {
		_, detach, item := offered(t, checker, program(false, use{holds: "list", code: code}))
		assert.True(t, detach, "detach for %s", code)
		assert.True(t, item, "item for %s", code)
	}
}

// TestNumbersAreScalars: item raises on a tensor of more elements.
func TestNumbersAreScalars(t *testing.T) {
	checker := rules.NewChecker(leaks.All()...)
	scalar := program(false, use{holds: "sum", code: "float(total)"})
	for _, vector := range []string{
		"model(x)", "F.mse_loss(model(x), y, reduction='none')", "model(x).mean(dim=1)", "model(x).sum(0, keepdim=True)", "model(x)[0]",
		"torch.stack([model(x).mean(), y.mean()])", "(model(x) - y) ** 2", "model(x).max(dim=1)[0]", "model(x).flatten()", "unknown(model(x))",
	} {
		src := strings.Replace(scalar, "F.mse_loss(model(x), y)", vector, 1)
		found, _, item := offered(t, checker, src)
		assert.True(t, found, vector)
		assert.False(t, item, "%s has more than one element", vector)
	}
	for _, single := range []string{"F.mse_loss(model(x), y)", "model(x).mean()", "(model(x) - y).pow(2).mean()", "nn.MSELoss()(model(x), y)", "model(x).sum() / 3 + 1"} {
		src := strings.Replace(scalar, "F.mse_loss(model(x), y)", single, 1)
		_, _, item := offered(t, checker, src)
		assert.True(t, item, "%s is a scalar", single)
	}
}

// TestFixesFitTheExpression: a method is called on what is stored, not on its
// last operand.
func TestFixesFitTheExpression(t *testing.T) {
	tests := []struct{ stored, want string }{
		{"loss", "loss.detach()"},
		{"loss * len(x)", "loss.detach() * len(x)"},
		{"len(x) * loss", "len(x) * loss.detach()"},
		{"loss / 4", "loss.detach() / 4"},
		{"-loss", "(-loss).detach()"},
		{"loss + penalty", "(loss + penalty).detach()"},
		{"(loss)", "(loss.detach())"},
		{"parts[0]", "parts[0].detach()"},
		{"F.l1_loss(output, y)", "F.l1_loss(output, y).detach()"},
		{"loss if n else penalty", "(loss if n else penalty).detach()"},
		{"loss ** 0.5", "loss.detach() ** 0.5"},
		{"loss.mean()", "loss.mean().detach()"},
		{"loss  # the mean", "loss.detach()  # the mean"},
	}
	checker := rules.NewChecker(leaks.All()...)
	for _, tt := range tests {
		t.Run(tt.stored, func(t *testing.T) {
			const before = `import torch.nn.functional as F
from torch import nn


def train(model: nn.Module, loader, optimizer, n):
    total = 0.0
    for x, y in loader:
        output = model(x)
        loss, penalty = F.mse_loss(output, y), output.pow(2).mean()
        parts = [loss, penalty]
        optimizer.zero_grad()
        (loss + penalty).backward()
        optimizer.step()
        total += `
			src := before + tt.stored + "\n    print(float(total))\n"
			report, err := checker.Check(t.Context(), rules.Source{Path: "train.py", Text: []byte(src)})
			require.NoError(t, err)
			require.Len(t, report.Findings, 1)
			require.NotEmpty(t, report.Findings[0].Fixes)
			fix := report.Findings[0].Fixes[0]
			assert.Equal(t, rules.Safe, fix.Safety)
			fixed := src
			edits := slices.Clone(fix.Edits)
			slices.SortFunc(edits, func(a, b rules.FileEdit) int { return b.Start - a.Start })
			for _, e := range edits {
				assert.Equal(t, "train.py", e.Path)
				fixed = fixed[:e.Start] + e.New + fixed[e.End:]
			}
			_, got, _ := strings.Cut(fixed, "total += ")
			got, _, _ = strings.Cut(got, "\n")
			assert.Equal(t, tt.want, got)
		})
	}
}

// TestTitlesAreVerbPhrases as people read them in a menu.
func TestTitlesAreVerbPhrases(t *testing.T) {
	verb := regexp.MustCompile(`^(Detach|Keep) [^A-Z]`)
	checker := rules.NewChecker(leaks.All()...)
	for _, evaluates := range []bool{false, true} {
		report, err := checker.Check(t.Context(), rules.Source{Text: []byte(program(evaluates, use{holds: "sum", code: "float(total)"}))})
		require.NoError(t, err)
		require.Len(t, report.Findings, 1)
		titles := map[string]bool{}
		for _, fix := range report.Findings[0].Fixes {
			assert.Regexp(t, verb, fix.Title)
			assert.NotContains(t, fix.Title, "\n")
			assert.False(t, titles[fix.Title], "two fixes are called %s", fix.Title)
			titles[fix.Title] = true
		}
		assert.Len(t, titles, 2)
	}
}
