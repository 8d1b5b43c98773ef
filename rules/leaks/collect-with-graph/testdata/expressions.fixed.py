"""Containers that are filled by an expression."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def stacked_comprehension(loader):
    model = Net()
    losses = torch.stack([F.mse_loss(model(x), y) for x, y in loader])  # want: GL102 error graph
    print(losses.mean().item())


def mapped(loader):
    model = Net()
    outs = list(map(model, loader))  # want: GL102 error graph
    print(torch.cat(outs).mean().item())


def by_index(loader):
    model = Net()
    outs = {i: model(x).detach() for i, x in enumerate(loader)}
    print(len(outs))
