"""Trainers that keep little, or of which not all is known."""

import numpy as np
import pytorch_lightning as pl
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    HfArgumentParser,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    Trainer,
    TrainingArguments,
    ViTForImageClassification,
)


def compute_metrics(prediction):
    logits, labels = prediction
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


def moved_now_and_then(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out", eval_accumulation_steps=8)
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def set_afterwards(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out")
    args.eval_accumulation_steps = 4
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def reduced_first(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = Trainer(
        model=model,
        args=TrainingArguments(output_dir="out"),
        train_dataset=train,
        eval_dataset=held_out,
        compute_metrics=compute_metrics,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(dim=-1),
    )
    trainer.train()


def no_metrics(train, held_out):
    """Only the loss is gathered."""
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=train, eval_dataset=held_out).train()


def no_metrics_by_name(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=train, eval_dataset=held_out, compute_metrics=None).train()


def loss_only(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out", prediction_loss_only=True)
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def generated_tokens(train, held_out):
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    args = Seq2SeqTrainingArguments(output_dir="out", predict_with_generate=True)
    Seq2SeqTrainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def batch_by_batch(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out", batch_eval_metrics=True)
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def classifier_of_texts(train, held_out):
    """Two numbers for each example."""
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
    args = TrainingArguments(output_dir="out")
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def classifier_of_images(train, held_out):
    model = ViTForImageClassification.from_pretrained("google/vit-base-patch16-224")
    args = TrainingArguments(output_dir="out")
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def settings_of_the_command_line(train, held_out):
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def settings_of_a_file(train, held_out, config):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out", **config)
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def some_model(model, train, held_out):
    args = TrainingArguments(output_dir="out")
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


class PerplexityTrainer(Trainer):
    """Keeps nothing but the loss of each batch."""

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        loss, _, _ = super().prediction_step(model, inputs, True, ignore_keys)
        return loss, None, None


def own_evaluation(train, held_out):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out")
    PerplexityTrainer(model=model, args=args, train_dataset=train, eval_dataset=held_out, compute_metrics=compute_metrics).train()


def another_trainer(module, loader):
    pl.Trainer(max_epochs=3).fit(module, loader)
