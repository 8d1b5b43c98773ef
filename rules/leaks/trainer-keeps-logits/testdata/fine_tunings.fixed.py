"""Trainers that compute metrics from the logits of language and segmentation
models."""

import evaluate
import numpy as np
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    GPT2LMHeadModel,
    SegformerForSemanticSegmentation,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5ForConditionalGeneration,
    Trainer,
    TrainingArguments,
)
from trl import SFTConfig, SFTTrainer

accuracy = evaluate.load("accuracy")


def compute_metrics(prediction):
    logits, labels = prediction
    return accuracy.compute(predictions=np.argmax(logits, axis=-1).ravel(), references=labels.ravel())


def language_model(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out", eval_strategy="epoch", per_device_eval_batch_size=8, eval_accumulation_steps=16)
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=held_out,
        compute_metrics=compute_metrics,
    )
    trainer.train()


def masked_language_model(train, held_out):
    model = AutoModelForMaskedLM.from_pretrained("roberta-base").cuda()
    args = TrainingArguments(
        "out",
        num_train_epochs=3,
        per_device_eval_batch_size=32,
        eval_accumulation_steps=16,
    )
    trainer = Trainer(model, args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics)
    trainer.train()
    return trainer.evaluate()


def with_adapters(train, held_out):
    base = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
    model = get_peft_model(base, LoraConfig(r=8))
    trainer = Trainer(
        model=model,
        args=TrainingArguments(output_dir="out", eval_accumulation_steps=16),
        train_dataset=train,
        eval_dataset=held_out,
        compute_metrics=lambda p: compute_metrics(p),
    )
    trainer.train()


def without_settings(train, held_out):
    model = GPT2LMHeadModel.from_pretrained("gpt2")
    Trainer(model=model, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()  # want: GL304 hint values


def sequence_to_sequence(train, held_out):
    """Teacher forcing: the logits of the whole target, not generated tokens."""
    tokenizer = AutoTokenizer.from_pretrained("t5-small")
    model = T5ForConditionalGeneration.from_pretrained("t5-small")
    args = Seq2SeqTrainingArguments(output_dir="out", predict_with_generate=False, eval_accumulation_steps=16)
    trainer = Seq2SeqTrainer(
        model=model, args=args, train_dataset=train, eval_dataset=held_out, tokenizer=tokenizer,
        compute_metrics=compute_metrics,
    )
    trainer.train()


def segmentation(train, held_out):
    model = SegformerForSemanticSegmentation.from_pretrained("nvidia/mit-b0", num_labels=150)
    settings = TrainingArguments(output_dir="out", remove_unused_columns=False, eval_accumulation_steps=16)
    settings.learning_rate = 6e-5
    trainer = Trainer(
        model=model, args=settings, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics
    )
    trainer.train()


def supervised_fine_tuning(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(output_dir="out", max_length=512, eval_accumulation_steps=16),
        train_dataset=train,
        eval_dataset=held_out,
        compute_metrics=compute_metrics,
    )
    trainer.train()


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        loss = outputs.loss * inputs["weight"].mean()
        return (loss, outputs) if return_outputs else loss


def own_loss(train, held_out, evaluating):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = WeightedTrainer(
        model=model,
        args=TrainingArguments(output_dir="out", eval_accumulation_steps=16),
        train_dataset=train,
        eval_dataset=held_out,
        compute_metrics=compute_metrics if evaluating else None,
    )
    trainer.train()
