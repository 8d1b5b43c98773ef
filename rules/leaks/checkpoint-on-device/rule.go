// Package checkpoint reports checkpoints that stay on the device, beside the
// model that was made from them, while it is trained.
package checkpoint

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/fixes"
	"github.com/graphleak/graphleak/rules/retention"
)

//go:embed doc.md
var doc string

// Rule is GL303.
var Rule = &rules.Rule{Code: "GL303", Name: "checkpoint-on-device", Doc: doc, Run: run}

func run(p *rules.Pass) {
	for _, c := range p.Facts.Checkpoints {
		if c.MapLocation == nil && !namesDevice(p.Module.Tree.Source()) {
			continue // a program for the CPU
		}
		p.Report(rules.Finding{
			Span: c.Load.Span(), Severity: rules.Hint, Memory: rules.Device, Keeps: rules.Values, Confidence: rules.Medium,
			Message: fmt.Sprintf("`%s` keeps what is loaded here on the device for the whole training, beside the copy in the model. "+
				"Load it with `map_location=\"cpu\"`, or delete the name before the loop.", c.Name),
			Evidence: []rules.Evidence{
				retention.Step(c.Load, whereTo(c)),
				retention.Step(c.Into, "this copies the weights"),
				retention.LoopStep(c.Loop, fmt.Sprintf("while this loop trains, `%s` still holds them", c.Name)),
			},
			Fixes: fixes.LoadOnHost(c),
		})
	}
}

// namesDevice reports whether a program speaks of a device at all.
func namesDevice(source string) bool {
	return strings.Contains(source, "cuda") || strings.Contains(source, "device")
}

func whereTo(c flow.Checkpoint) string {
	if c.MapLocation == nil {
		return "without `map_location` tensors go to the device from which they were saved"
	}
	return "the tensors go to " + retention.Code(*c.MapLocation)
}
