"""Metrics of TorchMetrics and Ignite whose state grows with every update, computed
once an epoch and never reset."""

import lightning as L
import torch
import torch.nn.functional as F
import torchmetrics
from ignite.metrics import ROC_AUC
from torch import nn
from torchmetrics import AUROC, Accuracy, MetricCollection
from torchmetrics.classification import BinaryPrecisionRecallCurve
from torchmetrics.detection import MeanAveragePrecision


class Diagnoser(L.LightningModule):
    """What is logged is a number, so Lightning knows no metric to reset."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 14)
        self.auroc = AUROC(task="multilabel", num_labels=14)
        self.train_scores = MetricCollection([Accuracy(task="multilabel", num_labels=14), AUROC(task="multilabel", num_labels=14)])

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.train_scores(logits, y)  # want: GL206 warning values
        return F.binary_cross_entropy_with_logits(logits, y.float())

    def on_train_epoch_end(self):
        self.log_dict(self.train_scores.compute())

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.auroc.update(self.net(x).sigmoid(), y)  # want: GL206 warning values

    def on_validation_epoch_end(self):
        self.log("auroc", self.auroc.compute())


class PerBatch(L.LightningModule):
    """The value of the batch is all that is asked for; the call keeps its
    arguments all the same."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 2)
        self.curve = torchmetrics.AveragePrecision(task="binary")

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        precision = self.curve(logits.softmax(-1)[:, 1], y)  # want: GL206 warning values
        self.log("precision", precision)
        return F.cross_entropy(logits, y)


def detect(detector: nn.Module, train, held_out, optimizer, device, epochs):
    metric = MeanAveragePrecision(iou_type="bbox").to(device)
    for epoch in range(epochs):
        for images, targets in train:
            losses = detector(images, targets)
            optimizer.zero_grad()
            sum(losses.values()).backward()
            optimizer.step()
        detector.eval()
        with torch.no_grad():
            for images, targets in held_out:
                metric.update(detector(images), targets)  # want: GL206 warning values
        print(epoch, metric.compute()["map"])


class Experiment:
    def __init__(self, model: nn.Module, loaders, optimizer):
        self.model, self.loaders, self.optimizer = model, loaders, optimizer
        self.curve = BinaryPrecisionRecallCurve()
        self.rank = ROC_AUC()

    def fit(self, epochs):
        for _ in range(epochs):
            self.train_epoch()
            self.validate()

    def train_epoch(self):
        for x, y in self.loaders["train"]:
            score = self.model(x)
            self.optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(score, y).backward()
            self.optimizer.step()
            self.rank.update((score.detach(), y))  # want: GL206 warning values
        print("train", self.rank.compute())

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        for x, y in self.loaders["valid"]:
            self.curve.update(self.model(x).sigmoid(), y.int())  # want: GL206 warning values
        precision, recall, _ = self.curve.compute()
        print("validation", precision.mean(), recall.mean())
        self.model.train()
