"""Sums that are made while nothing records a graph."""

import contextlib
import functools

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)

    def forward(self, x):
        return self.layer(x)


def train_and_validate(train_loader, val_loader, epochs):
    """The same sum leaks without the guard; here both halves are right."""
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        model.train()
        train_loss = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
        model.eval()
        val_loss = 0.0
        with torch.no_grad():
            for x, y in val_loader:
                loss = F.cross_entropy(model(x), y)
                val_loss += loss
        print(train_loss / len(train_loader), val_loss / len(val_loader))


@torch.no_grad()
def decorated(model: Net, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y)
    return total / len(loader)


@torch.inference_mode()
def in_inference_mode(model: Net, loader):
    total = torch.zeros(())
    for x, y in loader:
        total = total + F.cross_entropy(model(x), y)
    return total.item() / len(loader)


def with_an_exit_stack(model: Net, loader, profile=False):
    total = 0.0
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        if profile:
            stack.enter_context(torch.autograd.profiler.profile())
        for x, y in loader:
            total += F.cross_entropy(model(x), y)
    print(float(total))


def with_the_switch(model: Net, loader):
    """As a statement set_grad_enabled works, unlike no_grad."""
    torch.set_grad_enabled(False)
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y)
    torch.set_grad_enabled(True)
    print(float(total))


def evaluation(function):
    """A decorator of the project's own."""

    @functools.wraps(function)
    def wrapper(model, *args, **kwargs):
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return function(model, *args, **kwargs)
        finally:
            model.train(was_training)

    return wrapper


@evaluation
def decorated_by_own_helper(model, loader):
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y)
    return total / len(loader)


def batch_loss(model, x, y):
    return F.cross_entropy(model(x), y)


def guarded_by_the_caller(model: Net, loader):
    total = 0.0
    for x, y in loader:
        total += batch_loss(model, x, y)
    return total


def report(loader):
    model = Net().eval()
    with torch.no_grad():
        print("validation", guarded_by_the_caller(model, loader).item())
        print("validation", decorated_by_own_helper(model, loader).item())


def guarded_sum(model: Net, loader):
    """The operation that would chain the graphs is not recorded."""
    total = torch.zeros(())
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        with torch.no_grad():
            total += loss
    print(total)


class Evaluator:
    def __init__(self, model):
        self.model = model
        self.total = 0.0

    @torch.no_grad()
    def step(self, x, y):
        self.total += F.cross_entropy(self.model(x), y)

    def run(self, loader):
        for x, y in loader:
            self.step(x, y)
        return self.total / len(loader)


def frozen_model(loader):
    """Neither the parameters nor the input ask for a gradient."""
    model = Net()
    for p in model.parameters():
        p.requires_grad = False
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y)
    print(float(total))


def frozen_in_one_call(loader):
    model = Net().requires_grad_(False)
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y)
    print(float(total))
