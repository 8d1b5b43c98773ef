"""Metrics that are reset, by whom it may be, and those that keep a few numbers."""

import lightning as L
import torch
import torch.nn.functional as F
from ignite.engine import Engine
from ignite.metrics import ROC_AUC
from torch import nn
from torchmetrics import AUROC, Accuracy, AveragePrecision, ConfusionMatrix, MeanMetric, MetricCollection


class LoggedAsMetric(L.LightningModule):
    """Lightning resets what is logged as a metric."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 2)
        self.auroc = AUROC(task="binary")
        self.scores = MetricCollection({"auroc": AUROC(task="binary"), "accuracy": Accuracy(task="binary")})

    def validation_step(self, batch, batch_idx):
        x, y = batch
        score = self.net(x).softmax(-1)[:, 1]
        self.auroc(score, y)
        self.scores.update(score, y)
        self.log("auroc", self.auroc, on_epoch=True)
        self.log_dict(self.scores)


class ResetByHand(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 2)
        self.auroc = AUROC(task="binary")

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.auroc.update(self.net(x).softmax(-1)[:, 1], y)

    def on_validation_epoch_end(self):
        self.log("auroc", self.auroc.compute())
        self.auroc.reset()


class Binned(L.LightningModule):
    """With thresholds there are as many counts as those."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 2)
        self.auroc = AUROC(task="binary", thresholds=200)
        self.precision = AveragePrecision(task="binary", thresholds=[0.1, 0.5, 0.9])

    def validation_step(self, batch, batch_idx):
        x, y = batch
        score = self.net(x).softmax(-1)[:, 1]
        self.auroc.update(score, y)
        self.precision.update(score, y)

    def on_validation_epoch_end(self):
        self.log_dict({"auroc": self.auroc.compute(), "precision": self.precision.compute()})


def sums(model: nn.Module, loader, optimizer, epochs):
    """Never reset, which is wrong but small."""
    accuracy, mean, confusion = Accuracy(task="binary"), MeanMetric(), ConfusionMatrix(task="binary")
    for _ in range(epochs):
        for x, y in loader:
            score = model(x).squeeze(-1)
            loss = F.binary_cross_entropy_with_logits(score, y.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            accuracy.update(score, y)
            mean.update(loss.detach())
            confusion.update(score, y)
        print(accuracy.compute(), mean.compute(), confusion.compute())


def several(model: nn.Module, loader, epochs):
    """A loop resets all of them."""
    metrics = {"auroc": AUROC(task="binary"), "precision": AveragePrecision(task="binary")}
    for _ in range(epochs):
        for x, y in loader:
            with torch.no_grad():
                score = model(x)
            for metric in metrics.values():
                metric.update(score, y)
        print({name: metric.compute() for name, metric in metrics.items()})
        for metric in metrics.values():
            metric.reset()


def made_anew(model: nn.Module, loader, epochs):
    for _ in range(epochs):
        auroc = AUROC(task="binary")
        for x, y in loader:
            with torch.no_grad():
                auroc.update(model(x), y)
        print(auroc.compute())


def evaluate(model: nn.Module, loader):
    """Once."""
    auroc = AUROC(task="binary")
    for x, y in loader:
        with torch.no_grad():
            auroc.update(model(x), y)
    return auroc.compute()


def over_all(model: nn.Module, loaders):
    """All data sets together are what is asked about."""
    auroc = AUROC(task="binary")
    for loader in loaders:
        for x, y in loader:
            with torch.no_grad():
                auroc.update(model(x), y)
    return auroc.compute()


def attached(model: nn.Module, loader, epochs):
    """An engine resets what is attached to it, when an epoch starts."""
    auroc = ROC_AUC()

    def step(engine, batch):
        with torch.no_grad():
            return model(batch[0]), batch[1]

    engine = Engine(step)
    auroc.attach(engine, "auroc")
    engine.run(loader, max_epochs=epochs)
    return engine.state.metrics["auroc"]


class Scores:
    """A meter that somebody resets."""

    def __init__(self):
        self.kept = []

    def reset(self):
        self.kept.clear()

    def update(self, scores):
        self.kept.append(scores.cpu())

    def summary(self):
        mean = torch.cat(self.kept).mean()
        self.reset()
        return mean


def validate(model: nn.Module, loader, epochs):
    scores = Scores()
    for _ in range(epochs):
        for x, _ in loader:
            with torch.no_grad():
                scores.update(model(x))
        print(scores.summary())
