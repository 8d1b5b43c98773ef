// Package dataset reports loaders whose worker processes come to copy a data set
// that holds its samples as Python objects.
package dataset

import (
	_ "embed"
	"fmt"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL601.
var Rule = &rules.Rule{Code: "GL601", Name: "dataset-of-python-objects", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, l := range p.Facts.Loaders {
		p.Report(rules.Finding{
			Span: l.Workers.Span(), Severity: rules.Hint, Memory: rules.Host, Keeps: rules.Values, Confidence: rules.Medium,
			Message: fmt.Sprintf("%s a copy of `self.%s`, since reading its Python objects writes to them: host memory grows until every sample was read. Keep the samples in arrays, or in one long text.",
				workers(l), l.Name),
			Evidence: []rules.Evidence{
				retention.Step(l.Filled, "the samples are Python objects, a few for each"),
				retention.Step(l.Read, "each worker reads them here"),
				retention.Step(l.Loader, "this starts the workers"),
			},
		})
	}
}

// workers are the processes of a loader, as the start of a sentence.
func workers(l flow.WorkerCopies) string {
	switch l.Count {
	case 0:
		return "Each worker gets"
	case 1:
		return "The worker gets"
	}
	return fmt.Sprintf("Each of %d workers gets", l.Count)
}
