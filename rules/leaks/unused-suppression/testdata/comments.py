"""Comments that silence nothing, in many forms."""

import torch
from torch import nn

CACHE = {}  # graphleak: ignore  # want: GL001 hint nothing


def repaired(model: nn.Module, loader, optimizer):
    total = 0.0
    history = []
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()  # graphleak: ignore[GL101]  # want: GL001 hint nothing
        history.append(loss.detach())  # noqa: GL102  # want: GL001 hint nothing
    print(total, history)


def partly(model: nn.Module, loader, optimizer):
    total = 0.0
    losses = []
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss  # graphleak: ignore[GL101, GL102]  # want: GL001 hint nothing
        losses.append(loss)  # noqa: E501, GL102, GL105  # want: GL001 hint nothing
    print(total, losses)


# graphleak: ignore[GL101]  # want: GL001 hint nothing
def misplaced(model: nn.Module, loader):
    model.eval()
    with torch.no_grad():
        for x in loader:
            # graphleak: ignore  # want: GL001 hint nothing
            print(model(x))


def misspelt(model: nn.Module, loader, optimizer):
    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()  # graphleak: ignore[GL1O1]  # want: GL001 hint nothing
        print(
            total,
            loss.item(),
        )  # the mean of the batch  # graphleak: ignore[GL102]  # want: GL001 hint nothing


def guarded(model: nn.Module, loader, criterion):
    """What the comments were for runs under no_grad by now."""
    model.eval()
    worst, seen = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            scores = model(x)  # NOQA: gl301  # want: GL001 hint nothing
            worst = max(worst, criterion(scores, y).item())
            seen += len(x)
    print(worst, seen)  # graphleak: ignore[collect-with-graph, GL1]  # want: GL001 hint nothing
