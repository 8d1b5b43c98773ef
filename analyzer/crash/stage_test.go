package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const torchDir = "/usr/lib/python3.11/site-packages/torch/"

func TestStageIsReadOffTheCalls(t *testing.T) {
	user := func(function, code string) Frame { return Frame{Path: "train.py", Func: function, Code: code} }
	library := func(path, function, code string) Frame {
		return Frame{Path: torchDir + path, Func: function, Code: code}
	}
	for name, c := range map[string]struct {
		frames []Frame
		stage  stage
		hint   string
	}{
		"training":        {[]Frame{user("train", "loss.backward()")}, unknownStage, ""},
		"no calls":        {nil, unknownStage, ""},
		"weights":         {[]Frame{user("<module>", "model.cuda()"), library("nn/modules/module.py", "_apply", "fn(param)")}, loadingWeights, "weights"},
		"a batch":         {[]Frame{user("train", "x = x.to(device)")}, unknownStage, ""},
		"first optimizer": {[]Frame{user("train", "opt.step()"), library("optim/adam.py", "_init_group", "state[k] = torch.zeros_like(p)")}, firstOptimizerStep, "Adam"},
		"optimizer":       {[]Frame{user("train", "opt.step()"), library("optim/adam.py", "step", "adam(...)")}, optimizerStep, "Adam"},
		"evaluation":      {[]Frame{user("validate", "out = model(x)")}, evaluating, ""},
		"Lightning":       {[]Frame{user("validation_step", "out = self(x)")}, evaluating, ""},
		"Trainer":         {[]Frame{library("../transformers/trainer.py", "evaluation_loop", "x")}, evaluating, ""},
		"predictions":     {[]Frame{library("../transformers/trainer.py", "evaluation_loop", "x"), library("../transformers/t.py", "nested_concat", "x")}, gatheringPredictions, ""},
		"no evaluation":   {[]Frame{user("invalidate", "out = model(x)"), user("evaluator_setup_train", "x"), user("latest", "x")}, unknownStage, ""},
		"logits":          {[]Frame{user("train", "loss = f(x)"), library("nn/functional.py", "cross_entropy", "return torch._C._nn.cross_entropy_loss(")}, unknownStage, "vocabulary"},
		"attention":       {[]Frame{user("forward", "attn = (q @ k).softmax(-1)")}, unknownStage, "square of the sequence"},
		"sharded":         {[]Frame{library("distributed/fsdp/x.py", "_unshard", "all_gather(x)")}, unknownStage, "sharded"},
		"graphs":          {[]Frame{library("_inductor/cudagraph_trees.py", "run", "cudagraph()")}, unknownStage, "private pool"},
	} {
		t.Run(name, func(t *testing.T) {
			var trace *Traceback
			if c.frames != nil {
				trace = &Traceback{Frames: c.frames}
			}
			assert.Equal(t, c.stage, stageOf(trace))
			if c.hint == "" {
				assert.Empty(t, hint(trace))
			} else {
				assert.Contains(t, hint(trace), c.hint)
			}
		})
	}
}

func TestOtherProcessesAreListedBriefly(t *testing.T) {
	m := oom{others: []process{{"1", gib}, {"2", 3 * gib}, {"3", gib}, {"4", gib}, {"5", gib}, {"6", gib}}}
	assert.Equal(t, "process 1: 1.00 GiB, process 2: 3.00 GiB, process 3: 1.00 GiB, process 4: 1.00 GiB, and 2 more", m.listOthers())
	assert.Equal(t, "2", m.largestOther())
}

func TestTinyRequestsAreExplained(t *testing.T) {
	for request, want := range map[Size]string{
		2 * mib: "rounded up to 2 MiB", 20 * mib: "rounded up to 20 MiB", 64 * mib: "last straw", 4 * gib: "no longer fitted", unsaid: "last straw",
	} {
		assert.Contains(t, (&oom{request: request, total: 24 * gib}).lastStraw(), want)
	}
}
