package server

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

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

// withHeld is the findings of report, and those of held that lie in functions
// of src which were too damaged to be checked again.
func withHeld(report rules.Report, held []rules.Finding, src []byte) []rules.Finding {
	findings := slices.Clone(report.Findings)
	if len(held) == 0 {
		return findings
	}
	var block text.Span
	for _, damage := range report.Damaged {
		if block.Len() > 0 && block.Covers(damage) {
			continue
		}
		block = enclosingBlock(src, damage)
		for _, f := range held {
			if block.Covers(f.Span) && !reported(findings, f) {
				findings = append(findings, f)
			}
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

// enclosingBlock widens the span of damaged text to the outermost function
// around it or, outside of functions, to the top-level statement. There is no
// syntax tree to ask, so indentation decides, as it does for the reader.
func enclosingBlock(src []byte, damage text.Span) text.Span {
	block := text.Span{Start: lineStart(src, damage.Start), End: lineEnd(src, damage.End)}

	// Upwards: every line that is indented less encloses what came before.
	start, inFunction := block.Start, false
	for at, column := block.Start, -1; ; at = lineStart(src, at-1) {
		line := src[at:lineEnd(src, at)]
		if indent := indentation(line); !blank(line) && !closes(line) && (column < 0 || indent < column) {
			column = indent
			if function := isFunction(line); function || !inFunction {
				start, inFunction = at, inFunction || function
			}
		}
		if at == 0 || column == 0 {
			break
		}
	}
	block.Start = start

	// Downwards: the block goes on while lines are indented more than its first.
	outer := indentation(src[block.Start:lineEnd(src, block.Start)])
	for block.End < len(src) {
		end := lineEnd(src, block.End)
		line := src[block.End:end]
		if !blank(line) && indentation(line) <= outer && !closes(line) {
			break
		}
		block.End = end
	}
	return block
}

// lineStart is the start of the line that offset lies on.
func lineStart(src []byte, offset int) int {
	return bytes.LastIndexByte(src[:min(offset, len(src))], '\n') + 1
}

// lineEnd is the end of the line that offset lies on, behind its line end.
func lineEnd(src []byte, offset int) int {
	offset = min(offset, len(src))
	if n := bytes.IndexByte(src[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(src)
}

// blank reports whether a line has no code.
func blank(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// indentation is the width of what a line starts with.
func indentation(line []byte) int {
	return len(line) - len(bytes.TrimLeft(line, " \t\f"))
}

// isFunction reports whether src starts with the head of a function.
func isFunction(src []byte) bool {
	head := strings.TrimLeft(string(src[:min(len(src), 256)]), " \t\f")
	head, _ = strings.CutPrefix(head, "async ")
	return strings.HasPrefix(strings.TrimLeft(head, " \t"), "def ")
}

// closes reports whether a line goes on with a statement that began above it.
func closes(line []byte) bool {
	return bytes.ContainsAny(bytes.TrimSpace(line)[:1], ")]}")
}
