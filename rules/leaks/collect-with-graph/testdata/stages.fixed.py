"""Collections that are filled in some stages of a training only."""

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
        self.losses = []

    def losses_of(self, x, y, stage):
        loss = F.mse_loss(self.model(x), y)
        if stage == Stage.TRAIN:
            self.losses.append(loss.detach())
        return loss

    def fit(self, loader):
        for x, y in loader:
            loss = self.losses_of(x, y, Stage.TRAIN)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        print(len(self.losses))


class Levels(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        self.layer = nn.Linear(4, 4)
        self.last = [torch.zeros(1, 4)] * depth

    def forward(self, x):
        for i in range(self.depth):
            x = self.layer(x)
            self.last[i] = 0.9 * self.last[i] + x.sum(dim=0).detach()
        return x


def at_many_points(model: nn.Module, optimizer):
    values = []
    for t in torch.linspace(0, 1, 200):
        value = model(t.expand(1, 4)).sum()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        values.append(value.detach())
    print(len(values))
