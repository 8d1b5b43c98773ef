"""Sums that are made by functions of Python's library."""

import functools
import itertools
from functools import reduce

import torch
import torch.nn.functional as F
from torch import nn


def sum_of_a_map(model: nn.Module, loader):
    def loss_of(batch):
        images, labels = batch
        return F.cross_entropy(model(images), labels)

    print(sum(map(loss_of, loader)))  # want: GL101 error graph


def sum_of_a_generator(model: nn.Module, loader):
    total = sum((F.cross_entropy(model(images), labels) for images, labels in loader), start=0.0)  # want: GL101 error graph
    print(float(total))


def reduced(model: nn.Module, loader):
    total = functools.reduce(lambda acc, batch: acc + F.cross_entropy(model(batch[0]), batch[1]), loader, 0.0)  # want: GL101 error graph
    print(float(total))


def reduced_by_a_function(model: nn.Module, loader):
    def add(acc, batch):
        images, labels = batch
        return acc + F.cross_entropy(model(images), labels)  # want: GL101 error graph

    print(float(reduce(add, loader, 0.0)))


def chained_maximum(model: nn.Module, loader):
    best = functools.reduce(torch.maximum, (model(images).mean(0) for images, _ in loader))  # want: GL101 error graph
    print(best)


def over_a_map(model: nn.Module, loader):
    total = 0.0
    for logits in map(lambda batch: model(batch[0]), loader):
        total += logits.logsumexp(1).mean().detach()
    print(total)


def over_a_filter(model: nn.Module, loader):
    losses = (F.cross_entropy(model(images), labels) for images, labels in loader)
    total = 0.0
    for i, loss in enumerate(filter(torch.isfinite, losses)):
        total += loss.detach()
    print(total / (i + 1))


def over_a_zip(model: nn.Module, loader, weights):
    losses = (F.cross_entropy(model(images), labels) for images, labels in loader)
    total = 0.0
    for weight, loss in zip(weights, losses):
        total += weight * loss.detach()
    print(total)


def over_several_loaders(model: nn.Module, first, second):
    total = 0.0
    for images, labels in itertools.chain(first, second):
        total += F.cross_entropy(model(images), labels).detach()
    print(total)


def norms_of_parameters(model: nn.Module, loader, optimizer):
    """What an operation saves of a parameter lives anyway: nodes stay."""
    total, norms = 0.0, []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += sum(p.norm() for p in model.parameters()).detach()
        norms.append(sum(p.norm().item() for p in model.parameters()))
    return total, norms
