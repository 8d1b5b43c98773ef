"""Sums that live on an object and grow by the method that a loop calls."""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model, optimizer, loader, device):
        self.model = model
        self.optimizer = optimizer
        self.loader = loader
        self.device = device
        self.epoch_loss = 0.0
        self.best = float("inf")

    def train_step(self, batch):
        images, labels = (t.to(self.device) for t in batch)
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(images), labels)
        loss.backward()
        self.optimizer.step()
        self.epoch_loss += loss.detach()

    def fit(self, epochs):
        for _ in range(epochs):
            self.epoch_loss = 0.0
            for batch in self.loader:
                self.train_step(batch)
            self.best = min(self.best, float(self.epoch_loss))


class LanguageModelTrainer:
    """The loss comes back from a method together with a number."""

    def __init__(self, vocabulary=1000, width=64):
        self.model = nn.Sequential(nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary))
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def compute_loss(self, tokens):
        logits = self.model(tokens[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        return loss, tokens.numel()

    def validation_loss(self, batches):
        self.model.eval()
        total, count = 0.0, 0
        for tokens in batches:
            loss, n = self.compute_loss(tokens)
            total += loss * n  # want: GL101 error graph
            count += n
        return total / count

    def train(self, batches):
        self.model.train()
        total = torch.zeros((), device=batches[0].device)
        for tokens in batches:
            loss, _ = self.compute_loss(tokens)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total.add_(loss.detach())
        return total / len(batches)


@dataclass
class Statistics:
    loss: float = 0.0
    parts: dict = field(default_factory=dict)
    steps: int = 0


# once: layer = nn.Linear(16, 4)
# once: losses = lambda images, targets: {"box": layer(images).mean(), "class": layer(images).pow(2).mean()}
# run: DetectionTrainer(losses, torch.optim.SGD(layer.parameters(), lr=0.1)).run_epoch(loader)
class DetectionTrainer:
    def __init__(self, detector: nn.Module, optimizer):
        self.detector = detector
        self.optimizer = optimizer
        self.statistics = Statistics()

    def run_epoch(self, loader):
        for images, targets in loader:
            losses = self.detector(images, targets)
            loss = losses["box"] + losses["class"]
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.statistics.loss += loss.detach()
            self.statistics.steps += 1
        return self.statistics.loss / self.statistics.steps
