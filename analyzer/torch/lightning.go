package torch

// Lightning runs the backward pass on what training_step returns, evaluates
// without recording graphs, hands a detached loss to the hooks after a step, and
// detaches what it logs.
var lightning = Library{
	Packages: []string{"lightning", "lightning.pytorch", "lightning.fabric", "pytorch_lightning", "lightning_fabric"},
	Source: "PyTorch Lightning documentation, LightningModule, Callback and Fabric; " +
		"its sources loops/optimization/automatic.py, loops/evaluation_loop.py and trainer/connectors/logger_connector/result.py",
	Calls: map[Role]string{
		MakesHelper: `Fabric Trainer`,
		Backwards:   `Fabric.backward LightningModule.manual_backward`,
		Prepares:    `Fabric.setup Fabric.setup_module Fabric.setup_optimizers Fabric.setup_dataloaders Fabric.to_device Fabric.broadcast`,
		Shows: `Fabric.log Fabric.log_dict Fabric.print Fabric.save Fabric.clip_gradients
			LightningModule.log LightningModule.log_dict LightningModule.print LightningModule.save_hyperparameters LightningModule.clip_gradients`,
	},
	Hosts: []Host{{
		Class:  "LightningModule",
		Module: true,
		Hooks: map[When]string{
			Before: `setup(stage) configure_model() configure_optimizers() on_fit_start() on_train_start()`,
			// on_epoch_start and the *_epoch_end with outputs are those of 1.x.
			EpochStart: `on_train_epoch_start() on_epoch_start()`,
			StepStart:  `on_train_batch_start(batch batch_idx)`,
			Step:       `training_step(batch batch_idx)`,
			StepEnd:    `on_after_backward() on_train_batch_end(outputs batch batch_idx)`,
			EvalStart:  `on_validation_start() on_validation_epoch_start()`,
			EvalStep:   `on_validation_batch_start(batch batch_idx) validation_step(batch batch_idx) on_validation_batch_end(evaluated batch batch_idx)`,
			EvalEnd:    `validation_epoch_end(collected) on_validation_epoch_end() on_validation_end()`,
			EpochEnd:   `training_epoch_end(collected) on_train_epoch_end() on_epoch_end()`,
			After:      `on_train_end() on_fit_end()`,
			TestStart:  `on_test_start() on_test_epoch_start()`,
			TestStep:   `on_test_batch_start(batch batch_idx) test_step(batch batch_idx) on_test_batch_end(evaluated batch batch_idx)`,
			TestEnd:    `test_epoch_end(collected) on_test_epoch_end() on_test_end()`,
		},
		Gives:   map[string]Given{"outputs": TheResult, "evaluated": TheReturned},
		Returns: Backwarded,
		Unless:  "automatic_optimization",
	}, {
		Class: "Callback",
		Hooks: map[When]string{
			Before:     `setup(trainer pl_module stage) on_fit_start(trainer pl_module) on_train_start(trainer pl_module)`,
			EpochStart: `on_train_epoch_start(trainer pl_module) on_epoch_start(trainer pl_module)`,
			StepStart:  `on_train_batch_start(trainer pl_module batch batch_idx)`,
			StepEnd: `on_before_backward(trainer pl_module loss) on_after_backward(trainer pl_module)
				on_train_batch_end(trainer pl_module outputs batch batch_idx)`,
			EvalStart: `on_validation_start(trainer pl_module) on_validation_epoch_start(trainer pl_module)`,
			EvalStep: `on_validation_batch_start(trainer pl_module batch batch_idx)
				on_validation_batch_end(trainer pl_module outputs batch batch_idx)`,
			EvalEnd:   `on_validation_epoch_end(trainer pl_module) on_validation_end(trainer pl_module)`,
			EpochEnd:  `on_train_epoch_end(trainer pl_module) on_epoch_end(trainer pl_module)`,
			After:     `on_train_end(trainer pl_module) on_fit_end(trainer pl_module)`,
			TestStart: `on_test_start(trainer pl_module) on_test_epoch_start(trainer pl_module)`,
			TestStep: `on_test_batch_start(trainer pl_module batch batch_idx)
				on_test_batch_end(trainer pl_module outputs batch batch_idx)`,
			TestEnd: `on_test_epoch_end(trainer pl_module) on_test_end(trainer pl_module)`,
		},
		Gives: map[string]Given{"pl_module": AModel, "loss": TheLoss, "outputs": AResult},
	}},
}
