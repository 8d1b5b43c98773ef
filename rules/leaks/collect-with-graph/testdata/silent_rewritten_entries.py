"""Collections whose entries all get another value before they are kept."""

import torch
import torch.nn.functional as F
from torch import nn


def detached_by_key(model: nn.Module, loader, optimizer):
    history = []
    for x, y in loader:
        out = model(x)
        losses = {"near": F.l1_loss(out, y), "far": F.mse_loss(out, y)}
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name in losses:
            losses[name] = losses[name].detach()
        history.append(losses)
    print(history)


def numbers_by_item(model: nn.Module, loader, optimizer):
    history = []
    for x, y in loader:
        out = model(x)
        losses = {"near": F.l1_loss(out, y), "far": F.mse_loss(out, y)}
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name, loss in list(losses.items()):
            losses[name] = loss.item()
        history.append(losses)
    print(history)


def detached_by_position(model: nn.Module, loader, optimizer):
    history = []
    for x, y in loader:
        out = model(x)
        losses = [F.l1_loss(out, y), F.mse_loss(out, y)]
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
        for i in range(len(losses)):
            losses[i] = losses[i].detach()
        history.append(losses)
    print(history)


def tensors_of_what_a_model_gives(model: nn.Module, loader, optimizer):
    history = []
    for x, _ in loader:
        losses = model(x)
        optimizer.zero_grad()
        (losses["near"] + losses["far"]).backward()
        optimizer.step()
        for name, loss in losses.items():
            if isinstance(loss, torch.Tensor):
                losses[name] = loss.detach().cpu().numpy()
        history.append(losses)
    print(history)
