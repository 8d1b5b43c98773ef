// Package predictions reports Trainers of Transformers that keep the logits of a
// whole evaluation on the device.
package predictions

import (
	_ "embed"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL304.
var Rule = &rules.Rule{Code: "GL304", Name: "trainer-keeps-logits", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, k := range p.Facts.Predictions {
		f := rules.Finding{
			Span: k.Metrics.Span(), Severity: rules.Hint, Memory: rules.Device, Keeps: rules.Values, Confidence: rules.High,
			Message: "For these metrics the Trainer keeps the logits of every batch on the device until the evaluation is over. " +
				"Set `eval_accumulation_steps`, or reduce them in `preprocess_logits_for_metrics`.",
			Evidence: []rules.Evidence{
				retention.Step(k.Model, "this model gives a score for each word of its vocabulary or each pixel"),
				retention.Step(k.Trainer, "evaluate() and predict() of this Trainer keep them"),
			},
			Fixes: fixes.MovePredictions(k),
		}
		if k.Settings != nil {
			f.Evidence = append(f.Evidence, retention.Step(*k.Settings, "these settings do not move them to the host"))
		}
		p.Report(f)
	}
}
