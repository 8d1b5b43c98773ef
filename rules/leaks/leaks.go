// Package leaks lists the rules, one folder each.
package leaks

import (
	"github.com/graphleak/graphleak/rules"
	accumulate "github.com/graphleak/graphleak/rules/leaks/accumulate-with-graph"
	attribute "github.com/graphleak/graphleak/rules/leaks/attribute-keeps-graph"
	cache "github.com/graphleak/graphleak/rules/leaks/cache-keeps-tensors"
	checkpoint "github.com/graphleak/graphleak/rules/leaks/checkpoint-on-device"
	collect "github.com/graphleak/graphleak/rules/leaks/collect-with-graph"
	creategraph "github.com/graphleak/graphleak/rules/leaks/create-graph-backward"
	ctxattribute "github.com/graphleak/graphleak/rules/leaks/ctx-attribute"
	evaluation "github.com/graphleak/graphleak/rules/leaks/evaluation-without-no-grad"
	ineffective "github.com/graphleak/graphleak/rules/leaks/grad-guard-without-effect"
	hiddenstate "github.com/graphleak/graphleak/rules/leaks/hidden-state-carried"
	hook "github.com/graphleak/graphleak/rules/leaks/hook-keeps-tensors"
	meter "github.com/graphleak/graphleak/rules/leaks/meter-keeps-graph"
	snapshot "github.com/graphleak/graphleak/rules/leaks/model-snapshots-kept"
	retain "github.com/graphleak/graphleak/rules/leaks/needless-retain-graph"
	statistic "github.com/graphleak/graphleak/rules/leaks/running-statistic-with-graph"
	sideoutput "github.com/graphleak/graphleak/rules/leaks/side-output-off-backward"
	outputs "github.com/graphleak/graphleak/rules/leaks/step-outputs-never-cleared"
	pileup "github.com/graphleak/graphleak/rules/leaks/tensors-pile-up"
	predictions "github.com/graphleak/graphleak/rules/leaks/trainer-keeps-logits"
	view "github.com/graphleak/graphleak/rules/leaks/view-keeps-storage"
)

// All are the rules by code.
func All() []*rules.Rule {
	return []*rules.Rule{
		accumulate.Rule, collect.Rule, meter.Rule, statistic.Rule, sideoutput.Rule,
		pileup.Rule, outputs.Rule, view.Rule, cache.Rule, snapshot.Rule,
		evaluation.Rule, attribute.Rule, checkpoint.Rule, predictions.Rule, ineffective.Rule,
		retain.Rule, creategraph.Rule, ctxattribute.Rule, hook.Rule,
		hiddenstate.Rule,
	}
}
