"""The meter is defined in another file."""

import torch.nn.functional as F
from torch import nn

import meters
from meters import Board, DetachingAverage


def train(model: nn.Module, loader, optimizer):
    leaking = meters.Average()
    sound = DetachingAverage()
    board = Board()
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        leaking.update(loss.detach(), len(x))
        sound.update(loss, len(x))
        board.log(step, {"loss": loss.detach(), "size": len(x)})
    print(leaking.compute(), sound.compute(), len(board.rows))


def evaluate(model: nn.Module, loader):
    model.eval()
    leaking = meters.Average()
    for x, y in loader:
        leaking.update(F.cross_entropy(model(x), y))  # want: GL103 error graph
    return leaking.compute()
