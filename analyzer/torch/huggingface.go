package torch

// The Trainer of Transformers runs the backward pass on what compute_loss
// returns, evaluates under no_grad, and keeps what it logs in its log history.
var transformers = Library{
	Packages: []string{"transformers", "trl"},
	Source:   "Transformers documentation, Trainer and Callbacks; its source trainer.py: log, training_step, prediction_step",
	Calls: map[Role]string{
		MakesReporter: `AutoModel*.from_pretrained AutoModel*.from_config *Model.from_pretrained *For*.from_pretrained`,
		Collects:      `*Trainer.log`,
		MakesLoss:     `*Trainer.compute_loss`,
		Cuts:          `*Trainer.training_step *.generate`,
	},
	Hosts: []Host{hfTrainer("Trainer"), hfTrainer("Seq2SeqTrainer"), hfTrainer("SFTTrainer"), hfTrainer("DPOTrainer"), hfTrainer("RewardTrainer"), {
		Class: "TrainerCallback",
		Hooks: map[When]string{
			Before:     `on_init_end(args state control) on_train_begin(args state control * model optimizer)`,
			EpochStart: `on_epoch_begin(args state control * model optimizer)`,
			StepStart:  `on_step_begin(args state control * model optimizer)`,
			StepEnd: `on_substep_end(args state control * model optimizer) on_step_end(args state control * model optimizer)
				on_log(args state control * logs model)`,
			EvalStep: `on_prediction_step(args state control * model)`,
			EvalEnd:  `on_evaluate(args state control * metrics model)`,
			EpochEnd: `on_epoch_end(args state control * model optimizer)`,
			After:    `on_train_end(args state control * model optimizer)`,
		},
		Gives: map[string]Given{"model": AModel, "optimizer": AnOptimizer},
	}, {
		Class:  "PreTrainedModel",
		Module: true,
	}},
}

func hfTrainer(class string) Host {
	return Host{
		Class: class,
		Hooks: map[When]string{
			Step:     `compute_loss(model inputs) training_step(model inputs)`,
			EvalStep: `prediction_step(model inputs prediction_loss_only)`,
		},
		Gives:   map[string]Given{"model": AModel, ".model": AModel, ".optimizer": AnOptimizer},
		Returns: Backwarded,
	}
}

// Accelerate makes models, optimizers and loaders ready, and runs the backward
// pass. What gather returns depends on the run: with one process the tensor
// itself, with several one without a graph.
var accelerate = Library{
	Packages: []string{"accelerate"},
	Source:   "Accelerate documentation, Accelerator; its source utils/operations.py",
	Calls: map[Role]string{
		MakesHelper: `Accelerator`,
		Backwards:   `Accelerator.backward`,
		Prepares:    `Accelerator.prepare Accelerator.prepare_* Accelerator.unwrap_model Accelerator.free_memory`,
		Passes:      `Accelerator.reduce Accelerator.pad_across_processes`,
		Shows:       `Accelerator.log Accelerator.print Accelerator.save Accelerator.save_* Accelerator.wait_for_everyone Accelerator.clip_grad_*`,
	},
}

var peft = Library{
	Packages: []string{"peft"},
	Source:   "PEFT documentation, get_peft_model",
	Calls: map[Role]string{
		MakesReporter: `get_peft_model *Peft*.from_pretrained`,
	},
}

var diffusers = Library{
	Packages: []string{"diffusers"},
	Source:   "Diffusers documentation, Models",
	Calls: map[Role]string{
		MakesReporter: `*Model.from_pretrained *2D* *1D* *Transformer*.from_pretrained AutoencoderKL*.from_pretrained`,
	},
}
