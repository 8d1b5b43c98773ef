"""Loggers and histories that keep what they are called with."""

from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn


class History:
    def __init__(self):
        self.values = defaultdict(list)

    def record(self, **values):
        for name, value in values.items():
            self.values[name].append(value)

    def mean(self, name):
        values = self.values[name]
        return sum(values) / len(values)


class MetricLogger:
    """One meter for each name."""

    class Meter:
        def __init__(self):
            self.total = 0.0
            self.count = 0

        def add(self, value):
            self.total = self.total + value
            self.count += 1

    def __init__(self, names):
        self.meters = {name: MetricLogger.Meter() for name in names}

    def log(self, name, value):
        self.meters[name].add(value)


class Callback:
    def on_batch_end(self, step, loss):
        pass


class LossCurve(Callback):
    def __init__(self):
        self.steps = []
        self.losses = []

    def on_batch_end(self, step, loss):
        self.steps.append(step)
        self.losses.append(loss)


def train(model: nn.Module, loader, optimizer):
    history = History()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.record(loss=loss, rate=optimizer.param_groups[0]["lr"])  # want: GL103 warning nodes
    print(f"{history.mean('loss'):.4f}")


def evaluate(model: nn.Module, loader):
    logger = MetricLogger(["nll", "count"])
    model.eval()
    for x, y in loader:
        logits = model(x)  # want: GL301 hint graph
        logger.log("nll", F.cross_entropy(logits, y))  # want: GL103 error graph
        logger.log("count", y.numel())
    return {name: float(meter.total) for name, meter in logger.meters.items()}


def fit(model: nn.Module, loader, optimizer):
    curve = LossCurve()
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.on_batch_end(step, loss)  # want: GL103 warning nodes
    return curve


def remember(store, key, value):
    """A function keeps as well as a method."""
    store.setdefault(key, []).append(value)


def train_with_store(model: nn.Module, loader, optimizer):
    store = {}
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        remember(store, "loss", loss)  # want: GL103 warning nodes
        remember(store, "rate", optimizer.param_groups[0]["lr"])
    return {key: sum(values) / len(values) for key, values in store.items()}


def add_to(totals, values):
    for name in values:
        totals[name] = totals.get(name, 0.0) + values[name]


def train_three_losses(model: nn.Module, loader, optimizer):
    totals = {}
    for x, y in loader:
        out = model(x)
        losses = {"l1": F.l1_loss(out, y), "l2": F.mse_loss(out, y)}
        optimizer.zero_grad()
        (losses["l1"] + losses["l2"]).backward()
        optimizer.step()
        add_to(totals, losses)  # want: GL103 warning nodes
    print({name: (total / len(loader)).item() for name, total in totals.items()})


class ReplayBuffer:
    def __init__(self):
        self.storage = []

    def push(self, state, value, reward):
        self.storage.append((state, value, reward))


# once: env = given(reset=lambda: randn(4, 16), step=lambda: (randn(4, 16), 1.0))
# run: gather(env, critic, 16)
def gather(env, critic: nn.Module, steps):
    buffer = ReplayBuffer()
    state = env.reset()
    for _ in range(steps):
        value = critic(state)
        next_state, reward = env.step()
        buffer.push(state, value, reward)  # want: GL103 error graph
        state = next_state
    print(len(buffer.storage), "transitions")
