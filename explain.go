package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/graphleak/graphleak/rules/failures"
)

type explainCmd struct {
	Topic string `arg:"" name:"id|list" help:"The id of a failure, or list."`
}

// Run prints one page as it is, since Markdown reads well in a terminal, or the
// table of all pages.
func (c *explainCmd) Run(_ context.Context, out *console) error {
	if c.Topic == "list" {
		return listPages(out.Stdout)
	}
	page, ok := failures.Lookup(c.Topic)
	if !ok {
		return fmt.Errorf("there is no page about %q: graphleak explain list shows all pages", c.Topic)
	}
	if _, err := fmt.Fprintf(out.Stdout, "%s\n\n%s\n", page.ID, strings.TrimSpace(page.Body)); err != nil {
		return err
	}
	if len(page.Related) > 0 {
		_, err := fmt.Fprintf(out.Stdout, "\nRelated: %s\n", strings.Join(page.Related, ", "))
		return err
	}
	return nil
}

// listPages prints a line for each page.
func listPages(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, page := range failures.Pages() {
		fmt.Fprintf(table, "%s\t%s\n", page.ID, page.Title)
	}
	return table.Flush()
}
