"""Collections that are filled in other stages, and what is no collection."""

from enum import Enum, auto

import torch
import torch.nn.functional as F
from torch import nn


class Stage(Enum):
    TRAIN = auto()
    VALID = auto()


class Recipe:
    def __init__(self, model: nn.Module, optimizer):
        self.model, self.optimizer = model, optimizer
        self.seen = []

    def loss(self, x, y, stage):
        loss = F.mse_loss(self.model(x), y)
        if stage != Stage.TRAIN:
            self.seen.append(loss)
        if stage is Stage.VALID:
            self.seen.append(loss)
        return loss

    def fit(self, loader):
        for x, y in loader:
            loss = self.loss(x, y, Stage.TRAIN)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        with torch.no_grad():
            for x, y in loader:
                self.loss(x, y, Stage.VALID)
        print(len(self.seen))


class Scored(nn.Module):
    """The metric counts, and keeps no tensor; its append takes two."""

    def __init__(self, metric):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.metric = metric

    def forward(self, x, y):
        out = self.layer(x)
        self.metric.append(out, y)
        return F.mse_loss(out, y)


class Decoder(nn.Module):
    """A list of as many states as there are layers, made anew in each call."""

    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        self.cells = nn.ModuleList([nn.GRUCell(4, 4) for _ in range(depth)])

    def forward(self, x):
        states = [x.new_zeros(x.shape[0], 4)] * self.depth
        for i, cell in enumerate(self.cells):
            states[i] = cell(x, states[i - 1])
        return states[-1]


def at_few_points(model: nn.Module):
    points = []
    for t in torch.linspace(-1, 1, 5):
        points.append(model(t.expand(1, 4)))
    return torch.stack(points).detach()
