"""The like in loops of one's own: emptied, numbers, or kept on purpose."""

import torch
import torch.nn.functional as F
from torch import nn


def of_one_epoch(model: nn.Module, loader, epochs, device):
    for epoch in range(epochs):
        kept = []
        for x, _ in loader:
            with torch.no_grad():
                kept.append(model(x.to(device)).cpu())
        print(epoch, torch.cat(kept).mean())


def history(model: nn.Module, loader, epochs):
    """One number a step, for a plot."""
    losses = []
    for epoch in range(epochs):
        for x, y in loader:
            with torch.no_grad():
                losses.append(F.mse_loss(model(x), y).detach())
        print(epoch, losses[-1])


def snapshots(model: nn.Module, x_probe, loader, optimizer, epochs):
    """One output an epoch is what was asked for."""
    outputs = []
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            outputs.append(model(x_probe).cpu())
        print(epoch, len(outputs))


class Probes:
    """All of them are needed when the training is over."""

    def __init__(self, model: nn.Module, loader):
        self.model, self.loader = model, loader
        self.features = []

    def run(self, tasks):
        for task in tasks:
            self.model.load(task)
            for x in self.loader:
                with torch.no_grad():
                    self.features.append(self.model(x).cpu())
        return torch.cat(self.features)
