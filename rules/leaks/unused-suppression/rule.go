// Package unused reports comments that silence findings where there are none.
package unused

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

//go:embed doc.md
var doc string

// Rule is GL001.
var Rule = &rules.Rule{Code: "GL001", Name: "unused-suppression", Doc: doc, Run: run, Last: true}

func run(p *rules.Pass) {
	if !p.Complete || p.Facts.CutShort {
		return // what was not seen may have findings
	}
	for _, s := range p.Suppressions {
		if useless, ok := unused(p, s); ok {
			p.Report(finding(p, s, useless))
		}
	}
}

// unused are the codes of a comment that silence nothing, none if it is meant for
// all rules. It reports false for a comment that is in use, or may be.
func unused(p *rules.Pass, s *rules.Suppression) (codes []text.Span, ok bool) {
	if s.All() {
		return nil, !s.Used("") && len(p.Off) == 0
	}
	src := p.Module.Tree.Source()
	for _, at := range s.Codes {
		named := src[at.Start:at.End]
		is := func(r *rules.Rule) bool { return r.Is(named) }
		ran := slices.IndexFunc(p.Ran, is)
		switch {
		case ran >= 0 && (p.Ran[ran].Last || s.Used(p.Ran[ran].Code)):
		case ran < 0 && (s.Foreign || slices.ContainsFunc(p.Off, is)): // a code of another tool, or not asked about
		default:
			codes = append(codes, at)
		}
	}
	return codes, len(codes) > 0 || len(s.Codes) == 0
}

func finding(p *rules.Pass, s *rules.Suppression, useless []text.Span) rules.Finding {
	t := p.Module.Tree
	message := "This comment silences nothing: no rule has a finding here. Remove it."
	switch {
	case !s.All() && len(useless) == 0:
		message = "This comment silences nothing: it names no rule. Remove it."
	case len(useless) > 0:
		message = fmt.Sprintf("This comment silences nothing: %s. Remove it.", why(p, useless))
		if len(useless) < len(s.Codes) {
			message = fmt.Sprintf("This comment names too much: %s. Remove that.", why(p, useless))
		}
	}
	title := "Remove the comment that silences nothing"
	edit := without(t, s)
	if 0 < len(useless) && len(useless) < len(s.Codes) {
		title = "Remove the codes that silence nothing"
		edit = rest(t, s, useless)
	}
	line := lineOf(t, s.Span.Start)
	return rules.Finding{
		Span: s.Span, Severity: rules.Hint, Message: message,
		Memory: rules.NoMemory, Keeps: rules.Nothing, Confidence: rules.High,
		Evidence: []rules.Evidence{{Path: p.Module.Path, Span: line, Message: "in the statement on this line there is nothing to silence"}},
		Fixes:    []rules.Fix{{Title: title, Safety: rules.Safe, Edits: []rules.FileEdit{{Path: p.Module.Path, Edit: edit}}}},
	}
}

// why says of each of the codes why it silences nothing.
func why(p *rules.Pass, codes []text.Span) string {
	var said []string
	for _, at := range codes {
		named := p.Module.Tree.Source()[at.Start:at.End]
		if slices.ContainsFunc(p.Ran, func(r *rules.Rule) bool { return r.Is(named) }) {
			said = append(said, named+" has no finding here")
		} else {
			said = append(said, "there is no rule "+named)
		}
	}
	return strings.Join(said, ", ")
}

// rest is the edit that leaves of the codes of a comment those that are in use.
func rest(t *syntax.Tree, s *rules.Suppression, useless []text.Span) text.Edit {
	var kept []string
	for _, at := range s.Codes {
		if !slices.Contains(useless, at) {
			kept = append(kept, t.Source()[at.Start:at.End])
		}
	}
	return text.Edit{Span: text.Span{Start: s.Codes[0].Start, End: s.Codes[len(s.Codes)-1].End}, New: strings.Join(kept, ", ")}
}

// without is the edit that removes a comment: with the blanks before it, with its
// line if there is nothing else on it, and with what explains it, but not with
// another comment behind.
func without(t *syntax.Tree, s *rules.Suppression) text.Edit {
	src := t.Source()
	line, comment := lineOf(t, s.Span.Start), t.Span(s.Comment)
	comment.End = comment.Start + len(strings.TrimRight(t.Text(s.Comment), "\r"))
	span := text.Span{Start: s.Span.Start, End: comment.End}
	if next := strings.IndexByte(src[s.Span.End:comment.End], '#'); next >= 0 {
		return text.Edit{Span: text.Span{Start: span.Start, End: s.Span.End + next}}
	}
	span.Start = line.Start + len(strings.TrimRight(src[line.Start:span.Start], " \t"))
	if span.Start == line.Start {
		span.End = min(line.End+1, len(src))
	}
	return text.Edit{Span: span}
}

// lineOf is the line that an offset is on, without its end.
func lineOf(t *syntax.Tree, offset int) text.Span {
	src := t.Source()
	end := len(src)
	if i := strings.IndexByte(src[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	return text.Span{Start: strings.LastIndexByte(src[:offset], '\n') + 1, End: end}
}
