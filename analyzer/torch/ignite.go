package torch

// An Engine of Ignite calls the function it is made with once a step, keeps what
// that returns in state.output until the next step, and calls handlers at its
// events. Metrics are updated under no_grad with what the step returned; those of
// Ignite itself detach it. The trainers and evaluators that it makes itself
// return numbers or run under no_grad.
var ignite = Library{
	Packages: []string{"ignite"},
	Source: "PyTorch-Ignite documentation, Engine, Events and Metrics; " +
		"its sources engine/engine.py, engine/__init__.py, metrics/metric.py and metrics/running_average.py",
	Calls: map[Role]string{
		MakesRunner: `Engine`,
		Registers:   `Engine.on Engine.add_event_handler`,
		NamesEvent:  `Events.*`,
		MakesHelper: `EpochMetric ROC_AUC RocCurve AveragePrecision PrecisionRecallCurve MatthewsCorrCoef MedianAbsoluteError
			MedianAbsolutePercentageError MedianRelativeAbsoluteError SpearmanRankCorrelation KendallRankCorrelation
			SilhouetteScore DaviesBouldinScore CalinskiHarabaszScore`,
		Shows: `*.update *.attach`,
		Cuts:  `*.compute`,
	},
	Hosts: []Host{{
		Class: "Metric",
		Hooks: map[When]string{
			EpochStart: `reset()`,
			EvalStep:   `update(output)`,
			EpochEnd:   `compute()`,
		},
	}},
	Runners: []Runner{{
		Class: "Engine",
		Events: map[When]string{
			Before:     `STARTED`,
			EpochStart: `EPOCH_STARTED`,
			StepStart:  `GET_BATCH_STARTED GET_BATCH_COMPLETED ITERATION_STARTED`,
			StepEnd:    `ITERATION_COMPLETED`,
			EpochEnd:   `EPOCH_COMPLETED`,
			After:      `COMPLETED`,
		},
		Output: [2]string{"state", "output"},
	}},
}
