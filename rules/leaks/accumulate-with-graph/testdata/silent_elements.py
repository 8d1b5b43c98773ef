"""The same values as in elements.py, of which only the parts without a graph are
summed."""

import dataclasses
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


def train_step(model: nn.Module, batch, optimizer):
    images, labels = batch
    logits = model(images)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach(), loss, (logits.argmax(1) == labels).sum()


def by_position(model: nn.Module, loader, optimizer):
    shown = hits = 0
    for batch in loader:
        result = train_step(model, batch, optimizer)
        shown += result[0]
        hits += result[-1]
    return shown, hits


def by_name(model: nn.Module, loader, optimizer):
    shown = hits = 0
    last = None
    for batch in loader:
        value, last, correct = train_step(model, batch, optimizer)
        shown, hits = shown + value, hits + correct
    return shown, hits, last


def only_the_last(model: nn.Module, loader, optimizer):
    total = 0
    for batch in loader:
        *_, hits = train_step(model, batch, optimizer)
        total += hits
    print(total)


def measure(model, images, labels):
    loss = F.cross_entropy(model(images), labels)
    return (len(images), (loss.item(), loss)), labels


def nested(model: nn.Module, loader):
    shown = 0.0
    for images, labels in loader:
        (n, (value, _)), _ = measure(model, images, labels)
        shown += n * value
    print(shown)


def two_slots(model: nn.Module, loader):
    sums = [0.0, 0.0]
    for images, labels in loader:
        logits = model(images)
        sums[0] += F.cross_entropy(logits, labels).item()
        sums[1] += (logits.argmax(1) == labels).float().mean()
    print(sums)


def detached_entries(model: nn.Module, loader, optimizer):
    sums = dict.fromkeys(("ce", "l2"), 0.0)
    for images, labels in loader:
        logits = model(images)
        losses = {"ce": F.cross_entropy(logits, labels), "l2": 1e-4 * logits.pow(2).mean()}
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        losses = {name: value.detach() for name, value in losses.items()}
        for name, value in losses.items():
            sums[name] += value
    print(sums)


@dataclass
class Evaluation:
    loss: torch.Tensor
    hits: torch.Tensor
    size: int = 0


def evaluate_batch(model, images, labels):
    logits = model(images)
    return Evaluation(loss=F.cross_entropy(logits, labels), hits=(logits.argmax(1) == labels).sum(), size=len(labels))


def other_fields_of_a_dataclass(model: nn.Module, loader):
    hits, seen, last = 0, 0, None
    for images, labels in loader:
        last = evaluate_batch(model, images, labels)
        hits += last.hits
        seen += last.size
    print(hits / seen, last.loss)


Scored = namedtuple("Scored", "index score")


def fields_of_a_named_tuple(model: nn.Module, loader):
    total, last = 0.0, 0
    for i, (images, _) in enumerate(loader):
        scored = Scored(index=i, score=model(images).max().item())
        total += scored.score
        last += scored.index
    print(total, last)


def pair_of_sums(model: nn.Module, loader):
    sums, last = (0.0, 0), None
    for images, labels in loader:
        last = F.cross_entropy(model(images), labels)
        sums = (sums[0] + last.item(), sums[1] + len(labels))
    print(sums[0] / sums[1], last)


def list_made_anew(model: nn.Module, loader, optimizer):
    totals = [0.0, 0.0]
    for images, labels in loader:
        logits = model(images)
        losses = [F.cross_entropy(logits, labels), logits.pow(2).mean()]
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
        totals = [t + l.item() for t, l in zip(totals, losses)]
    print(totals)


def losses_made_anew(model: nn.Module, loader, optimizer):
    """The list is of this iteration alone."""
    for images, labels in loader:
        logits = model(images)
        losses = [F.cross_entropy(logits, labels), logits.pow(2).mean()]
        weighted = [w * l for w, l in zip((1.0, 1e-4), losses)]
        optimizer.zero_grad()
        sum(weighted).backward()
        optimizer.step()


class Tally(NamedTuple):
    total: torch.Tensor
    steps: int = 0


def replaced_named_tuple(model: nn.Module, loader):
    tally = Tally(torch.zeros(()))
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        tally = tally._replace(total=tally.total + loss.detach(), steps=tally.steps + 1)
    print(tally.total / tally.steps)


@dataclass(frozen=True)
class Best:
    loss: float = float("inf")
    output: torch.Tensor = None


def replaced_by_the_best(model: nn.Module, loader):
    """One output is kept, the best one."""
    best = Best()
    for images, labels in loader:
        logits = model(images)
        loss = F.cross_entropy(logits, labels)
        if loss.item() < best.loss:
            best = dataclasses.replace(best, loss=loss.item(), output=logits)
    print(best)


def the_last_two(model: nn.Module, loader):
    previous = current = None
    for images, labels in loader:
        previous, current = current, F.cross_entropy(model(images), labels)
        if previous is not None:
            print((current - previous).item())


def number_if_tensor(model: nn.Module, loader, optimizer):
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() if torch.is_tensor(loss) else loss
    print(total)


def number_from_a_walrus(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        total += (value := F.cross_entropy(model(images), labels).item())
        print(value)
    print(total)


def in_place_on_data(model: nn.Module, loader):
    smoothed = torch.zeros(())
    sums = torch.zeros(10)
    for images, labels in loader:
        losses = F.cross_entropy(model(images), labels, reduction="none")
        smoothed.data.add_(losses.mean().data)
        sums.index_add_(0, labels, losses.detach())
    print(smoothed, sums)


def running_mean(model: nn.Module, loader, optimizer):
    mean, n = 0.0, 0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        n += 1
        mean += (loss.item() - mean) / n
    print(mean)
