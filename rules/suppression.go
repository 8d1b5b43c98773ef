package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

// The comments that silence findings:
//
//	# graphleak: ignore            all of the statement
//	# graphleak: ignore[GL101]     those of the rules named
//	# noqa: GL101                  the same, as other tools write it
//	# graphleak: skip-file         all of the file
var (
	// IgnoreComment has the codes in its second group, in brackets in the first.
	IgnoreComment = regexp.MustCompile(`#\s*graphleak:\s*ignore\b(\[([^\]\n]*)\])?`)
	// NoqaComment has the codes in its first group.
	NoqaComment = regexp.MustCompile(`#\s*noqa:\s*([A-Z][A-Z0-9, ]*)`)
	skipFile    = regexp.MustCompile(`#\s*graphleak:\s*skip-file\b`)
)

// suppressions are what the comments of a file silence.
type suppressions struct {
	tree  *syntax.Tree
	file  bool
	lines map[int][]string // by the offset at which the line starts: codes, "" for all
}

func readSuppressions(t *syntax.Tree) suppressions {
	s := suppressions{tree: t, lines: map[int][]string{}}
	if src := t.Source(); !strings.Contains(src, "graphleak:") && !strings.Contains(src, "noqa:") {
		return s
	}
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) != syntax.Comment {
			continue
		}
		comment, line := t.Text(n), s.lineStart(t.Span(n).Start)
		s.file = s.file || skipFile.MatchString(comment)
		if m := IgnoreComment.FindStringSubmatch(comment); m != nil {
			named := codes(m[2])
			if len(named) == 0 {
				named = []string{""}
			}
			s.lines[line] = append(s.lines[line], named...)
		}
		if m := NoqaComment.FindStringSubmatch(comment); m != nil {
			s.lines[line] = append(s.lines[line], codes(m[1])...)
		}
	}
	return s
}

// codes are the rule codes of a list.
func codes(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// lineStart is where the line begins that an offset is on.
func (s suppressions) lineStart(offset int) int {
	return strings.LastIndexByte(s.tree.Source()[:offset], '\n') + 1
}

// silences reports whether a comment on a line of the finding, or of the simple
// statement that it is in, silences it.
func (s suppressions) silences(f Finding) bool {
	if s.file || len(s.lines) == 0 {
		return s.file
	}
	span := s.statement(f.Span)
	src := s.tree.Source()
	for at := s.lineStart(span.Start); at <= span.End && at < len(src); {
		if named := s.lines[at]; slices.Contains(named, "") || slices.Contains(named, f.Code) {
			return true
		}
		next := strings.IndexByte(src[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return false
}

// statement widens a span to the simple statement that begins before it and
// holds it.
func (s suppressions) statement(span text.Span) text.Span {
	for n := s.tree.Root(); int(n) < s.tree.Len(); n++ {
		switch s.tree.Kind(n) {
		case syntax.ExpressionStatement, syntax.ReturnStatement, syntax.AssertStatement:
			if at := s.tree.Span(n); at.Start <= span.Start && span.End <= at.End {
				return at
			}
		}
	}
	return span
}
