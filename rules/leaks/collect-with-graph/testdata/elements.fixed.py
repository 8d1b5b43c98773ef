"""Collections that are written in other ways than append, and records that hold
a graph in one of their parts."""

import itertools
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Prediction(NamedTuple):
    index: int
    scores: torch.Tensor


Scored = namedtuple("Scored", "index score")


def named_tuples(model: nn.Module, loader):
    found, scores = [], []
    for i, (images, _) in enumerate(loader):
        logits = model(images)
        found.append(Prediction(i, logits.softmax(1)))  # want: GL102 error graph
        scores.append(Scored(i, logits.max()).score.detach())
    print(found[-1].scores.shape, len(scores))


@dataclass
class Epoch:
    number: int = 0
    outputs: list = field(default_factory=list)


def list_of_a_dataclass(model: nn.Module, loader):
    epoch = Epoch()
    for images, _ in loader:
        epoch.outputs.append(model(images))  # want: GL102 error graph
    print(len(epoch.outputs))


def other_name_of_a_list(model: nn.Module, loader):
    state = {"outputs": []}
    sink = state["outputs"]
    for images, _ in loader:
        sink.append(model(images))  # want: GL102 error graph
    print(len(state["outputs"]))


def views(model: nn.Module, loader):
    """One row of each batch, and the graph of the whole batch."""
    first = []
    for images, _ in loader:
        first.append(model(images)[0].detach())
    print(torch.stack(first).mean())


class Storage:
    def __init__(self):
        self.steps = []

    def rewards(self):
        return [reward for _, _, reward in self.steps]


def other_parts_are_read(model: nn.Module, loader):
    storage = Storage()
    for images, labels in loader:
        value = model(images).mean(1)
        storage.steps.append((images, value, float(labels.float().mean())))  # want: GL102 error graph
    return storage.rewards()


def merged_dict(model: nn.Module, loader):
    outputs = {}
    for i, (images, _) in enumerate(loader):
        outputs.update({i: model(images)})  # want: GL102 error graph
    print(len(outputs))


def spread_dict(model: nn.Module, loader):
    outputs = {}
    for i, (images, _) in enumerate(loader):
        outputs = {**outputs, i: model(images)}  # want: GL102 error graph
    print(len(outputs))


def united_dict(model: nn.Module, loader):
    outputs = {}
    for i, (images, _) in enumerate(loader):
        outputs |= {i: model(images)}  # want: GL102 error graph
    print(len(outputs))


def growing_tuple(model: nn.Module, loader):
    outputs = ()
    for images, _ in loader:
        outputs += (model(images),)  # want: GL102 error graph
    print(len(outputs))


def spread_list(model: nn.Module, loader):
    outputs = []
    for images, _ in loader:
        outputs = [*outputs, model(images)]  # want: GL102 error graph
    print(len(outputs))


def growing_set(model: nn.Module, loader):
    seen = set()
    for images, labels in loader:
        seen.add(F.cross_entropy(model(images), labels).detach())
    print(len(seen))


def tables(model: nn.Module, loader):
    table = [[F.cross_entropy(model(part), chosen) for part, chosen in zip(images.chunk(2), labels.chunk(2))] for images, labels in loader]  # want: GL102 error graph
    print(len(table))


def only_the_hard(model: nn.Module, loader):
    hard = [loss.detach() for images, labels in loader if (loss := F.cross_entropy(model(images), labels)) > 0]
    print(len(hard))


def running_sums(model: nn.Module, loader):
    curve = list(itertools.accumulate(F.cross_entropy(model(images), labels) for images, labels in loader))  # want: GL102 error graph
    print(len(curve))


def one_sum_for_each_round(model: nn.Module, loader):
    """The sum starts anew, but each one that is kept holds its graphs."""
    sums, total, k = [], 0.0, 0
    for images, labels in loader:
        total = total + F.cross_entropy(model(images), labels)
        k += 1
        if k == 6:
            sums.append(total.detach() / k)
            total, k = 0.0, 0
    print(len(sums))


def few_rounds_of_few(model: nn.Module, loader):
    curve = []
    batches = iter(loader)
    for _ in range(6):
        total = torch.tensor(0.0)
        for _ in range(6):
            images, labels = next(batches)
            total += F.cross_entropy(model(images), labels)
        curve.append(total.detach() / 6)
    print(len(curve))


def functions_that_keep(model: nn.Module, loader):
    later = []
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        later.append(lambda value=loss: value.item())  # want: GL102 error graph
    print(later[0]())


def collect(it, model, outputs):
    batch = next(it, None)
    if batch is None:
        return outputs
    outputs.append(model(batch[0]))  # want: GL102 error graph
    return collect(it, model, outputs)


def by_a_recursion(model: nn.Module, loader):
    print(len(collect(iter(loader), model, [])))


def batches_of(model, loader):
    for images, _ in loader:
        yield model(images)


def renamed(model, loader):
    yield from batches_of(model, loader)


def from_generators(model: nn.Module, loader):
    kept = []
    for logits in renamed(model, loader):
        kept.append(logits)  # want: GL102 error graph
    print(len(kept))


def in_a_finally_clause(model: nn.Module, loader):
    losses = []
    for images, labels in loader:
        loss = None
        try:
            loss = F.cross_entropy(model(images), labels)
        finally:
            losses.append(loss.detach())
    print(len(losses))


def new_union(model: nn.Module, loader):
    outputs = {}
    for i, (images, _) in enumerate(loader):
        outputs = outputs | {i: model(images)}  # want: GL102 error graph
    print(len(outputs))
