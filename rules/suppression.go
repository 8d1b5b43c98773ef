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
//	# graphleak: ignore[GL101]     those of the rules named, by code or by name
//	# noqa: GL101                  the same, as other tools write it
//	# graphleak: skip-file         all of the file
var (
	// IgnoreComment has the codes in its second group, in brackets in the first.
	// A bracket that is not closed ends with the comment, so that it does not mean
	// all rules.
	IgnoreComment = regexp.MustCompile(`#\s*(?i:graphleak):\s*ignore\b(\s*\[([^\]#\n]*)\]?)?`)
	// NoqaComment has the codes in its first group.
	NoqaComment = regexp.MustCompile(`#\s*(?i:noqa)\s*:\s*((?i:[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))`)
	skipFile    = regexp.MustCompile(`#\s*(?i:graphleak):\s*skip-file\b`)
)

// mayBeThere is in every text that has such a comment.
var mayBeThere = regexp.MustCompile(`(?i)graphleak:|noqa\s*:`)

// Suppression is a comment that silences findings of the statement on whose lines
// it stands.
type Suppression struct {
	Comment syntax.NodeID
	Span    text.Span   // of the part of the comment that does it
	Codes   []text.Span // of the codes; none for all rules
	// Foreign says that other tools read the comment too.
	Foreign bool

	all   bool
	codes []string
	used  map[string]bool // codes of findings that it has silenced
}

// All reports whether s silences all rules.
func (s *Suppression) All() bool { return s.all }

// Names reports whether s names a rule.
func (s *Suppression) Names(rule *Rule) bool { return slices.ContainsFunc(s.codes, rule.Is) }

// Used reports whether s has silenced a finding of a code; of any, if that is
// empty.
func (s *Suppression) Used(code string) bool { return code == "" && len(s.used) > 0 || s.used[code] }

// silences reports whether s silences a rule. Those that are about comments have
// to be named.
func (s *Suppression) silences(rule *Rule) bool {
	if !s.Names(rule) && (!s.All() || rule.Last) {
		return false
	}
	s.used[rule.Code] = true
	return true
}

// suppressions are what the comments of a file silence.
type suppressions struct {
	tree  *syntax.Tree
	list  []*Suppression
	lines map[int][]*Suppression // by the offset at which the line starts
}

// readSuppressions finds the comments that silence findings. It reports false if
// one silences all of the file.
func readSuppressions(t *syntax.Tree) (suppressions, bool) {
	s := suppressions{tree: t, lines: map[int][]*Suppression{}}
	if !mayBeThere.MatchString(t.Source()) {
		return s, true
	}
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) != syntax.Comment {
			continue
		}
		if skipFile.MatchString(t.Text(n)) {
			return s, false
		}
		s.add(n, IgnoreComment, 2)
		s.add(n, NoqaComment, 1)
	}
	return s, true
}

// add notes what a comment silences if it has a form. The codes are in a group of
// that.
func (s *suppressions) add(comment syntax.NodeID, form *regexp.Regexp, group int) {
	start := s.tree.Span(comment).Start
	for _, m := range form.FindAllStringSubmatchIndex(s.tree.Text(comment), -1) {
		found := &Suppression{
			Comment: comment, Span: text.Span{Start: start + m[0], End: start + m[1]},
			Foreign: form == NoqaComment, all: m[2*group] < 0, used: map[string]bool{},
		}
		if m[2*group] >= 0 {
			found.Codes = words(s.tree.Source(), text.Span{Start: start + m[2*group], End: start + m[2*group+1]})
		}
		for _, code := range found.Codes {
			found.codes = append(found.codes, s.tree.Source()[code.Start:code.End])
		}
		s.list = append(s.list, found)
		line := s.lineStart(start)
		s.lines[line] = append(s.lines[line], found)
	}
}

// words are the places of what commas and blanks separate in a part of src.
func words(src string, within text.Span) []text.Span {
	var out []text.Span
	inWord := false
	for at := within.Start; at < within.End; at++ {
		separates := strings.IndexByte(", \t", src[at]) >= 0
		switch {
		case !separates && !inWord:
			out = append(out, text.Span{Start: at, End: at + 1})
		case !separates:
			out[len(out)-1].End = at + 1
		}
		inWord = !separates
	}
	return out
}

// lineStart is where the line begins that an offset is on.
func (s suppressions) lineStart(offset int) int {
	return strings.LastIndexByte(s.tree.Source()[:offset], '\n') + 1
}

// silencing are the comments on a line of a finding of a rule, or of the statement
// that it is in, that silence it.
func (s suppressions) silencing(rule *Rule, finding text.Span) []*Suppression {
	if len(s.lines) == 0 {
		return nil
	}
	var found []*Suppression
	span := s.statement(finding)
	src := s.tree.Source()
	for at := s.lineStart(span.Start); at <= span.End && at < len(src); {
		for _, comment := range s.lines[at] {
			if comment.silences(rule) {
				found = append(found, comment)
			}
		}
		next := strings.IndexByte(src[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return found
}

// statement widens a span to the simple statement that holds it, or to the head of
// the compound one.
func (s suppressions) statement(span text.Span) text.Span {
	t := s.tree
	for n := t.Root(); int(n) < t.Len(); n++ {
		at := t.Span(n)
		switch t.Kind(n) {
		case syntax.ExpressionStatement, syntax.ReturnStatement, syntax.AssertStatement, syntax.DeleteStatement, syntax.RaiseStatement:
		case syntax.ForStatement, syntax.WhileStatement, syntax.WithStatement, syntax.FunctionDefinition, syntax.ClassDefinition:
			at.End = t.Span(t.Child(n, syntax.FieldBody)).Start
		case syntax.IfStatement, syntax.ElifClause:
			at.End = t.Span(t.Child(n, syntax.FieldConsequence)).Start
		default:
			continue
		}
		if at.Start <= span.Start && span.End <= at.End {
			at.End = at.Start + len(strings.TrimRight(t.Source()[at.Start:at.End], " \t\r\n"))
			return at
		}
	}
	return span
}
