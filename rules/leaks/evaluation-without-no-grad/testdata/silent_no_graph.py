"""Evaluation that is none, or records nothing by itself."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(32, 4)

    def forward(self, x):
        return self.body(x)


def frozen(loader):
    model = Net().eval()
    model.requires_grad_(False)
    for x, _ in loader:
        print(model(x).argmax(1).tolist())


def frozen_by_hand(loader):
    model = Net()
    model.eval()
    for p in model.parameters():
        p.requires_grad = False
    for x, _ in loader:
        print(model(x).argmax(1).tolist())


def once(model: Net, x):
    """One forward pass, and the function is over."""
    model.eval()
    return model(x).argmax(1).tolist()


def a_few_rounds(model: Net, x):
    model.eval()
    for _ in range(3):
        print(model(x).sum().item())


def in_training_mode(model: Net, loader):
    """Nothing says that this evaluates."""
    for x, y in loader:
        print(F.cross_entropy(model(x), y).item())


def back_in_training_mode(model: Net, loader, engine):
    model.eval()
    print(model)
    model.train()
    for x, y in loader:
        print(engine.step(F.cross_entropy(model(x), y)))


def another_model(teacher: Net, student: Net, loader):
    teacher.eval()
    for x, y in loader:
        print(F.cross_entropy(student(x), y).item())


def without_parameters(loader):
    loss = nn.CrossEntropyLoss().eval()
    for logits, y in loader:
        print(loss(logits, y).item())


def expression(text):
    """An eval of another kind."""
    results = []
    for line in text:
        results.append(eval(line))
    return results


class Session:
    """Not a module: eval() runs a query."""

    def __init__(self, graph):
        self.graph = graph

    def eval(self, feed=None):
        return self.graph(feed)

    def __call__(self, feed):
        return self.graph(feed)


def sessions(graph, feeds):
    session = Session(graph)
    session.eval()
    for feed in feeds:
        print(session(feed))


def maybe(model: Net, loader, training):
    if training:
        model.train()
    else:
        model.eval()
    for x, _ in loader:
        print(model(x).mean().item())


def wrapped_models(loader, hub):
    """The methods of models of which nothing is known may guard themselves."""
    model = hub.load("encoder")
    model.eval()
    for x in loader:
        print(model.generate(x))
