package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/graphleak/graphleak/rules/failures"
	"github.com/graphleak/graphleak/rules/leaks"
	"github.com/graphleak/graphleak/rules/pages"
)

type explainCmd struct {
	Topic  string `arg:"" optional:"" name:"code|id|list" help:"The code or name of a rule, the id of a failure, configuration, or list."`
	Search string `placeholder:"TEXT" help:"Find the pages about an error message or some words."`
}

// configuration is the topic of the page about pyproject.toml.
const configuration = "configuration"

//go:embed docs/configuration.md
var configurationPage string

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

// searchPages prints a line for each page that the text is about, best first.
func searchPages(out *console, text string) error {
	found := failures.Search(leaks.All(), text)
	if len(found) == 0 {
		return fmt.Errorf("no page is about %q: graphleak explain list shows all pages", text)
	}
	table := tabwriter.NewWriter(out.Stdout, 0, 0, 2, ' ', 0)
	for _, hit := range found {
		note := ""
		if hit.Knows {
			note = "  (knows this message)"
		}
		fmt.Fprintf(table, "%s\t%s%s\n", hit.ID, hit.Title, note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out.Stdout, "\ngraphleak explain %s shows the page.\n", found[0].ID)
	return err
}

// explanation is the page about a rule, a failure or the configuration.
func explanation(topic string) (string, bool) {
	if topic == configuration {
		return configuration + "\n\n" + strings.TrimSpace(configurationPage), true
	}
	page, ok := pages.Lookup(leaks.All(), topic)
	return page.ID + "\n\n" + page.Text(), ok
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
	fmt.Fprintf(table, "%s\tWhat a project says about its checks in pyproject.toml\n", configuration)
	return table.Flush()
}
