// Package leaks lists the rules, one folder each.
package leaks

import (
	"github.com/graphleak/graphleak/rules"
	accumulate "github.com/graphleak/graphleak/rules/leaks/accumulate-with-graph"
	collect "github.com/graphleak/graphleak/rules/leaks/collect-with-graph"
	meter "github.com/graphleak/graphleak/rules/leaks/meter-keeps-graph"
)

// All are the rules by code.
func All() []*rules.Rule {
	return []*rules.Rule{accumulate.Rule, collect.Rule, meter.Rule}
}
