"""Metrics by stage and in base classes that are reset, and such as are asked for one batch."""

import lightning.pytorch as pl
import torch.nn.functional as F
from torch import nn
from torchmetrics import AUROC, SpearmanCorrCoef


class ByStage(pl.LightningModule):
    def __init__(self, net: nn.Module, classes):
        super().__init__()
        self.net = net
        self.metrics = nn.ModuleDict({stage: AUROC(task="multiclass", num_classes=classes) for stage in ("fit", "held_out")})

    def step(self, batch, stage):
        x, y = batch
        logits = self.net(x)
        self.metrics[stage].update(logits.softmax(-1), y)
        return F.cross_entropy(logits, y)

    def training_step(self, batch, batch_idx):
        return self.step(batch, "fit")

    def validation_step(self, batch, batch_idx):
        return self.step(batch, "held_out")

    def on_train_epoch_end(self):
        for stage, metric in self.metrics.items():
            self.log(f"{stage}/auroc", metric.compute())
            metric.reset()


class OfOneBatch(pl.LightningModule):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.spearman = SpearmanCorrCoef()

    def validation_step(self, batch, batch_idx):
        self.spearman.reset()
        self.spearman.update(self.net(batch.x).view(-1), batch.y.view(-1))
        self.log("val_spearman", self.spearman.compute())


class RunningWithinAnEpoch(pl.LightningModule):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.spearman = SpearmanCorrCoef()

    def on_validation_epoch_start(self):
        self.spearman.reset()

    def validation_step(self, batch, batch_idx):
        self.spearman.update(self.net(batch.x).view(-1), batch.y.view(-1))
        self.log("val_spearman", self.spearman.compute(), prog_bar=True)


class Scored(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.note(self.net(x).softmax(-1)[:, 1], y)

    def on_validation_epoch_end(self):
        self.log("score", self.metric.compute())
        self.metric.reset()


class OneMetric(Scored):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.metric = AUROC(task="binary")

    def note(self, scores, y):
        self.metric.update(scores, y)


class Logged(pl.LightningModule):
    """Lightning resets each of them, as they are logged themselves."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.metrics = nn.ModuleDict({stage: AUROC(task="binary") for stage in ("fit", "held_out")})

    def validation_step(self, batch, batch_idx):
        x, y = batch
        metric = self.metrics["held_out"]
        metric.update(self.net(x).softmax(-1)[:, 1], y)
        self.log("auroc", metric, on_epoch=True)
