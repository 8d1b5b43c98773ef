"""Classes that sum: operators, properties, class attributes, mixins, callbacks."""

import collections
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


class Callback:
    def on_batch_end(self, batch, logs):
        pass

    def on_epoch_end(self, epoch, logs):
        pass


class History(Callback):
    def __init__(self):
        self.losses = []

    def on_batch_end(self, batch, logs):
        self.losses.append(logs["loss"])


class Numbers(Callback):
    def __init__(self):
        self.losses = []

    def on_batch_end(self, batch, logs):
        self.losses.append(logs["loss"].item())


class CallbackList:
    def __init__(self, callbacks):
        self.callbacks = list(callbacks)

    def call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(*args)


class Trainer:
    def __init__(self, model, callbacks=()):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.callbacks = CallbackList(callbacks)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for i, (x, y) in enumerate(loader):
                loss = F.mse_loss(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.callbacks.call("on_batch_end", i, {"loss": loss})  # want: GL103 warning nodes


def keras_style(loader):
    Trainer(Net(), [History(), Numbers()]).fit(loader, 3)


class Counter:
    total = 0.0
    seen = []

    @classmethod
    def add(cls, value):
        cls.total += value

    @staticmethod
    def keep(value):
        Counter.seen.append(value)


def class_state(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        Counter.add(loss)  # want: GL103 warning nodes
        Counter.keep(loss)  # want: GL103 warning nodes


class Running:
    def __init__(self):
        self._value = 0.0

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, v):
        self._value = v

    def __iadd__(self, other):
        self._value = self._value + other
        return self

    def __call__(self, v):
        self._value += v


def operators(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    a = Running()
    b = Running()
    c = Running()
    d = Running()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        a += loss  # want: GL101 warning nodes
        b.value = b.value + loss  # want: GL101 warning nodes
        c(loss)  # want: GL103 warning nodes
        d += loss.item()
    print(a.value, b.value, c.value, d.value)


class Base(ABC):
    def __init__(self):
        self.sum = 0.0

    def update(self, value):
        self.sum += self.transform(value)

    @abstractmethod
    def transform(self, value):
        ...


class Attached(Base):
    def transform(self, value):
        return value * 2


class Detached(Base):
    def transform(self, value):
        return value.detach()


class Logging:
    def update(self, value):
        print("updated")
        super().update(value)


class Mixed(Logging, Attached):
    pass


class MixedDetached(Logging, Detached):
    pass


def templates(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    a, b, c, d = Attached(), Detached(), Mixed(), MixedDetached()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        a.update(loss)  # want: GL103 warning nodes
        b.update(loss)
        c.update(loss)  # want: GL103 warning nodes
        d.update(loss)


@dataclass
class State:
    step: int = 0
    loss: torch.Tensor = None
    history: list = field(default_factory=list)
    sums: dict = field(default_factory=lambda: collections.defaultdict(float))


def dataclasses_(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    state = State()
    for x, y in loader:
        state.loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        state.loss.backward()
        opt.step()
        state.step += 1
        state.history.append(state.loss)  # want: GL102 warning nodes
        state.sums["loss"] += state.loss  # want: GL101 warning nodes
        state.sums["n"] += x.size(0)


class Timer:
    def __init__(self):
        self.items = []

    @contextmanager
    def measure(self, value):
        yield
        self.items.append(value)


def ctx(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    t = Timer()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        with t.measure(loss):  # want: GL103 warning nodes
            loss.backward()
        opt.step()
