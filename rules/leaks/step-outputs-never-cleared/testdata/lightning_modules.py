"""Modules and callbacks of Lightning 2, which no longer hands the outputs of the
steps to the end of the epoch: they keep them themselves."""

import lightning as L
import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(L.LightningModule):
    def __init__(self, width: int = 64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, 10))
        self.validation_step_outputs = []
        self.training_step_losses = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.training_step_losses.append(loss.detach())  # want: GL202 hint values
        return loss

    def on_train_epoch_end(self):
        self.log("epoch_loss", torch.stack(self.training_step_losses).mean())

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.validation_step_outputs.append({"logits": logits, "labels": y})  # want: GL202 warning values

    def on_validation_epoch_end(self):
        logits = torch.cat([out["logits"] for out in self.validation_step_outputs])
        labels = torch.cat([out["labels"] for out in self.validation_step_outputs])
        self.log("accuracy", (logits.argmax(-1) == labels).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Segmenter(pl.LightningModule):
    """The collection is there before the first epoch only; a helper computes."""

    def __init__(self, backbone: nn.Module):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Conv2d(64, 21, 1)

    def on_fit_start(self):
        self.masks = []

    def forward(self, images):
        return self.head(self.backbone(images))

    def training_step(self, batch, batch_idx):
        images, masks = batch
        return F.cross_entropy(self(images), masks)

    def validation_step(self, batch, batch_idx):
        images, masks = batch
        predicted = self(images).softmax(dim=1)
        self.masks.append(predicted.cpu())  # want: GL202 warning values

    def on_validation_epoch_end(self):
        self.log("coverage", self._coverage())
        print("validated")

    def _coverage(self):
        return torch.cat(self.masks).amax(dim=1).mean()


class EmbeddingPlot(L.Callback):
    """What a callback keeps is read every few epochs, and never dropped."""

    def __init__(self, every: int):
        self.every = every
        self.embeddings, self.epoch = [], 0

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        images, _ = batch
        self.embeddings.append(pl_module(images))  # want: GL202 warning values

    def on_validation_epoch_end(self, trainer, pl_module):
        self.epoch += 1
        if self.epoch % self.every:
            return
        trainer.logger.experiment.add_embedding(torch.cat(self.embeddings))
