"""Meters and metrics of libraries: some keep what they are given as it is."""

import torch
import torch.nn.functional as F
import torchmetrics
from timm.utils import AverageMeter
from torch import nn
from torchmetrics import MeanMetric, Metric
from transformers import Trainer


def averages(loader):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses, numbers, latest = AverageMeter(), AverageMeter(), AverageMeter()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss, x.size(0))  # want: GL103 warning nodes
        numbers.update(loss.item(), x.size(0))
        latest.reset()
        latest.update(loss)
    print(losses.avg, numbers.avg, latest.avg)


def metrics(loader):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    mean, concatenated = MeanMetric(), torchmetrics.CatMetric()
    accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=4)
    history = []
    for x, y in loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean.update(loss)
        accuracy.update(out, y)
        concatenated.update(loss)  # want: GL103 warning nodes
        history.append(mean.compute())
    print(history, concatenated.compute(), accuracy.compute())


class Perplexity(Metric):
    """Updates run without recording, but a list keeps what it is given."""

    def __init__(self):
        super().__init__()
        self.add_state("total", torch.tensor(0.0), dist_reduce_fx="sum")
        self.add_state("values", [], dist_reduce_fx="cat")
        self.rows = []

    def update(self, loss):
        self.total += loss.exp()
        self.rows.append(loss)

    def compute(self):
        return self.total


def own_metric(loader):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    perplexity = Perplexity()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        perplexity.update(loss)  # want: GL103 warning nodes
        print(perplexity(loss.detach()))
    print(perplexity.compute())


class Logged(Trainer):
    """What a Trainer logs it keeps in its history."""

    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        self.log({"regression": outputs.loss})  # want: GL103 warning nodes
        self.log({"regression": outputs.loss.item()})
        return (outputs.loss, outputs) if return_outputs else outputs.loss
