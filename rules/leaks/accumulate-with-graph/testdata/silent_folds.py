"""What functions of Python's library make of numbers, of the parts of one loss,
or keep one of."""

import functools
import math
import operator

import torch
import torch.nn.functional as F
from torch import nn


def sum_of_a_map(model: nn.Module, loader):
    def loss_of(batch):
        images, labels = batch
        return F.cross_entropy(model(images), labels).item()

    print(sum(map(loss_of, loader)))


def sum_of_a_generator(model: nn.Module, loader):
    print(sum(F.cross_entropy(model(images), labels).detach() for images, labels in loader))


def exact_sum(model: nn.Module, loader):
    """fsum makes a number of each loss."""
    print(math.fsum(F.cross_entropy(model(images), labels) for images, labels in loader))


def reduced(model: nn.Module, loader):
    total = functools.reduce(lambda acc, batch: acc + F.cross_entropy(model(batch[0]), batch[1]).item(), loader, 0.0)
    print(total)


def reduced_parts_of_a_loss(model: nn.Module, loader, optimizer):
    for images, labels in loader:
        logits = model(images)
        loss = functools.reduce(operator.add, [F.cross_entropy(logits, labels), logits.pow(2).mean(), logits.abs().mean()])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def reduced_for_one_backward(model: nn.Module, batches, optimizer):
    losses = (F.cross_entropy(model(images), labels) for images, labels in batches)
    optimizer.zero_grad()
    functools.reduce(operator.add, losses).backward()
    optimizer.step()


def the_largest(model: nn.Module, loader):
    """One loss is kept at a time."""
    print(max(F.cross_entropy(model(images), labels) for images, labels in loader))


def reduced_to_the_largest(model: nn.Module, loader):
    losses = (F.cross_entropy(model(images), labels) for images, labels in loader)
    print(functools.reduce(lambda a, b: a if a > b else b, losses))


def composed(layers: nn.ModuleList, loader):
    for images in loader:
        print(functools.reduce(lambda x, layer: layer(x), layers, images).mean().item())


@torch.no_grad()
def guarded(model: nn.Module, loader):
    return functools.reduce(lambda acc, batch: acc + F.cross_entropy(model(batch[0]), batch[1]), loader, 0.0)
