package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/failures"
	"github.com/graphleak/graphleak/rules/pages"
)

// explainResult is what graphleak.explain returns: a page, or the list of all.
type explainResult struct {
	Title    string   `json:"title"`
	Markdown string   `json:"markdown"`
	URL      string   `json:"url,omitempty"`     // where rules have their pages
	Related  []string `json:"related,omitempty"` // codes and ids of other pages
	Topics   []topic  `json:"topics,omitempty"`
}

// topic is something that there is a page about.
type topic struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"` // rule or failure
	Title string `json:"title"`
}

// everyTopic asks for the list of all pages.
const everyTopic = "list"

// explain returns the page about a rule or a failure, or the list of all pages.
func explain(all []*rules.Rule, about string) (protocol.LSPAny, error) {
	if about == everyTopic {
		return json.Marshal(listTopics(all))
	}
	if page, ok := pages.Lookup(all, about); ok {
		markdown := page.Linked(func(id string) string { return id + ".md" })
		return json.Marshal(explainResult{Title: page.Title, Markdown: markdown, URL: page.URL, Related: page.Related})
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "there is no page about %q; %q names them all", about, everyTopic)
}

func listTopics(all []*rules.Rule) explainResult {
	result := explainResult{Title: "All pages"}
	for _, rule := range all {
		result.Topics = append(result.Topics, topic{rule.Code, "rule", rule.Title()})
	}
	for _, page := range failures.Pages() {
		result.Topics = append(result.Topics, topic{page.ID, "failure", page.Title})
	}
	var b strings.Builder
	for _, t := range result.Topics {
		fmt.Fprintf(&b, "- `%s`: %s\n", t.ID, t.Title)
	}
	result.Markdown = b.String()
	return result
}

// searchPages lists the pages about a message or words, best first.
func searchPages(all []*rules.Rule, text string) (protocol.LSPAny, error) {
	result := explainResult{Title: "Pages found", Topics: []topic{}}
	for _, hit := range failures.Search(all, text) {
		kind := "failure"
		if hit.Rule {
			kind = "rule"
		}
		result.Topics = append(result.Topics, topic{hit.ID, kind, hit.Title})
	}
	return json.Marshal(result)
}

// openPage has the client show the page about a rule in a browser.
func (s *server) openPage(ctx context.Context, view *snapshot, code string) error {
	for _, rule := range view.checker.Rules() {
		if rule.Code != code {
			continue
		}
		external := true
		_, err := s.client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: uri.URI(rule.URL()), External: &external})
		return err
	}
	return jsonrpc2.Errorf(jsonrpc2.InvalidParams, "there is no rule %q", code)
}
