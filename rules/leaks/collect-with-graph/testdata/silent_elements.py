"""Records and collections whose parts carry no graph, or hold one at a time."""

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
        found.append(Prediction(i, logits.softmax(1).detach().cpu()))
        scores.append(Scored(i, logits).index)
    print(found[-1].scores.shape, len(scores))


@dataclass
class Epoch:
    number: int = 0
    outputs: list = field(default_factory=list)


def list_of_a_dataclass_made_anew(model: nn.Module, loader):
    for images, _ in loader:
        epoch = Epoch()
        for part in images.chunk(4):
            epoch.outputs.append(model(part))
        print(torch.cat(epoch.outputs).mean().item())


def cleared_by_its_other_name(model: nn.Module, loader):
    state = {"outputs": []}
    sink = state["outputs"]
    for images, _ in loader:
        sink.append(model(images))
        if len(sink) == 4:
            state["outputs"].clear()
    print(len(state["outputs"]))


def cleared_whatever_happens(model: nn.Module, loader):
    outputs = []
    for images, _ in loader:
        try:
            outputs.append(model(images))
            print(outputs[-1].mean().item())
        finally:
            outputs.clear()


class Buffer:
    """A with statement leaves it empty."""

    def __init__(self):
        self.outputs = []

    def __enter__(self):
        self.outputs.append(0.0)
        return self

    def __exit__(self, *exc):
        self.outputs.clear()


def left_in_each_iteration(model: nn.Module, loader):
    buffer = Buffer()
    for images, _ in loader:
        with buffer as kept:
            kept.outputs.append(model(images))


def the_same_entry(model: nn.Module, loader):
    state = {}
    for images, _ in loader:
        state = {**state, "last": model(images)}
    print(state["last"].mean())


def the_same_entries_from_an_update(model: nn.Module, loader):
    state = {}
    for images, labels in loader:
        logits = model(images)
        state.update({"logits": logits, "loss": F.cross_entropy(logits, labels)})
    print(state["loss"])


def numbers_under_new_keys(model: nn.Module, loader):
    losses = {}
    for i, (images, labels) in enumerate(loader):
        losses.update({i: F.cross_entropy(model(images), labels).item()})
        losses = {**losses, -i: 0.0}
    print(len(losses))


def growing_tuple_of_numbers(model: nn.Module, loader):
    losses = ()
    for images, labels in loader:
        losses += (F.cross_entropy(model(images), labels).item(),)
    print(len(losses))


def tables_of_numbers(model: nn.Module, loader):
    table = [[F.cross_entropy(model(part), chosen).item() for part, chosen in zip(images.chunk(2), labels.chunk(2))] for images, labels in loader]
    print(len(table))


def running_sums_of_numbers(model: nn.Module, loader):
    curve = list(itertools.accumulate(F.cross_entropy(model(images), labels).item() for images, labels in loader))
    print(len(curve))


def one_number_for_each_round(model: nn.Module, loader):
    sums, total, k = [], 0.0, 0
    for images, labels in loader:
        total = total + F.cross_entropy(model(images), labels)
        k += 1
        if k == 6:
            sums.append(float(total) / k)
            total, k = 0.0, 0
    print(len(sums))


def few_rounds(model: nn.Module, loader):
    """Six graphs are no leak."""
    curve = []
    batches = iter(loader)
    for _ in range(2):
        for _ in range(3):
            images, labels = next(batches)
            curve.append(F.cross_entropy(model(images), labels))
    print(len(curve))


def predictions_of(model, loader):
    for images, _ in loader:
        yield model(images).argmax(1)


def from_generators(model: nn.Module, loader):
    kept = []
    for predicted in predictions_of(model, loader):
        kept.append(predicted)
    print(len(kept))


def flattened(value, out):
    """A walk over a structure is as long as the structure."""
    for part in value:
        if isinstance(part, (list, tuple)):
            flattened(part, out)
        else:
            out.append(part)
    return out


def flat_outputs(model: nn.Module, loader, optimizer):
    for images, labels in loader:
        parts = flattened([model(images), [model(images)]], [])
        loss = sum(F.cross_entropy(part, labels) for part in parts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def union_of_the_same_entries(model: nn.Module, loader):
    state = {}
    for images, _ in loader:
        state = state | {"last": model(images)}
    print(state["last"].mean())
