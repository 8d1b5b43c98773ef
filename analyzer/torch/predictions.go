package torch

import (
	"path"
	"slices"
	"strings"
)

// An evaluation of the Trainer of Transformers gathers what the model gives for
// every batch, if metrics are computed from it, and keeps it on the device until
// its end unless a setting says otherwise. This file says which classes and
// settings that concerns. Source: Transformers documentation, Trainer and
// TrainingArguments; its source trainer.py, evaluation_loop.

// KeepsPredictions reports whether an instance of a class keeps predictions so.
func KeepsPredictions(dotted string) bool { return isHuggingFace(dotted, trainers) }

// EvaluationSettings reports whether a class holds the settings of one that does.
func EvaluationSettings(dotted string) bool { return isHuggingFace(dotted, settings) }

var (
	trainers = set(`Trainer Seq2SeqTrainer SFTTrainer`)
	settings = set(`TrainingArguments Seq2SeqTrainingArguments SFTConfig`)
)

func isHuggingFace(dotted string, classes map[string]bool) bool {
	first, _, _ := strings.Cut(dotted, ".")
	_, class := cutLast(dotted)
	return slices.Contains(transformers.Packages, first) && classes[class]
}

// BoundsPredictions are settings with which little or nothing is kept on the
// device.
var BoundsPredictions = set(`eval_accumulation_steps prediction_loss_only predict_with_generate batch_eval_metrics`)

// OwnEvaluation are methods that keep what they like, where a program's class
// defines them.
var OwnEvaluation = set(`evaluation_loop prediction_loop prediction_step evaluate`)

// WideOutput reports whether a model of Transformers, by the dotted name of what
// makes it, gives a score for each word of its vocabulary or each pixel. A
// classifier of sequences or images gives a few numbers only.
func WideOutput(dotted string) bool {
	if first, _, _ := strings.Cut(dotted, "."); !slices.Contains(transformers.Packages, first) {
		return false
	}
	class, _ := cutLast(dotted) // of X.from_pretrained
	_, class = cutLast(class)
	return slices.ContainsFunc(wide, func(pattern string) bool {
		ok, _ := path.Match(pattern, class)
		return ok
	})
}

var wide = strings.Fields(`*ForCausalLM *LMHeadModel *ForMaskedLM *ForSeq2SeqLM *ForConditionalGeneration *ForSpeechSeq2Seq *ForVision2Seq
	*ForImageTextToText *ForCTC *ForSemanticSegmentation`)
