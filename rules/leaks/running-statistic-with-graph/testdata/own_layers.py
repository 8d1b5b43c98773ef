"""Layers that keep statistics of what goes through them. What the statistic
takes in still has the graph of the batch."""

import torch
import torch.nn.functional as F
from torch import nn


class MovingNorm(nn.Module):
    """The batch statistics are used by the output as well: training frees what
    they saved, but not their nodes."""

    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(features))
        self.beta = nn.Parameter(torch.zeros(features))
        self.register_buffer("moving_mean", torch.zeros(features))
        self.register_buffer("moving_var", torch.ones(features))
        self.momentum, self.eps = momentum, eps

    def forward(self, x):
        if self.training:
            mean, var = x.mean(dim=0), x.var(dim=0, unbiased=False)
            self.moving_mean = (1 - self.momentum) * self.moving_mean + self.momentum * mean  # want: GL104 warning nodes
            self.moving_var = (1 - self.momentum) * self.moving_var + self.momentum * var  # want: GL104 warning nodes
        else:
            mean, var = self.moving_mean, self.moving_var
        return self.gamma * (x - mean) / torch.sqrt(var + self.eps) + self.beta


class CenteredEncoder(nn.Module):
    """The centre is of the features, but no loss ever reads it."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.center = torch.zeros(width)

    def forward(self, x):
        features = self.body(x)
        self.center.mul_(0.99).add_(0.01 * features.pow(2).mean(dim=0))  # want: GL104 error graph
        return F.normalize(features, dim=-1)


class LargestScore(nn.Module):
    """The largest attention score so far, for a log."""

    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.largest = None

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        peak = scores.amax(dim=(1, 2))
        if self.largest is None:
            self.largest = peak
        else:
            self.largest = torch.maximum(self.largest, peak)  # want: GL104 error graph
        return scores.softmax(dim=-1) @ self.value(x)


def train_with_largest_score(loader, optimizer):
    model = LargestScore(64)
    for tokens, target in loader:
        loss = F.mse_loss(model(tokens), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


class Gate(nn.Module):
    """A router of experts that counts its load in a helper of its own."""

    def __init__(self, width, experts):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.load = torch.zeros(experts)

    def _observe(self, weights):
        self.load = self.load + weights.sum(dim=0)

    def forward(self, x):
        weights = self.router(x).softmax(dim=-1)
        self._observe(weights * weights)  # want: GL104 error graph
        return weights


class WeightAverage:
    """An average of the weights, as they are updated."""

    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.shadow = {name: p.clone().detach() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p  # want: GL104 warning nodes


def train_with_average(loader):
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    average = WeightAverage(model)
    for x, y in loader:
        loss = F.l1_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
    return average.shadow


def blended(new, old, momentum):
    return (1 - momentum) * old + momentum * new.mean()


class NamedArguments(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.register_buffer("level", torch.zeros(1))

    def forward(self, x):
        h = self.fc(x)
        self.level = blended(new=h, old=self.level, momentum=0.1)  # want: GL104 warning nodes
        return h - h.mean()
