"""Comments that are needed, and comments of other tools."""

import os  # noqa: F401

import torch
from torch import nn


def one_line(model: nn.Module, loader, optimizer):
    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss  # graphleak: ignore[GL101]
    print(total)


def all_rules(model: nn.Module, loader, optimizer):
    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss  # graphleak: ignore
    print(total)


def several_codes(model: nn.Module, loader, optimizer):
    losses = []
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)  # noqa: E501, GL102, W291
    print(losses)


def several_lines(model: nn.Module, loader):
    model.eval()
    total = 0.0
    for x in loader:
        total += model(
            x,
        ).mean()  # graphleak: ignore[GL101, GL301]
    print(total)


def in_the_middle(model: nn.Module, loader):
    model.eval()
    total = 0.0
    for x in loader:
        total += model(
            x,  # graphleak: ignore[GL101, GL301]
        ).mean()
    print(total)


def in_a_head(model: nn.Module, loader):
    model.eval()
    for x in loader:
        if (
            model(x).mean()
            > 0.5
        ):  # graphleak: ignore[GL301]
            print("high")


def of_other_tools(values):
    total = sum(values)  # noqa: E501
    ratio = total / len(values)  # type: ignore[operator]
    print(ratio)  # noqa


def in_strings():
    print("# graphleak: ignore[GL101]")
    return """
    x  # noqa: GL101
    """


class Documented:
    """Write `# graphleak: ignore[GL101]` at the end of the line."""

    text = "# graphleak: ignore"
