package server

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// documentLink makes links of the codes in comments that silence findings, and of
// those in configuration files: they lead to the pages about the rules.
func (s *server) documentLink(_ context.Context, view *snapshot, params *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	links := []protocol.DocumentLink{}
	doc, ok := view.open(params.TextDocument.URI)
	if !ok || !doc.program.speaks() {
		return links, nil
	}
	for _, m := range view.mentions(doc) {
		target, tooltip := uri.URI(m.rule.URL()), fmt.Sprintf("%s: %s", m.rule.Name, m.rule.Title())
		links = append(links, protocol.DocumentLink{Range: view.rangeOf(doc.mapper(), m.span), Target: &target, Tooltip: &tooltip})
	}
	return links, nil
}
