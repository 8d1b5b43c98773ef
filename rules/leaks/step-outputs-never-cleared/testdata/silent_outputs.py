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


def of_one_epoch(model: nn.Module, loader, epochs, device):
    for epoch in range(epochs):
        kept = []
        for x, _ in loader:
            with torch.no_grad():
                kept.append(model(x.to(device)).cpu())
        print(epoch, torch.cat(kept).mean())


def history(model: nn.Module, loader, epochs):
    """One number a step, for a plot."""
    losses = []
    for epoch in range(epochs):
        for x, y in loader:
            with torch.no_grad():
                losses.append(F.mse_loss(model(x), y).detach())
        print(epoch, losses[-1])


def snapshots(model: nn.Module, probe, loader, optimizer, epochs):
    """One output an epoch is what was asked for."""
    outputs = []
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            outputs.append(model(probe).cpu())
        print(epoch, len(outputs))


class Probes:
    """All of them are needed when the training is over."""

    def __init__(self, model: nn.Module, loader):
        self.model, self.loader = model, loader
        self.features = []

    def run(self, tasks):
        for task in tasks:
            self.model.load(task)
            for x in self.loader:
                with torch.no_grad():
                    self.features.append(self.model(x).cpu())
        return torch.cat(self.features)
