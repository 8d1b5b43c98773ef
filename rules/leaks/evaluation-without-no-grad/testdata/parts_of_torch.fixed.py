"""A file that knows torch by its parts only."""

import torch
from torch import nn, optim
from torch.nn import functional as F


@torch.no_grad()
def test(model: nn.Module, loader):
    model.eval()
    hits = 0
    for i, (x, y) in enumerate(loader):
        hits += (model(x).argmax(1) == y).sum().item()
        # keep the log short
        if i > 100:
            break
    model.train()
    return hits


def fit(model: nn.Module, loaders, epochs, hooks):
    optimizer = optim.Adam(model.parameters())
    for epoch in range(epochs):
        model.train()
        for x, y in loaders["train"]:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in loaders["val"]:
                print(F.cross_entropy(model(x), y).item())
        hooks.on_epoch_end(epoch)
