"""Meters that keep numbers, and loggers that keep nothing."""

import collections
import logging

import torch
import torch.nn.functional as F
from torch import nn

log = logging.getLogger(__name__)


class ItemMeter:
    def __init__(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        if isinstance(value, torch.Tensor):
            value = value.item()
        self.sum += value * n
        self.count += n


class DetachMeter:
    def __init__(self):
        self.values = []

    def update(self, value):
        value = value.detach().cpu()
        self.values.append(value)


class GuardedMeter:
    def __init__(self):
        self.total = 0.0

    @torch.no_grad()
    def update(self, value):
        self.total = self.total + value


class WindowMeter:
    def __init__(self, size=100):
        self.window = collections.deque(maxlen=20)
        self.total = 0.0

    def update(self, value):
        self.window.append(value)
        self.total += float(value)


class LastValue:
    def __init__(self):
        self.value = None

    def update(self, value):
        self.value = value


def reduce_value(value, world_size=1):
    """Hands its input back when there is one process."""
    if world_size < 2:
        return value
    value = value.clone()
    torch.distributed.all_reduce(value)
    return value / world_size


def train(model: nn.Module, loader, optimizer):
    by_item, by_detach, by_guard, window, last = ItemMeter(), DetachMeter(), GuardedMeter(), WindowMeter(), LastValue()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        by_item.update(reduce_value(loss), len(x))
        by_detach.update(loss)
        by_guard.update(loss)
        window.update(loss)
        last.update(loss)
    return by_item.sum / by_item.count


class LeakyMeter:
    """Would keep the graph, but every caller hands it numbers."""

    def __init__(self):
        self.total = 0.0
        self.seen = []

    def update(self, value):
        self.total += value
        self.seen.append(value)


def called_with_numbers(model: nn.Module, loader, optimizer):
    losses, hits = LeakyMeter(), LeakyMeter()
    for x, y in loader:
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item())
        hits.update((logits.argmax(dim=1) == y).sum())
    return losses.total, hits.total


def called_under_the_guard(model: nn.Module, loader):
    meter = LeakyMeter()
    with torch.no_grad():
        for x, y in loader:
            meter.update(F.cross_entropy(model(x), y))
    return meter.total


def made_for_each_batch(model: nn.Module, loader):
    """The meter lives for one iteration."""
    for batch in loader:
        meter = LeakyMeter()
        meter.update(model(batch).mean())
        print(float(meter.total))


def only_printed(model: nn.Module, loader, optimizer, writer, progress):
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.info("step %d loss %.4f", step, loss)
        writer.add_scalar("loss", loss, step)
        progress.set_postfix(loss=f"{loss:.4f}")
        print("loss:", loss)


class Accumulator:
    """Sums losses for one backward."""

    def __init__(self):
        self.loss = 0.0

    def add(self, loss, weight=1.0):
        self.loss = self.loss + weight * loss

    def backward(self):
        self.loss.backward()
        self.loss = 0.0


def train_with_accumulator(model: nn.Module, loader, optimizer):
    accumulator = Accumulator()
    for inputs, targets in loader:
        outputs = model(inputs)
        for output, target in zip(outputs, targets):
            accumulator.add(F.mse_loss(output, target))
        optimizer.zero_grad()
        accumulator.backward()
        optimizer.step()


class EpisodeBuffer:
    def __init__(self):
        self.log_probs = []

    def store(self, log_prob):
        self.log_probs.append(log_prob)

    def clear(self):
        self.log_probs.clear()


def actor(policy: nn.Module, env, optimizer, episodes):
    buffer = EpisodeBuffer()
    for _ in range(episodes):
        state = env.reset()
        for _ in range(200):
            distribution = torch.distributions.Categorical(logits=policy(state))
            action = distribution.sample()
            buffer.store(distribution.log_prob(action))
            state = env.step(action)
        loss = -torch.stack(buffer.log_probs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        buffer.clear()


def to_unknown_code(model: nn.Module, loader, tracker, queue):
    """What foreign code does with a value is not known."""
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        tracker.update(loss)
        tracker.log_metrics({"loss": loss})
        queue.submit(loss)
