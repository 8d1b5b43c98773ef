package torch

// DeepSpeed wraps a model in an engine that runs its backward pass and steps its
// optimizer.
var deepspeed = Library{
	Packages: []string{"deepspeed"},
	Source:   "DeepSpeed documentation, Training API; its source runtime/engine.py",
	Calls: map[Role]string{
		MakesEngine: `initialize`,
	},
}

var apex = Library{
	Packages: []string{"apex"},
	Source:   "Apex documentation, apex.amp",
	Calls: map[Role]string{
		Prepares: `initialize`,
		Scales:   `scale_loss`,
	},
}

// Horovod's allreduce of a tensor with a graph has one itself.
var horovod = Library{
	Packages: []string{"horovod.torch"},
	Source:   "Horovod documentation, horovod.torch",
	Calls: map[Role]string{
		Passes:   `allreduce allgather broadcast`,
		Prepares: `DistributedOptimizer`,
		Shows:    `broadcast_parameters broadcast_optimizer_state`,
	},
}

// The optimizer wrapper of MMEngine runs the backward pass and steps.
var mmengine = Library{
	Packages: []string{"mmengine", "mmengine.optim"},
	Source:   "MMEngine documentation, OptimWrapper",
	Calls: map[Role]string{
		MakesHelper: `OptimWrapper AmpOptimWrapper ApexOptimWrapper`,
		Trains:      `*OptimWrapper.update_params`,
		Backwards:   `*OptimWrapper.backward`,
		Steps:       `*OptimWrapper.step`,
		Scales:      `*OptimWrapper.scale_loss`,
	},
}
