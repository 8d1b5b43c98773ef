package torch

// TorchMetrics updates and computes without recording graphs, so sums keep none.
// What a metric stores as it is given, such as CatMetric, keeps its graph. The
// value that a call of a metric returns has one.
var torchmetrics = Library{
	Packages: []string{"torchmetrics"},
	Source:   "TorchMetrics documentation, Overview and Implementing a Metric; its sources metric.py and aggregation.py",
	Calls: map[Role]string{
		MakesHelper: `[A-Z]*[a-z] [A-Z]*[A-Z]`,
		Collects:    `CatMetric.update`,
		Shows:       `*.update`,
		Cuts:        `*.compute`,
		Resets:      `*.reset`,
		Passes:      `CatMetric.forward *.forward`,
	},
	Hosts: []Host{{
		Class: "Metric",
		Hooks: map[When]string{
			EpochStart: `reset()`,
			Step:       `update(preds target)`,
			EpochEnd:   `compute()`,
		},
		Unrecorded: `update compute`,
		Calls:      `update`,
	}},
}
