package torch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWideOutputs(t *testing.T) {
	for _, name := range []string{
		"transformers.AutoModelForCausalLM.from_pretrained", "transformers.GPT2LMHeadModel.from_pretrained", "transformers.T5ForConditionalGeneration.from_pretrained",
		"transformers.AutoModelForMaskedLM.from_config", "transformers.SegformerForSemanticSegmentation.from_pretrained",
	} {
		assert.True(t, WideOutput(name), name)
	}
	for _, name := range []string{
		"transformers.AutoModelForSequenceClassification.from_pretrained", "transformers.ViTForImageClassification.from_pretrained",
		"transformers.AutoModel.from_pretrained", "other.AutoModelForCausalLM.from_pretrained", "transformers", "",
	} {
		assert.False(t, WideOutput(name), name)
	}
}

func TestClassesThatKeepPredictions(t *testing.T) {
	assert.True(t, KeepsPredictions("transformers.Trainer"))
	assert.True(t, KeepsPredictions("transformers.trainer.Trainer"))
	assert.True(t, KeepsPredictions("trl.SFTTrainer"))
	assert.False(t, KeepsPredictions("pytorch_lightning.Trainer"))
	assert.False(t, KeepsPredictions("transformers.TrainerCallback"))
	assert.True(t, EvaluationSettings("transformers.Seq2SeqTrainingArguments"))
	assert.False(t, EvaluationSettings("transformers.Trainer"))
}
