package torch

// In fastai a callback reads the state of the Learner as its own. The loss still
// has the graph of the batch when after_batch runs; backward has freed what it
// saved.
var fastai = Library{
	Packages: []string{"fastai", "fastai.callback"},
	Source:   "fastai documentation, Callback and Learner; its source learner.py: _do_one_batch, _do_epoch_validate",
	Calls:    map[Role]string{MakesModel: `vision_learner cnn_learner unet_learner`},
	Hosts: []Host{{
		Class: "Callback",
		Hooks: map[When]string{
			Before:     `before_fit()`,
			EpochStart: `before_epoch() before_train()`,
			StepStart:  `before_batch()`,
			StepEnd: `after_pred() after_loss() before_backward() after_backward() before_step() after_step()
				after_cancel_batch() after_batch()`,
			EpochEnd: `after_train() before_validate() after_validate() after_epoch()`,
			After:    `after_fit()`,
		},
		Gives: map[string]Given{".loss": TheLoss, ".pred": TheOutput, ".model": AModel, ".learn.loss": TheLoss, ".learn.pred": TheOutput, ".learn.model": AModel},
	}},
}

// Catalyst keeps the losses of a batch in batch_metrics until the next batch; a
// callback runs the backward pass on one of them.
var catalyst = Library{
	Packages: []string{"catalyst", "catalyst.dl"},
	Source:   "Catalyst documentation, Runner and Callback; its source core/runner.py",
	Hosts: []Host{
		catalystRunner("Runner"), catalystRunner("SupervisedRunner"), catalystRunner("IRunner"),
		{
			Class: "Callback",
			Hooks: map[When]string{
				Before:     `on_experiment_start(runner)`,
				EpochStart: `on_epoch_start(runner) on_loader_start(runner)`,
				StepStart:  `on_batch_start(runner)`,
				StepEnd:    `on_batch_end(runner)`,
				EpochEnd:   `on_loader_end(runner) on_epoch_end(runner)`,
				After:      `on_experiment_end(runner)`,
			},
			Gives: map[string]Given{"runner.batch_metrics": Losses, "runner.model": AModel},
		},
	},
}

func catalystRunner(class string) Host {
	return Host{
		Class: class,
		Hooks: map[When]string{
			Before:     `on_experiment_start(runner)`,
			EpochStart: `on_epoch_start(runner) on_loader_start(runner)`,
			StepStart:  `on_batch_start(runner)`,
			Step:       `handle_batch(batch)`,
			StepEnd:    `on_batch_end(runner)`,
			EvalStep:   `predict_batch(batch)`,
			EpochEnd:   `on_loader_end(runner) on_epoch_end(runner)`,
			After:      `on_experiment_end(runner)`,
		},
		Gives:   map[string]Given{".model": AModel, ".optimizer": AnOptimizer, ".batch_metrics": Losses},
		Returns: Dropped,
	}
}

// skorch hands the loss of a step, with the graph that backward has freed, to
// on_batch_end, and keeps a number of it itself.
var skorch = Library{
	Packages: []string{"skorch"},
	Source:   "skorch documentation, NeuralNet and Callbacks; its source net.py: train_step_single, run_single_epoch",
	Hosts: []Host{{
		Class: "Callback",
		Hooks: map[When]string{
			Before:     `initialize() on_train_begin(net X y)`,
			EpochStart: `on_epoch_begin(net * dataset_train dataset_valid)`,
			StepStart:  `on_batch_begin(net * batch training)`,
			StepEnd:    `on_grad_computed(net named_parameters) on_batch_end(net * batch training loss y_pred)`,
			EpochEnd:   `on_epoch_end(net * dataset_train dataset_valid)`,
			After:      `on_train_end(net X y)`,
		},
		Gives: map[string]Given{"loss": TheLoss, "y_pred": TheOutput},
	}, skorchNet("NeuralNet"), skorchNet("NeuralNetClassifier"), skorchNet("NeuralNetRegressor")},
}

func skorchNet(class string) Host {
	return Host{
		Class: class,
		Hooks: map[When]string{
			EpochStart: `on_epoch_begin(net)`,
			Step:       `get_loss(y_pred y_true) train_step(batch)`,
			EvalStep:   `validation_step(batch)`,
			EpochEnd:   `on_epoch_end(net)`,
		},
		Gives:   map[string]Given{"y_pred": TheOutput, ".module_": AModel, ".optimizer_": AnOptimizer},
		Returns: Backwarded,
	}
}
