"""Histories of losses: after the backward of the step each entry keeps the
nodes of its graph."""

from collections import defaultdict, deque

import torch
import torch.nn.functional as F
from torch import nn


def train(model: nn.Module, loader, optimizer, epochs):
    losses = []
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss)  # want: GL102 warning nodes
        print(epoch, sum(losses[-len(loader) :]) / len(loader))
    return losses


def train_with_history(model: nn.Module, criterion, loader, optimizer):
    history = {"loss": [], "accuracy": [], "rate": []}
    for x, y in loader:
        logits = model(x)
        loss = criterion(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["loss"].append(loss)  # want: GL102 warning nodes
        history["accuracy"].append((logits.argmax(1) == y).float().mean())
        history["rate"].append(optimizer.param_groups[0]["lr"])
    return history


# once: layer = nn.Linear(16, 4)
# once: both = lambda x: {"depth": layer(x), "normals": layer(x)}
# once: scenes = feed(lambda: {"image": randn(4, 16), "depth": randn(4, 4), "normals": randn(4, 4)})
# run: train_multi_task(both, scenes, torch.optim.SGD(layer.parameters(), lr=0.1))
def train_multi_task(model: nn.Module, loader, optimizer):
    logs = defaultdict(list)
    for batch in loader:
        outputs = model(batch["image"])
        losses = {
            "depth": F.l1_loss(outputs["depth"], batch["depth"]),
            "normals": F.mse_loss(outputs["normals"], batch["normals"]),
        }
        total = losses["depth"] + 0.1 * losses["normals"]
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        for name, value in losses.items():
            logs[name].append(value)  # want: GL102 warning nodes
    return {name: torch.stack(values).mean().item() for name, values in logs.items()}


def train_with_records(model: nn.Module, loader, optimizer):
    records = []
    window = deque(maxlen=100_000)
    by_step = {}
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        records.append((step, loss))  # want: GL102 warning nodes
        window.append(loss)  # want: GL102 warning nodes
        by_step[step] = loss  # want: GL102 warning nodes
    return records, window, by_step


def train_discriminator(generator, discriminator: nn.Module, loader, optimizer):
    d_losses = []
    for real in loader:
        with torch.no_grad():
            fake = generator(torch.randn(len(real), 64))
        loss = F.softplus(-discriminator(real)).mean() + F.softplus(discriminator(fake)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        d_losses += [loss]  # want: GL102 warning nodes
    return torch.stack(d_losses).mean().item()


# run: summed_before_the_reset(model, loader, optimizer, 2)
def summed_before_the_reset(model: nn.Module, loader, optimizer, interval=100):
    """The sum starts anew, but what left it before keeps every graph."""
    curve, running = [], 0.0
    for i, (x, y) in enumerate(loader, start=1):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss
        if i % interval == 0:
            curve.append(running / interval)  # want: GL102 warning nodes
            running = 0.0
    return curve
