"""Sums that start anew, and values of which only one iteration's worth stays."""

import torch
import torch.nn.functional as F
from torch import nn


def printed_every_hundred(model: nn.Module, loader, optimizer):
    running_loss = 0.0
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running_loss += loss
        if i % 100 == 99:
            print(f"{i + 1}: {running_loss / 100:.3f}")
            running_loss = 0.0


def fresh_in_each_iteration(model: nn.Module, episodes):
    for episode in episodes:
        total = 0.0
        for k in range(4):
            total = total + model(episode[k]).mean()
        print(total.item())


class Logger:
    """An interval logger that forgets what it has written."""

    def __init__(self, writer, interval=50):
        self.writer = writer
        self.interval = interval
        self.total = 0.0
        self.count = 0

    def log(self, loss, step):
        self.total += loss
        self.count += 1
        if self.count == self.interval:
            self.writer.add_scalar("loss", self.total / self.count, step)
            self.total = 0.0
            self.count = 0


def train_with_logger(model: nn.Module, loader, optimizer, writer):
    logger = Logger(writer)
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.log(loss, step)


def best_so_far(model: nn.Module, loader):
    """One loss is kept, the best one."""
    best = None
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        if best is None or loss < best:
            best = loss
    print(best)


class KeepsTheLast:
    def __init__(self, model):
        self.model = model
        self.last_loss = None

    def run(self, loader, optimizer):
        for x, y in loader:
            self.last_loss = F.mse_loss(self.model(x), y)
            optimizer.zero_grad()
            self.last_loss.backward()
            optimizer.step()


class Decoder(nn.Module):
    """Sums inside forward belong to one forward pass."""

    def __init__(self, width=32, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, width)

    def forward(self, x):
        skip = 0
        for layer in self.layers:
            x = torch.relu(layer(x))
            skip = skip + x
        regularisation = 0.0
        for parameter in self.parameters():
            regularisation = regularisation + parameter.pow(2).sum()
        return self.out(skip), regularisation


def few_restarts(model: nn.Module, x):
    """Three iterations are not a leak."""
    score = 0.0
    for _ in range(3):
        score += model(x + 0.01 * torch.randn_like(x)).mean()
    return score / 3
