"""Hooks and base classes that take outputs of steps and let them go."""

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch import Callback
from torch import nn


class SwappedOut(L.LightningModule):
    """A list for each epoch: what was collected is taken away before it is read."""

    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, 10)
        self.val_outputs = []

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        self.val_outputs.append(outputs)

    def on_validation_epoch_end(self):
        outputs, self.val_outputs = self.val_outputs, []
        self.log("val_loss", torch.stack(outputs).mean())


class Evaluated(L.LightningModule):
    """Empties what its models note."""

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.note(self.net(x), y)

    def on_validation_epoch_end(self):
        self.log("score", self.score())
        self.noted.clear()


class Regression(Evaluated):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, 1)
        self.noted = []

    def note(self, out, y):
        self.noted.append(out.squeeze(-1) - y)

    def score(self):
        return torch.cat(self.noted).square().mean()


class MadeAnew(Callback):
    def on_validation_epoch_start(self, trainer, pl_module):
        self.found = []

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        self.found.append(outputs)

    def on_validation_epoch_end(self, trainer, pl_module):
        pl_module.log("mean", torch.cat(self.found).mean())


class Numbers(Callback):
    def __init__(self):
        self.losses, self.last = [], None

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.losses.append(outputs["loss"].item())
        self.last = outputs

    def on_train_epoch_end(self, trainer, pl_module):
        print(sum(self.losses) / len(self.losses), self.last["loss"])


class FewSamples(Callback):
    """Eight batches to look at, once."""

    def __init__(self):
        self.samples = []

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        if len(self.samples) < 8:
            self.samples.append(outputs)

    def on_validation_epoch_end(self, trainer, pl_module):
        print(torch.cat(self.samples).mean())
