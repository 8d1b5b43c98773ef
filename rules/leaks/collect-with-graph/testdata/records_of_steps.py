"""Records of a step that a buffer holds until the backward pass of the episode."""

from collections import namedtuple

import torch
from torch import nn

Saved = namedtuple("Saved", ["log_prob", "value"])


class Step:
    def __init__(self, log_prob, value):
        self.log_prob = log_prob
        self.value = value

    def loss(self):
        return -self.log_prob * self.value


def mappings(env, model: nn.Module, optimizer):
    saved = []
    for _ in range(100_000):
        for _ in range(10_000):
            out = model(env.step())
            saved.append({"log_prob": out.sum(), "value": out.mean()})
        losses = [-step["log_prob"] * step["value"] for step in saved]
        optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        optimizer.step()
        saved.clear()


def instances(env, model: nn.Module, optimizer):
    saved = []
    for _ in range(100_000):
        for _ in range(10_000):
            out = model(env.step())
            saved.append(Step(out.sum(), out.mean()))
        losses = [step.loss() for step in saved]
        optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        optimizer.step()
        saved.clear()


def named_tuples(env, model: nn.Module, optimizer):
    saved = []
    for _ in range(100_000):
        for _ in range(10_000):
            out = model(env.step())
            saved.append(Saved(out.sum(), out.mean()))
        losses = []
        for (log_prob, value), weight in zip(saved, env.weights()):
            losses.append(-log_prob * value * weight)
        optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        optimizer.step()
        del saved[:]


def by_index(env, model: nn.Module, optimizer):
    saved = []
    for _ in range(100_000):
        for _ in range(10_000):
            out = model(env.step())
            saved.append([out.sum(), out.mean()])
        loss = 0
        for k in range(len(saved)):
            loss = loss + saved[k][0] * saved[k][1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        saved.clear()


# once: env = given(step=lambda: randn(4, 16))
# run: only_numbers_are_used(env, model, optimizer)
def only_numbers_are_used(env, model: nn.Module, optimizer):
    saved = []
    for _ in range(100_000):
        out = model(env.step())
        saved.append(Step(out.sum(), out.mean()))  # want: GL102 error graph
    print(sum(step.value.item() for step in saved))
