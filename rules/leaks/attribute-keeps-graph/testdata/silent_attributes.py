"""Attributes without a graph, whose graph is wanted, or of which not all that
reads them is in view."""

import torch
import torch.nn.functional as F
from torch import nn


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        h = self.body(x)
        self.kept = h.detach()
        return h

    def show(self):
        print(self.kept.numpy())


class AuxiliaryLoss(nn.Module):
    """A training loop adds it to its loss."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        h = self.body(x)
        self.penalty = h.pow(2).mean()
        return h


class Divergence(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(8, 8)

    def forward(self, x):
        self.mu = self.mean(x)
        return self.mu + torch.randn_like(self.mu)

    def divergence(self):
        return 0.5 * self.mu.pow(2).sum(-1)


class Returned(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        self.activation = self.body(x)
        return self.activation.relu()

    def saliency(self):
        return self.activation

    def show(self):
        print(self.activation.detach())


class Cleared(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        self.scratch = self.body(x)
        print(self.scratch.mean().item())
        out = self.scratch.relu()
        self.scratch = None
        return out


class Indices(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        h = self.body(x)
        self.best = h.argmax(-1)
        return h

    def show(self):
        print(self.best.tolist())


class Guarded(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    @torch.no_grad()
    def forward(self, x):
        self.output = self.body(x)
        return self.output

    def show(self):
        print(self.output.tolist())


class Backwarded:
    """The backward has freed the graph: nodes of one step stay."""

    def __init__(self, model: nn.Module, optimizer):
        self.model, self.optimizer = model, optimizer

    def fit(self, loader):
        for x, y in loader:
            self.loss = F.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            self.loss.backward()
            self.optimizer.step()
            print(self.loss.item())


class MadeEachTime:
    """The object goes with the iteration."""

    def __init__(self, output):
        self.output = output

    def best(self):
        return self.output.argmax(-1).tolist()


def predict(model: nn.Module, loader):
    for x, _ in loader:
        print(MadeEachTime(model(x)).best())


class HandedOn(nn.Module):
    def __init__(self, hooks):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.hooks = hooks

    def forward(self, x):
        self.hidden = self.body(x)
        self.hooks.observe(self.hidden)
        return self.hidden.sigmoid()

    def show(self):
        print(self.hidden.tolist())
