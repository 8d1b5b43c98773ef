"""Metrics by stage, in lists, in base classes, and such as are asked in each step."""

import lightning.pytorch as pl
import torch.nn.functional as F
from torch import nn
from torchmetrics import AUROC, AveragePrecision, SpearmanCorrCoef


class ByStage(pl.LightningModule):
    def __init__(self, net: nn.Module, classes):
        super().__init__()
        self.net = net
        self.metrics = nn.ModuleDict({stage: AUROC(task="multiclass", num_classes=classes) for stage in ("fit", "held_out")})

    def step(self, batch, stage):
        x, y = batch
        logits = self.net(x)
        self.metrics[stage].update(logits.softmax(-1), y)  # want: GL206 warning values
        return F.cross_entropy(logits, y)

    def training_step(self, batch, batch_idx):
        return self.step(batch, "fit")

    def validation_step(self, batch, batch_idx):
        return self.step(batch, "held_out")

    def on_validation_epoch_end(self):
        for stage, metric in self.metrics.items():
            self.log(f"{stage}/auroc", metric.compute())


class Ranking(pl.LightningModule):
    """The number of each step covers all steps so far, of all epochs."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.spearman = SpearmanCorrCoef()

    def validation_step(self, batch, batch_idx):
        self.rank(self.net(batch.x), batch.y)

    def rank(self, out, y):
        self.spearman.update(out.view(-1), y.view(-1))  # want: GL206 warning values
        self.log("val_spearman", self.spearman.compute(), prog_bar=True)


class Scored(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.note(self.net(x).softmax(-1)[:, 1], y)


class OneMetric(Scored):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.auroc = AUROC(task="binary")

    def note(self, scores, y):
        self.auroc.update(scores, y)  # want: GL206 warning values

    def on_validation_epoch_end(self):
        self.log("auroc", self.auroc.compute())


class SeveralMetrics(Scored):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.curves = nn.ModuleList([AUROC(task="binary"), AveragePrecision(task="binary")])

    def note(self, scores, y):
        for curve in self.curves:
            curve.update(scores, y)  # want: GL206 warning values

    def on_validation_epoch_end(self):
        for i, curve in enumerate(self.curves):
            self.log(f"curve{i}", curve.compute())
