"""One part of a value carries a graph, the others do not."""

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
    shown = kept = hits = 0
    for batch in loader:
        result = train_step(model, batch, optimizer)
        shown += result[0]
        kept += result[1].detach()
        hits += result[-1]
    return shown, float(kept), hits


def by_name(model: nn.Module, loader, optimizer):
    shown = kept = hits = 0
    for batch in loader:
        value, attached, correct = train_step(model, batch, optimizer)
        shown, kept, hits = shown + value, kept + attached.detach(), hits + correct
    return shown, float(kept), hits


def all_but_the_last(model: nn.Module, loader, optimizer):
    total = 0.0
    for batch in loader:
        *losses, _ = train_step(model, batch, optimizer)
        for loss in losses:
            total += loss  # want: GL101 warning nodes
    print(total)


def measure(model, images, labels):
    loss = F.cross_entropy(model(images), labels)
    return (len(images), (loss.item(), loss)), labels


def nested(model: nn.Module, loader):
    shown = kept = 0.0
    for images, labels in loader:
        (n, (value, attached)), _ = measure(model, images, labels)
        shown += n * value
        kept += n * attached.detach()
    print(shown, kept)


def two_slots(model: nn.Module, loader):
    sums = [0.0, 0.0]
    for images, labels in loader:
        logits = model(images)
        sums[0] += F.cross_entropy(logits, labels).detach()
        sums[1] += (logits.argmax(1) == labels).float().mean()
    print(sums)


def one_entry_of_each(model: nn.Module, loader, optimizer):
    sums = dict.fromkeys(("ce", "l2"), 0.0)
    for images, labels in loader:
        logits = model(images)
        losses = {"ce": F.cross_entropy(logits, labels), "l2": 1e-4 * logits.pow(2).mean()}
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name, value in losses.items():
            sums[name] += value.detach()
    print(sums)


@dataclass
class Evaluation:
    loss: torch.Tensor
    hits: torch.Tensor
    size: int = 0


def evaluate_batch(model, images, labels):
    logits = model(images)  # want: GL301 hint graph
    return Evaluation(loss=F.cross_entropy(logits, labels), hits=(logits.argmax(1) == labels).sum(), size=len(labels))


def field_of_a_dataclass(model: nn.Module, loader):
    model.eval()
    loss, hits, seen = 0.0, 0, 0
    for images, labels in loader:
        result = evaluate_batch(model, images, labels)
        loss += result.loss.detach()
        hits += result.hits
        seen += result.size
    print(loss / seen, hits / seen)


Scored = namedtuple("Scored", ["index", "score"])


def field_of_a_named_tuple(model: nn.Module, loader):
    total, last = 0.0, 0
    for i, (images, _) in enumerate(loader):
        scored = Scored(i, model(images).max())
        total += scored.score.detach()
        last += scored.index
    print(total, last)


def pair_of_sums(model: nn.Module, loader):
    sums = (0.0, 0)
    for images, labels in loader:
        sums = (sums[0] + F.cross_entropy(model(images), labels).detach(), sums[1] + len(labels))
    print(sums[0] / sums[1])


def list_made_anew(model: nn.Module, loader, optimizer):
    totals = [0.0, 0.0]
    for images, labels in loader:
        logits = model(images)
        losses = [F.cross_entropy(logits, labels), logits.pow(2).mean()]
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
        totals = [t + l.detach() for t, l in zip(totals, losses)]
    print(totals)


def dict_made_anew(model: nn.Module, loader, optimizer):
    totals = {"ce": 0.0, "l2": 0.0}
    for images, labels in loader:
        logits = model(images)
        losses = {"ce": F.cross_entropy(logits, labels), "l2": logits.pow(2).mean()}
        optimizer.zero_grad()
        (losses["ce"] + losses["l2"]).backward()
        optimizer.step()
        totals = {name: totals[name] + loss.detach() for name, loss in losses.items()}
    print(totals)


def by_enumerated_slot(model: nn.Module, loader):
    totals = [torch.zeros(()), torch.zeros(())]
    for images, labels in loader:
        logits = model(images)
        for i, (t, l) in enumerate(zip(totals, [F.cross_entropy(logits, labels), logits.pow(2).mean()])):
            totals[i] = t + l.detach()
    print(totals)


@dataclass(frozen=True)
class Progress:
    total: torch.Tensor
    steps: int = 0


class Tally(NamedTuple):
    total: torch.Tensor
    steps: int = 0


def replaced_dataclass(model: nn.Module, loader):
    progress = Progress(torch.zeros(()))
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        progress = dataclasses.replace(progress, total=progress.total + loss, steps=progress.steps + 1)  # want: GL101 error graph
    print(progress.total / progress.steps)


def replaced_named_tuple(model: nn.Module, loader):
    tally = Tally(torch.zeros(()))
    for images, labels in loader:
        tally = tally._replace(total=tally.total + F.cross_entropy(model(images), labels), steps=tally.steps + 1)  # want: GL101 error graph
    print(tally.total / tally.steps)


def made_anew(model: nn.Module, loader):
    tally = Tally(torch.zeros(()))
    for images, labels in loader:
        tally = Tally(tally.total + F.cross_entropy(model(images), labels), tally.steps + 1)  # want: GL101 error graph
    print(tally.total / tally.steps)


class Statistics:
    loss = 0.0
    steps = 0


class Run:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.statistics = model, optimizer, Statistics()

    def step(self, images, labels):
        loss = F.cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.statistics.loss += loss.detach()
        self.statistics.steps += 1


def attribute_of_an_attribute(model: nn.Module, loader, optimizer):
    run = Run(model, optimizer)
    for images, labels in loader:
        run.step(images, labels)
    print(run.statistics.loss / run.statistics.steps)


def two_names_of_one_tensor(model: nn.Module, loader):
    total = torch.zeros(())
    running = total
    for images, labels in loader:
        running += F.cross_entropy(model(images), labels).detach()
    print(total.item())


def the_first_loss_is_the_sum(model: nn.Module, loader, optimizer):
    for i, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i == 0:
            total = loss.detach()
        else:
            total += loss.detach()
    print(total)


def first_or_more(model: nn.Module, loader, optimizer):
    total = None
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.detach() if total is None else total + loss.detach()
    print(total)


def in_place_chain(model: nn.Module, loader):
    smoothed = torch.zeros(())
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        smoothed.mul_(0.9).add_(loss.detach(), alpha=0.1)
    print(smoothed)


def by_label(model: nn.Module, loader):
    sums = torch.zeros(10)
    for images, labels in loader:
        losses = F.cross_entropy(model(images), labels, reduction="none")
        sums.index_add_(0, labels, losses.detach())
    print(sums)


def batches_from_a_walrus(model: nn.Module, loader):
    it, total = iter(loader), 0.0
    while (batch := next(it, None)) is not None:
        images, labels = batch
        total += F.cross_entropy(model(images), labels).detach()
    print(total)


def difference_from_the_mean(model: nn.Module, loader):
    count, mean = 0, 0.0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        count += 1
        delta = loss - mean
        mean = mean + delta.detach() / count
    print(mean)


def running_mean(model: nn.Module, loader, optimizer):
    mean, n = 0.0, 0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        n += 1
        mean += (loss.detach() - mean) / n
    print(mean)
