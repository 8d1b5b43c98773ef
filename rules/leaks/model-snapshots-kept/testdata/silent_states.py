"""One copy, copies that are written away or dropped, and no copies at all."""

import copy
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


def run_epoch(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def keep_the_best(model: nn.Module, loader, optimizer, epochs):
    best, state = float("inf"), None
    for epoch in range(epochs):
        total = run_epoch(model, loader, optimizer)
        if total < best:
            best, state = total, copy.deepcopy(model.state_dict())
    model.load_state_dict(state)


def keep_the_best_in_a_dict(model: nn.Module, loader, optimizer, epochs):
    best = {"loss": float("inf"), "state": None}
    for epoch in range(epochs):
        total = run_epoch(model, loader, optimizer)
        if total < best["loss"]:
            best["loss"] = total
            best["state"] = copy.deepcopy(model.state_dict())
    return best


def write_each(model: nn.Module, loader, optimizer, epochs, path):
    files = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer)
        torch.save(model.state_dict(), path / f"{epoch}.pt")
        files.append(path / f"{epoch}.pt")
    return files


def the_last_ones(model: nn.Module, loader, optimizer, epochs):
    recent = deque(maxlen=5)
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer)
        recent.append(copy.deepcopy(model.state_dict()))
    return recent


def the_live_weights(model: nn.Module, loader, optimizer, epochs):
    """No copy is made: all entries are the same tensors."""
    states = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer)
        states.append(model.state_dict())
    return states


def layers_of_a_network(layer: nn.Module):
    """As many as the network has, when it is built."""
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(6)])


def clones(layer: nn.Module, count: int):
    """However many: nothing trains in between, and all of them are a model."""
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(count)])


def federated(server: nn.Module, clients, rounds):
    """The states of one round are averaged, and gone in the next."""
    for _ in range(rounds):
        states = []
        for client in clients:
            local = copy.deepcopy(server)
            run_epoch(local, client, torch.optim.SGD(local.parameters(), lr=0.1))
            states.append(copy.deepcopy(local.state_dict()))
        server.load_state_dict({name: sum(s[name] for s in states) / len(states) for name in states[0]})


def pushed_out(model: nn.Module, loader, optimizer, epochs, keep=3):
    states = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer)
        states.append(copy.deepcopy(model.state_dict()))
        if len(states) > keep:
            states.pop(0)
    return states


def a_norm_of_each(model: nn.Module, loader, optimizer, epochs):
    norms = []
    for epoch in range(epochs):
        run_epoch(model, loader, optimizer)
        norms.append(sum(p.norm().item() for p in model.parameters()))
    return norms
