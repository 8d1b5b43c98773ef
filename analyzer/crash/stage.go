package crash

import (
	"regexp"
	"strings"
)

// stage is what a run was doing, as the calls on the stack tell.
type stage int

const (
	unknownStage stage = iota
	loadingWeights
	firstOptimizerStep
	optimizerStep
	evaluating
	gatheringPredictions
)

var (
	evaluationFunc = regexp.MustCompile(`(?i)^_?(?:run_|do_|on_)?(?:eval(?:uate|uation)?|valid(?:ate|ation)?|test(?:ing)?|predict(?:ion)?|infer(?:ence)?)(?:_|$|epoch|loop|step)`)
	weightsCode    = regexp.MustCompile(`\.to\(|\.cuda\(|load_state_dict|from_pretrained|\.half\(\)|\.bfloat16\(\)`)
)

// loadingFuncs are the functions of libraries that put weights on a device.
var loadingFuncs = map[string]bool{
	"_apply": true, "load_state_dict": true, "from_pretrained": true, "create_weights": true, "load_model": true, "load_weights": true,
	"_load_pretrained_model": true, "_load_state_dict_into_meta_model": true,
}

// stageOf reads the stage off a traceback.
func stageOf(t *Traceback) stage {
	if t == nil {
		return unknownStage
	}
	found := unknownStage
	for _, f := range t.Frames {
		library := libraryFrame(f.Path)
		switch {
		case f.Func == "nested_concat" || f.Func == "nested_gather" || f.Func == "pad_across_processes" && found == evaluating:
			return gatheringPredictions
		case f.Func == "evaluation_loop" || f.Func == "prediction_step" || f.Func == "validation_step" || f.Func == "test_step":
			found = evaluating
		case !library && evaluationFunc.MatchString(f.Func):
			found = evaluating
		case library && (f.Func == "_init_group" || f.Func == "step") && strings.Contains(f.Path, "optim") && strings.Contains(f.Code, "zeros_like"):
			found = firstOptimizerStep
		case library && f.Func == "step" && strings.Contains(f.Path, "optim") && found == unknownStage:
			found = optimizerStep
		case library && loadingFuncs[f.Func] && found == unknownStage:
			found = loadingWeights
		}
	}
	if found == unknownStage {
		if f, ok := t.innermost(func(f Frame) bool { return !libraryFrame(f.Path) }); ok && weightsCode.MatchString(f.Code) && strings.Contains(f.Code, "model") {
			return loadingWeights
		}
	}
	return found
}

// hint says what kind of memory the innermost calls ask for.
func hint(t *Traceback) string {
	if t == nil {
		return ""
	}
	for i := len(t.Frames) - 1; i >= 0; i-- {
		f := t.Frames[i]
		has := func(words ...string) bool {
			for _, w := range words {
				if strings.Contains(f.Code, w) || strings.Contains(f.Func, w) {
					return true
				}
			}
			return false
		}
		switch {
		case has("cross_entropy", "lm_head", "logits.float", "log_softmax", "nll_loss"):
			return "The failing call works on logits: their size is batch × sequence × vocabulary, often the largest tensor of a language model; compute the loss in chunks."
		case has("scaled_dot_product", "attention", "attn", "baddbmm") || has("softmax") && has("score"):
			return "The failing call is attention: without a fused kernel its scores grow with the square of the sequence length."
		case has("all_gather", "_all_gather_base", "unshard"):
			return "The failing call gathers sharded parameters: for a moment a whole layer is there in full."
		case has("cudagraph", "cuda_graph", "make_graphed"):
			return "The failing call captures a graph: its private pool holds memory of its own."
		}
	}
	switch stageOf(t) {
	case loadingWeights:
		return "The failing call moves the model's weights to the GPU."
	case firstOptimizerStep, optimizerStep:
		return "The failing call is the optimizer's step: Adam allocates twice the size of the parameters when it runs for the first time."
	}
	return ""
}
