package server

import (
	"context"
	"fmt"
	"path"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// hover explains the findings at a position, what a comment there silences, or the
// rule that a configuration file names there.
func (s *server) hover(ctx context.Context, view *snapshot, params *protocol.HoverParams) (*protocol.Hover, error) {
	doc, ok := view.open(params.TextDocument.URI)
	if !ok {
		return nil, nil
	}
	out, err := doc.program.check.wait(ctx)
	if err != nil {
		return nil, err
	}
	at := doc.within.Start + offset(doc.mapper(), params.Position, view.client.encoding)
	var parts []string
	var span text.Span
	show := func(where text.Span, part string) {
		if len(parts) == 0 || where.Len() < span.Len() {
			span = where
		}
		parts = append(parts, part)
	}
	inComment := true
	for _, f := range out.findings {
		if f.Span.Start <= at && at <= f.Span.End && doc.has(f) {
			_, local, _ := doc.program.at(f.Span)
			show(local, view.explain(doc, f))
			inComment = inComment && f.Memory == rules.NoMemory
		}
	}
	if inComment {
		for _, s := range out.silenced {
			if s.Comment.Start <= at && at <= s.Comment.End {
				_, local, _ := doc.program.at(s.Comment)
				show(local, "Silenced here: "+view.explain(doc, s.Finding))
			}
		}
		for _, m := range view.mentions(doc) {
			if local := at - doc.within.Start; m.span.Start <= local && local <= m.span.End {
				show(m.span, view.about(m.rule))
			}
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	contents := &protocol.MarkupContent{Kind: protocol.MarkupKindPlainText, Value: strings.Join(parts, "\n\n")}
	if view.client.markdown {
		contents.Kind = protocol.MarkupKindMarkdown
		contents.Value = strings.Join(parts, "\n\n---\n\n")
	}
	r := view.rangeOf(doc.mapper(), span)
	return &protocol.Hover{Contents: contents, Range: &r}, nil
}

// explain is a finding with its reasons, as Markdown if the client renders it.
func (v *snapshot) explain(doc part, f rules.Finding) string {
	title, item, link := "%s %s", "\n- %s%s", "\n\n%s: %s"
	if v.client.markdown {
		title, link = "**%s** %s", "\n\n[About %s](%s)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, title, f.Code, f.Rule)
	fmt.Fprintf(&b, " (%s: %s)\n\n%s\n", f.Severity, cost(f), f.Message)
	if !v.client.relatedInformation { // else the diagnostic has the chain
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, item, v.where(doc, e), e.Message)
		}
	}
	fmt.Fprintf(&b, link, f.Code, v.page(f))
	return b.String()
}

// about says in short what a rule is about.
func (v *snapshot) about(rule *rules.Rule) string {
	format := "%s %s: %s\n\n%[1]s: %[4]s"
	if v.client.markdown {
		format = "**%s** %s: %s\n\n[About %[1]s](%[4]s)"
	}
	return fmt.Sprintf(format, rule.Code, rule.Name, rule.Title(), rule.URL())
}

// where names the place of a piece of evidence, and ends in what separates it
// from the message.
func (v *snapshot) where(doc part, e rules.Evidence) string {
	at, ok := v.location(doc.program, e.Path, e.Span)
	if !ok {
		return ""
	}
	line := at.Range.Start.Line + 1
	place := fmt.Sprintf("line %d", line)
	if at.URI != doc.uri {
		place = fmt.Sprintf("%s, line %d", path.Base(at.URI.Path()), line)
	}
	if v.client.markdown {
		return fmt.Sprintf("[%s](%s#L%d): ", place, at.URI, line)
	}
	return place + ": "
}

// cost says in a few words what a finding costs.
func cost(f rules.Finding) string {
	switch f.Memory {
	case rules.Peak:
		return "a higher peak of memory"
	case rules.NoMemory:
		return "it costs no memory"
	}
	return fmt.Sprintf("%s memory grows, by %s", f.Memory, kept(f.Keeps))
}

func kept(k rules.Keeps) string {
	switch k {
	case rules.Graph:
		return "whole graphs with their activations"
	case rules.Nodes:
		return "the nodes of freed graphs"
	case rules.Storage:
		return "storage behind views"
	default:
		return "tensors"
	}
}
