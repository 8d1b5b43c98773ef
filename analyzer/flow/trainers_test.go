package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrainerSaysWhatItWasMadeOf(t *testing.T) {
	const src = `from peft import get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def metrics(p):
    return {}

base = AutoModelForCausalLM.from_pretrained("gpt2")
settings = TrainingArguments("out")
Trainer(get_peft_model(base, None), settings, compute_metrics=metrics)
`
	found := facts(t, src).Predictions
	require.Len(t, found, 1)
	k := found[0]
	assert.Equal(t, "metrics", k.Metrics.Text())
	assert.Equal(t, `AutoModelForCausalLM.from_pretrained("gpt2")`, k.Model.Text())
	assert.Equal(t, `TrainingArguments("out")`, k.Settings.Text())
	assert.Equal(t, "Trainer(get_peft_model(base, None), settings, compute_metrics=metrics)", k.Trainer.Text())
}
