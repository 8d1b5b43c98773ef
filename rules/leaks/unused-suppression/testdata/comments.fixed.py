"""Comments that silence nothing, in many forms."""

import torch
from torch import nn

CACHE = {}


def repaired(model: nn.Module, loader, optimizer):
    total = 0.0
    history = []
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
        history.append(loss.detach())
    print(total, history)


def partly(model: nn.Module, loader, optimizer):
    total = 0.0
    losses = []
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss  # graphleak: ignore[GL101]
        losses.append(loss)  # noqa: E501, GL102
    print(total, losses)



def misplaced(model: nn.Module, loader):
    model.eval()
    with torch.no_grad():
        for x in loader:

            print(model(x))


def misspelt(model: nn.Module, loader, optimizer):
    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
        print(
            total,
            loss.item(),
        )  # the mean of the batch


def guarded(model: nn.Module, loader, criterion):
    """What the comments were for runs under no_grad by now."""
    model.eval()
    worst, seen = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            scores = model(x)
            worst = max(worst, criterion(scores, y).item())
            seen += len(x)
    print(worst, seen)
