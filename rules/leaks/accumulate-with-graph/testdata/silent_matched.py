"""Cases that cannot hold a graph, or bind parts without one."""

import torch
import torch.nn.functional as F
from torch import nn


def number_of(value):
    match value:
        case torch.Tensor():
            return value.item()
        case float() | int():
            return value
        case None:
            return 0.0
        case _:
            raise TypeError(value)


def by_type(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        total += number_of(F.cross_entropy(model(images), labels))
    print(total)


def what_is_left(model: nn.Module, loader):
    """A tensor is matched by the first case, so the second sees none."""
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        match loss:
            case torch.Tensor():
                total += loss.detach()
            case other:
                total += other
    print(total)


def step(model: nn.Module, images, labels):
    loss = F.cross_entropy(model(images), labels)
    return loss, loss.item()


def by_position(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        match step(model, images, labels):
            case (_, number):
                total += number
    print(total)


def by_key(model: nn.Module, loader):
    hits = 0
    for images, labels in loader:
        logits = model(images)
        match {"loss": F.cross_entropy(logits, labels), "hits": (logits.argmax(1) == labels).sum()}:
            case {"hits": correct, **rest}:
                hits += correct
                print(rest["loss"].item())
    print(hits)


class Stop:
    pass


def by_command(model: nn.Module, loader, commands, optimizer):
    loss = None
    for command, (images, labels) in zip(commands, loader):
        match command:
            case "train":
                loss = F.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            case ("print", name):
                print(name, loss.item())
            case Stop():
                break
