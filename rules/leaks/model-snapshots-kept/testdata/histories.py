"""Copies of all parameters, one for each epoch, in a collection that lives as
long as the training."""

import copy
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import nn


def run_epoch(model, loader, optimizer, device):
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def fit(model: nn.Module, loader, optimizer, device, epochs):
    model = model.to(device)
    history = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer, device)
        history.append(copy.deepcopy(model.state_dict()))  # want: GL205 warning values
    return history


class Experiment:
    def __init__(self, net, loader, optimizer):
        self.net, self.loader, self.optimizer = net, loader, optimizer
        self.states = {}

    def train(self, epochs):
        for epoch in range(int(epochs)):
            run_epoch(self.net, self.loader, self.optimizer, "cpu")
            self.net.eval()
            self.states[epoch] = copy.deepcopy(self.net.state_dict())  # want: GL205 hint values


def fit_models(loader, epochs):
    """The whole model, not only its state."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    models = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer, "cuda")
        models.append(deepcopy(model))  # want: GL205 warning values
    return models


def trajectory(model: nn.Module, loader, optimizer, device):
    """Of every step."""
    weights = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        weights.append({name: value.clone() for name, value in model.state_dict().items()})  # want: GL205 hint values
    return weights


# once: scores = iter(range(1000))
# run: with_scores(model, loader, optimizer, 16, lambda model: next(scores))
def with_scores(model: nn.Module, loader, optimizer, epochs, score):
    rows = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer, "cpu")
        rows.append((score(model), copy.deepcopy(model)))  # want: GL205 hint values
    return max(rows)[1]


class Averager:
    def __init__(self, model: nn.Module):
        self.model = model.cuda()
        self.kept = []

    def remember(self):
        self.kept.append(copy.deepcopy(self.model.state_dict()))  # want: GL205 warning values

    def run(self, loader, optimizer, epochs):
        for epoch in range(epochs):
            run_epoch(self.model, loader, optimizer, "cuda")
            self.remember()


def by_name(models, loader, epochs, device):
    best = {}
    net = nn.Linear(64, 64).to(device)
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(epochs):
        run_epoch(net, loader, optimizer, device)
        best[f"epoch-{epoch}"] = 0
        best[epoch] = copy.deepcopy(net)  # want: GL205 warning values
    return best


# run: until_converged(nn.Linear(16, 10), loader, optimizer, -1.0)
def until_converged(model: nn.Module, loader, optimizer, tolerance):
    past, change = [], 1.0
    while change > tolerance:
        run_epoch(model, loader, optimizer, "cpu")
        past += [copy.deepcopy(model.state_dict())]  # want: GL205 hint values
        change = abs(past[-1]["bias"] - past[0]["bias"]).max().item()
    return past
