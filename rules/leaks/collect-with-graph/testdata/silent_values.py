"""Collected values that carry no graph."""

import torch
import torch.nn.functional as F
from torch import nn


def histories_of_numbers(model: nn.Module, loader, optimizer):
    losses, rates, lines = [], [], []
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        rates.append(optimizer.param_groups[0]["lr"])
        lines.append(f"{step}\t{loss:.4f}")
    return losses, rates, lines


def detached_to_the_host(model: nn.Module, loader):
    predictions = []
    for x, _ in loader:
        predictions.append(model(x).detach().cpu())
    return torch.cat(predictions)


def labels_and_hits(model: nn.Module, loader):
    predicted, hits = [], []
    for x, y in loader:
        logits = model(x)
        predicted.extend(logits.argmax(dim=1).tolist())
        hits.append((logits.max(1)[1] == y).sum())
    return predicted, torch.stack(hits).sum()


def training_step(model, batch):
    x, y = batch
    logits = model(x)
    return {"loss": F.cross_entropy(logits, y), "correct": (logits.argmax(1) == y).sum()}


def detached_before_it_is_stored(model: nn.Module, loader, optimizer):
    outputs = []
    for batch in loader:
        output = training_step(model, batch)
        optimizer.zero_grad()
        output["loss"].backward()
        optimizer.step()
        output["loss"] = output["loss"].detach()
        outputs.append(output)
    return torch.stack([output["loss"] for output in outputs]).mean()


def numpy_scores(model: nn.Module, loader):
    scores = []
    for x, _ in loader:
        output = torch.sigmoid(model(x))
        output = output.detach().cpu().numpy()
        scores.append(output)
    return scores


class Replay:
    """What goes in is detached at the door."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.storage = []

    def push(self, *transition):
        if len(self.storage) < self.capacity:
            self.storage.append(tuple(part.detach() if torch.is_tensor(part) else part for part in transition))


def play(env, policy: nn.Module, replay: Replay, steps):
    state = env.reset()
    for _ in range(steps):
        logits = policy(state)
        next_state, reward = env.step(logits.argmax().item())
        replay.push(state, logits, reward, next_state)
        state = next_state


@torch.no_grad()
def predict_losses(model: nn.Module, loader):
    return [F.cross_entropy(model(x), y) for x, y in loader]


def sampled_actions(policy: nn.Module, states):
    actions = []
    for state in states:
        distribution = torch.distributions.Normal(policy(state), 1.0)
        actions.append(distribution.sample())
    return torch.stack(actions)


def files(paths):
    """A list called losses that has nothing to do with tensors."""
    losses = []
    for path in paths:
        with open(path) as lines:
            loss = sum(float(line) for line in lines)
        losses.append(loss)
    return losses
