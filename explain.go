package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/failures"
	"github.com/graphleak/graphleak/rules/leaks"
	"github.com/graphleak/graphleak/rules/search"
)

type explainCmd struct {
	Topic  string `arg:"" optional:"" name:"code|id|list" help:"The code or name of a rule, the id of a failure, or list."`
	Search string `placeholder:"TEXT" help:"Find the pages about an error message or some words."`
}

// Run prints one page as it is, since Markdown reads well in a terminal, or a
// table of pages: all, or those that a search found.
func (c *explainCmd) Run(_ context.Context, out *console) error {
	switch {
	case (c.Topic == "") == (c.Search == ""):
		return errors.New("name a page, or give --search TEXT: graphleak explain list shows all pages")
	case c.Search != "":
		return searchPages(out, c.Search)
	case c.Topic == "list":
		return listPages(out)
	}
	page, ok := explanation(c.Topic)
	if !ok {
		return fmt.Errorf("there is no page about %q: graphleak explain list shows all pages", c.Topic)
	}
	_, err := fmt.Fprintln(out.Stdout, page)
	return err
}

// explanation is the page about a rule or a failure.
func explanation(topic string) (string, bool) {
	all := leaks.All()
	i := slices.IndexFunc(all, func(r *rules.Rule) bool { return r.Code == topic || r.Name == topic })
	if i >= 0 {
		return all[i].Code + "\n\n" + strings.TrimSpace(all[i].Doc), true
	}
	page, ok := failures.Lookup(topic)
	if !ok {
		return "", false
	}
	text := page.ID + "\n\n" + strings.TrimSpace(page.Body)
	if len(page.Related) > 0 {
		text += "\n\nRelated: " + strings.Join(page.Related, ", ")
	}
	return text, true
}

// maxFound bounds the pages that a search shows.
const maxFound = 8

// searchPages prints a line for each page that the text is about, best first.
func searchPages(out *console, text string) error {
	titles := make(map[string]string)
	var documents []search.Document
	for _, rule := range leaks.All() {
		titles[rule.Code] = rule.Title()
		documents = append(documents, search.Document{ID: rule.Code, Title: rule.Name + " " + rule.Title(), Body: rule.Doc})
	}
	for _, page := range failures.Pages() {
		titles[page.ID] = page.Title
		d := search.Document{ID: page.ID, Title: page.Title, Body: page.Body}
		for _, s := range page.Signatures {
			d.Messages = append(d.Messages, s.Example)
		}
		documents = append(documents, d)
	}
	known := failures.Known(text)
	found := known
	for _, id := range search.New(documents).Find(text) {
		if !slices.Contains(known, id) {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("no page is about %q: graphleak explain list shows all pages", text)
	}
	table := tabwriter.NewWriter(out.Stdout, 0, 0, 2, ' ', 0)
	for _, id := range found[:min(maxFound, len(found))] {
		note := ""
		if slices.Contains(known, id) {
			note = "  (knows this message)"
		}
		fmt.Fprintf(table, "%s\t%s%s\n", id, titles[id], note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out.Stdout, "\ngraphleak explain %s shows the page.\n", found[0])
	return err
}

// listPages prints a line for each page, the rules first.
func listPages(out *console) error {
	table := tabwriter.NewWriter(out.Stdout, 0, 0, 2, ' ', 0)
	for _, rule := range leaks.All() {
		fmt.Fprintf(table, "%s\t%s\n", rule.Code, rule.Title())
	}
	for _, page := range failures.Pages() {
		fmt.Fprintf(table, "%s\t%s\n", page.ID, page.Title)
	}
	return table.Flush()
}
