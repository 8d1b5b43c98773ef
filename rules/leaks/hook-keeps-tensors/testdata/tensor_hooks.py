"""Hooks on tensors that refer to the tensors."""

import functools

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


def step(encoder: Encoder, head, x, y):
    hidden = encoder(x)
    hidden.register_hook(lambda grad: grad / hidden.detach().norm())  # want: GL404 error graph
    loss = F.cross_entropy(head(hidden), y)
    loss.backward()
    return loss.item()


def train(loader):
    encoder, head = Encoder(), nn.Linear(64, 4)
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        print(step(encoder, head, x, y))
        optimizer.step()


def masked(encoder, x):
    hidden = encoder(x)

    def mask(grad):
        return grad * (hidden > 0)

    hidden.register_hook(mask)  # want: GL404 error graph
    return hidden.sum()


def evaluate(loader):
    encoder = Encoder()
    for x in loader:
        print(masked(encoder, x).item())


def by_default(loader):
    encoder = Encoder()
    for x in loader:
        hidden = encoder(x)
        hidden.register_hook(lambda grad, hidden=hidden: grad * hidden.sign())  # want: GL404 error graph
        hidden.sum().backward()


def weigh(activation, grad):
    return grad * activation.abs()


def by_partial(loader):
    encoder = Encoder()
    for x in loader:
        hidden = encoder(x)
        hidden.register_hook(functools.partial(weigh, hidden))  # want: GL404 error graph
        hidden.sum().backward()


def scaled(encoder, head, x, y):
    hidden = encoder(x)
    scores = head(hidden)
    hidden.register_hook(lambda grad: grad * scores.detach().std())  # want: GL404 error graph
    F.cross_entropy(scores, y).backward()


def train_scaled(loader):
    encoder, head = Encoder(), nn.Linear(64, 4)
    for x, y in loader:
        scaled(encoder, head, x, y)


class Probe:
    def __init__(self, encoder):
        self.encoder = encoder
        self.hidden = None

    def rescale(self, grad):
        return grad / self.hidden.detach().norm()

    def run(self, x):
        self.hidden = self.encoder(x)
        self.hidden.register_hook(self.rescale)  # want: GL404 error graph
        self.hidden.sum().backward()


def probe_each(loader):
    encoder = Encoder()
    for x in loader:
        Probe(encoder).run(x)


# may grow: with each call, but nothing here calls it more than once
def saliency(network: nn.Module, x):
    features = network(x)
    features.register_hook(lambda grad: grad.clamp(min=0) * features.detach())  # want: GL404 hint graph
    features.sum().backward()
