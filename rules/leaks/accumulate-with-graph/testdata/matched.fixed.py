"""Case patterns bind names and say what they are."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Result:
    loss: torch.Tensor
    size: int


def by_type(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        match F.cross_entropy(model(images), labels):
            case torch.Tensor() as value:
                total += value.detach()
            case float() as value:
                total += value
    print(total)


def by_attributes(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        match Result(F.cross_entropy(model(images), labels), len(labels)):
            case Result(loss=value, size=n):
                total += value.detach() * n
    print(total)


def by_position(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        match Result(F.cross_entropy(model(images), labels), len(labels)):
            case Result(value, n) if n > 0:
                total += value.detach() * n
    print(total)


def step(model: nn.Module, images, labels, optimizer):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return {"loss": loss, "n": len(labels)}


def by_key(model: nn.Module, loader, optimizer):
    total, seen = 0.0, 0
    for images, labels in loader:
        match step(model, images, labels, optimizer):
            case {"loss": loss, "n": n}:
                total += loss.detach() * n
                seen += n
            case _:
                raise TypeError
    print(total / seen)


def in_a_sequence(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        match (loss.item(), loss):
            case [number, (torch.Tensor() as attached)]:
                total += attached.detach()
                print(number)
    print(total)


def the_rest(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        logits = model(images)
        match [len(labels), F.cross_entropy(logits, labels), logits.pow(2).mean()]:
            case [n, *losses]:
                for loss in losses:
                    total += n * loss.detach()
    print(total)
