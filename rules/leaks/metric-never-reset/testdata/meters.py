"""Meters of the program itself: they have a method that empties them, and nothing
calls it."""

from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class Confusion:
    def __init__(self):
        self.reset()

    def reset(self):
        self.scores = []
        self.targets = []

    def update(self, scores, targets):
        self.scores.append(scores)
        self.targets.append(targets)

    def compute(self):
        scores, targets = torch.cat(self.scores), torch.cat(self.targets)
        return (scores.argmax(1) == targets).float().mean().item()


# may change: the metric is that of one epoch
def train(model: nn.Module, train_loader, test_loader, optimizer, device):
    confusion = Confusion()
    for epoch in range(50):
        for x, y in train_loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in test_loader:
                confusion.update(model(x.to(device)), y.to(device))  # want: GL206 warning values
        print(epoch, confusion.compute())
        model.train()


class Features:
    """Called like a function, and emptied by another name."""

    def __init__(self):
        self.kept = deque()

    def __call__(self, name, features):
        self.kept.append((name, features))

    def spread(self):
        return torch.cat([features for _, features in self.kept]).std()

    def start(self):
        self.kept = deque()


class Probe:
    def __init__(self, encoder: nn.Module, loader):
        self.encoder = encoder.cuda()
        self.loader = loader
        self.features = Features()

    def run(self, epochs):
        for epoch in range(epochs):
            for x, name in self.loader:
                with torch.no_grad():
                    self.features("all", self.encoder(x.cuda()))  # want: GL206 warning values
            print(epoch, self.features.spread())
