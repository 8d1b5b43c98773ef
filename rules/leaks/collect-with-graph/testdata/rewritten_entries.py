"""Collections of which some entries keep their graph."""

import torch.nn.functional as F
from torch import nn


def all_but_one(model: nn.Module, loader, optimizer):
    history = []
    for x, y in loader:
        out = model(x)
        losses = {"near": F.l1_loss(out, y), "far": F.mse_loss(out, y)}
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name in losses:
            if name != "far":
                losses[name] = losses[name].detach()
        history.append(losses)  # want: GL102 warning nodes
    print(history)


def the_first_alone(model: nn.Module, loader, optimizer):
    history = []
    for x, y in loader:
        out = model(x)
        losses = [F.l1_loss(out, y), F.mse_loss(out, y)]
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
        for i, loss in enumerate(losses):
            if i > 0:
                break
            losses[i] = loss.detach()
        history.append(losses)  # want: GL102 warning nodes
    print(history)


def scaled(model: nn.Module, loader, optimizer):
    history = []
    for x, y in loader:
        out = model(x)
        losses = {"near": F.l1_loss(out, y), "far": F.mse_loss(out, y)}
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name in losses:
            losses[name] = losses[name] * 0.5
        history.append(losses)  # want: GL102 warning nodes
    print(history)
