"""Outputs of steps that are emptied, are numbers, or are kept on purpose."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class Cleared(L.LightningModule):
    """As the documentation has it."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)
        self.outputs = []

    def validation_step(self, batch, batch_idx):
        self.outputs.append(self.net(batch[0]))

    def on_validation_epoch_end(self):
        self.log("mean", torch.cat(self.outputs).mean())
        self.outputs.clear()


class StartedAnew(L.LightningModule):
    """Emptied before and not after, through a method."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)

    def _forget(self):
        self.logits, self.targets = [], []

    def on_validation_epoch_start(self):
        self._forget()

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.logits.append(self.net(x))
        self.targets.append(y)

    def on_validation_epoch_end(self):
        self.log("accuracy", (torch.cat(self.logits).argmax(1) == torch.cat(self.targets)).float().mean())


class Handed(L.LightningModule):
    """Another attribute takes the list, and a new one is made."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)
        self.outputs = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.outputs.append(logits.detach())
        return F.cross_entropy(logits, y)

    def on_train_epoch_end(self):
        self.last, self.outputs = self.outputs, []
        self.log("spread", torch.cat(self.last).std())


class Numbers(L.LightningModule):
    """What is kept are numbers of Python."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)
        self.losses = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.losses.append(loss.item())
        return loss

    def on_train_epoch_end(self):
        self.log("epoch_loss", sum(self.losses) / len(self.losses))


class Tested(L.LightningModule):
    """A test runs once."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)
        self.outputs = []

    def test_step(self, batch, batch_idx):
        self.outputs.append(self.net(batch[0]))

    def on_test_epoch_end(self):
        self.log("mean", torch.cat(self.outputs).mean())


class LastBatches(L.LightningModule):
    """The first batches of each epoch, replaced by those of the next."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)
        self.samples = {}

    def validation_step(self, batch, batch_idx):
        if batch_idx < 4:
            self.samples[batch_idx] = self.net(batch[0])

    def on_validation_epoch_end(self):
        self.logger.experiment.add_histogram("samples", torch.cat(list(self.samples.values())))
