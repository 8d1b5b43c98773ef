"""Hooks that a library calls once a step, and what it passes to them."""

import lightning.pytorch as pl
import torch
from catalyst import dl
from fastai.callback.core import Callback
from skorch.callbacks import Callback as SkorchCallback
from torch import nn
from torch.nn import functional as F


class StepOutputs(pl.LightningModule):
    """After a step the loss is detached; what else was returned is as it was."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.losses = []
        self.outputs = []
        self.epochs = []

    def training_step(self, batch, batch_idx):
        out = self.net(batch)
        return {"loss": out.mean(), "out": out}

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.losses.append(outputs["loss"])
        self.outputs.append(outputs["out"])  # want: GL102 warning nodes

    def on_train_epoch_end(self):
        self.epochs.append(torch.stack(self.losses).mean())
        self.losses.clear()
        self.outputs.clear()


class LightningLosses(pl.Callback):
    def __init__(self):
        self.after = []
        self.before = []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.after.append(outputs["loss"])

    def on_before_backward(self, trainer, pl_module, loss):
        self.before.append(loss)  # want: GL102 warning nodes


class FastaiLosses(Callback):
    def before_fit(self):
        self.losses = []
        self.smooth = []

    def after_batch(self):
        self.losses.append(self.loss)  # want: GL102 warning nodes
        self.smooth.append(self.loss.item())

    def after_epoch(self):
        self.losses = []


class FastaiPredictions(Callback):
    def before_epoch(self):
        self.predictions = []

    def after_pred(self):
        self.predictions.append(self.learn.pred)  # want: GL102 warning nodes


class SkorchLosses(SkorchCallback):
    def on_train_begin(self, net, X=None, y=None, **kwargs):
        self.losses = []
        self.numbers = []

    def on_batch_end(self, net, **kwargs):
        if kwargs["training"]:
            self.losses.append(kwargs["loss"])  # want: GL102 warning nodes
            self.numbers.append(kwargs["loss"].item())


class CatalystLosses(dl.Callback):
    def __init__(self):
        super().__init__(order=100)
        self.losses = []
        self.numbers = []

    def on_batch_end(self, runner):
        self.losses.append(runner.batch_metrics["loss"])  # want: GL102 warning nodes
        self.numbers.append(runner.batch_metrics["loss"].item())


class CatalystRunner(dl.Runner):
    """A callback runs the backward pass on the loss in batch_metrics."""

    def on_loader_start(self, runner):
        super().on_loader_start(runner)
        self.kept = []

    def handle_batch(self, batch):
        x, y = batch
        loss = F.cross_entropy(self.model(x), y)
        self.batch_metrics.update({"loss": loss, "numbers": loss.item()})
        self.kept.append(loss)  # want: GL102 warning nodes
