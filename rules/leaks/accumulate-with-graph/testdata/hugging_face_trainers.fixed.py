"""Trainers and callbacks of Transformers, and models that return objects."""

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, Trainer, TrainerCallback


class WeightedTrainer(Trainer):
    def __init__(self, *args, weights=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.weights = weights
        self.total = 0.0
        self.last = None
        self.numbers = []

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels, weight=self.weights)
        self.total = self.total + loss.detach()
        self.last = loss
        self.numbers.append(loss.item())
        self.log({"weighted": loss.item()})
        return (loss, outputs) if return_outputs else loss


class Distilled(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
        self.seen = self.seen + loss.mean().detach()
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs):
        loss = super().training_step(model, inputs)
        self.detached = self.detached + loss
        return loss


class Progress(TrainerCallback):
    def __init__(self):
        self.sum = 0.0

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.sum += logs["loss"]


def finetune(loader, held_out):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
    optimizer = torch.optim.AdamW(model.parameters())
    total = 0.0
    for batch in loader:
        outputs = model(**batch)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += outputs.loss.detach()
    model.eval()
    with torch.no_grad():
        for batch in held_out:
            print(model.generate(batch))
            total += model(**batch).loss
    print(total)
