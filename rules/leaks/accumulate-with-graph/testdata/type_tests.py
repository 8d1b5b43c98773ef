"""Sums of values whose type the program asks for."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def one_of_two(model: nn.Module, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if isinstance(loss, (float, torch.Tensor)):
            total += loss  # want: GL101 warning nodes
    print(total)


def by_type(model: nn.Module, loader, optimizer):
    total, numbers = 0.0, 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if type(loss) is torch.Tensor:
            total += loss  # want: GL101 warning nodes
        elif type(loss) == float:
            numbers += loss
    print(total, numbers)


def no_text(model: nn.Module, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = np.mean([1.0, 2.0])
        if isinstance(mean, str):
            print(mean)
        else:
            total += loss  # want: GL101 warning nodes
    print(total)


def as_asked(model: nn.Module, name, kind):
    value = getattr(model, name)
    if kind is bool:
        return value is not None
    return value


def with_the_bias(loader, optimizer):
    layer = nn.Linear(4, 1)
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(layer(x), y).backward()
        optimizer.step()
        total += as_asked(layer, "bias", torch.Tensor) * 2.0  # want: GL101 warning nodes
    print(total)
