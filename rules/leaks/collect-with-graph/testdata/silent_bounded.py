"""Containers that stay small: bounded, emptied, or made anew."""

from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


def smoothed_over_a_window(model: nn.Module, loader, optimizer):
    window = deque(maxlen=20)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window.append(loss)
        print(sum(window) / len(window))


def cleared_when_logged(model: nn.Module, loader, optimizer, every=50):
    recent = []
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss)
        if i % every == 0:
            print(torch.stack(recent).mean().item())
            recent.clear()


def made_anew_each_epoch(model: nn.Module, loader):
    """What the inner loop collects is a batch's worth of crops."""
    for images in loader:
        crops = []
        for k in range(5):
            crops.append(model(images[:, :, k:]))
        print(torch.stack(crops).mean(dim=0).argmax(dim=1))


def one_entry_per_name(model: nn.Module, loader, optimizer):
    """Entries are overwritten: one step stays."""
    last = {}
    for x, y in loader:
        output = model(x)
        last["output"] = output
        last["loss"] = F.mse_loss(output, y)
        optimizer.zero_grad()
        last["loss"].backward()
        optimizer.step()
    return last


class Memory:
    def __init__(self):
        self.log_probs = []

    def clear_memory(self):
        del self.log_probs[:]


def proximal_policy(policy: nn.Module, env, optimizer, steps, update_every=2000):
    memory = Memory()
    state = env.reset()
    for t in range(steps):
        logits = policy(state)
        memory.log_probs.append(F.log_softmax(logits, dim=-1))
        state = env.step(logits.argmax().item())
        if t % update_every == update_every - 1:
            loss = -torch.stack(memory.log_probs).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            memory.clear_memory()


def kept_to_a_size(model: nn.Module, loader, size=8):
    """The oldest entry leaves when a new one comes."""
    pool = []
    for x in loader:
        fake = model(x)
        if len(pool) >= size:
            pool.pop(0)
        pool.append(fake)
        print(torch.stack(pool).mean().item())


def build_layers(widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers.append(nn.Linear(inputs, outputs))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def parameter_groups(model: nn.Module, decay=0.01):
    """Parameters are leaves: they live as long as the model."""
    with_decay, without = [], []
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1 or name.endswith("bias"):
            without.append(parameter)
        else:
            with_decay.append(parameter)
    return [{"params": with_decay, "weight_decay": decay}, {"params": without, "weight_decay": 0.0}]
