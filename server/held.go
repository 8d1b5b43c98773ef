package server

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// Text that is being typed does not parse most of the time, and the findings of
// the function around the cursor would come and go with every key. So functions
// that touch damaged text keep the findings that they had when they were last
// whole, moved along with the edits. Such findings are held: they are shown,
// but their fixes are gone, since those were made for another text.

// shiftFindings moves findings of the file path over edit. Findings whose own
// text was edited are dropped, and all lose their fixes.
func shiftFindings(findings []rules.Finding, path string, edit text.Edit) []rules.Finding {
	edits := []text.Edit{edit}
	var shifted []rules.Finding
	for _, f := range findings {
		span, intact := text.Shift(f.Span, edits)
		if !intact {
			continue
		}
		f.Span = span
		f.Fixes = nil
		f.Evidence = slices.Clone(f.Evidence)
		for i, e := range f.Evidence {
			if e.Path == path {
				f.Evidence[i].Span, _ = text.Shift(e.Span, edits)
			}
		}
		shifted = append(shifted, f)
	}
	return shifted
}

// shifted moves findings of the program of a part over edits of the text of that
// part, which were made one after the other.
func shifted(findings []rules.Finding, of part, edits []text.Edit) []rules.Finding {
	for _, edit := range edits {
		edit.Span = of.inCode(edit.Span)
		findings = shiftFindings(findings, of.program.path, edit)
	}
	return findings
}

// rebase moves findings of one version of a notebook to another with other cells.
// Those in cells that are gone are dropped; all lose their fixes.
func rebase(findings []rules.Finding, from, to *program) []rules.Finding {
	move := func(s text.Span) (text.Span, bool) {
		owner, local, ok := from.at(s)
		if !ok {
			return text.Span{}, false
		}
		now, ok := to.find(owner.uri)
		if !ok || local.End > len(now.text) {
			return text.Span{}, false
		}
		return now.inCode(local), true
	}
	var moved []rules.Finding
	for _, f := range findings {
		var ok bool
		if f.Span, ok = move(f.Span); !ok {
			continue
		}
		f.Fixes = nil
		var evidence []rules.Evidence
		for _, e := range f.Evidence {
			if e.Path == from.path {
				if e.Span, ok = move(e.Span); !ok {
					continue
				}
			}
			evidence = append(evidence, e)
		}
		f.Evidence = evidence
		moved = append(moved, f)
	}
	return moved
}

// despiteDamage is the findings of report, and those of held that lie in text
// which was too damaged to be checked again. Damage extends to whole functions,
// or to all text outside of functions.
//
// A fix is safe because all uses of what it changes were seen. In damaged text
// they were not, so there no fix is.
func despiteDamage(report rules.Report, held []rules.Finding) []rules.Finding {
	damaged := func(f rules.Finding) bool {
		return slices.ContainsFunc(report.Damaged, func(s text.Span) bool { return s.Covers(f.Span) })
	}
	findings := slices.Clone(report.Findings)
	for i, f := range findings {
		if damaged(f) {
			findings[i].Fixes = slices.Clone(f.Fixes)
			for j := range f.Fixes {
				findings[i].Fixes[j].Safety = rules.Unsafe
			}
		}
	}
	for _, f := range held {
		if damaged(f) && !reported(report.Findings, f) {
			findings = append(findings, f)
		}
	}
	slices.SortStableFunc(findings, func(a, b rules.Finding) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return findings
}

// reported reports whether findings has f, perhaps of another extent.
func reported(findings []rules.Finding, f rules.Finding) bool {
	return slices.ContainsFunc(findings, func(other rules.Finding) bool {
		return other.Code == f.Code && other.Span.Start < f.Span.End && f.Span.Start < other.Span.End
	})
}
