"""What is moved, small, short, or emptied, and what is on no device."""

import queue
import threading
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@torch.no_grad()
def moved_at_once(model: nn.Module, loader, device):
    model.eval()
    predictions, truth = [], []
    for x, y in loader:
        predictions.append(model(x.to(device)).cpu())
        truth.append(y)
    return torch.cat(predictions), torch.cat(truth)


@torch.no_grad()
def as_numpy(model: nn.Module, loader, device):
    model.eval()
    rows = []
    for x, _ in loader:
        out = model(x.to(device))
        rows.extend(out.cpu().numpy())
    return np.stack(rows)


@torch.no_grad()
def classes_only(model: nn.Module, loader, device):
    """A number for each sample."""
    model.eval()
    chosen, hits = [], []
    for x, y in loader:
        out = model(x.to(device))
        chosen.append(out.argmax(dim=1))
        hits.append(out.argmax(dim=1) == y.to(device))
    return torch.cat(chosen), torch.cat(hits).float().mean()


@torch.no_grad()
def losses_only(model: nn.Module, loader, device):
    model.eval()
    losses = []
    for x, y in loader:
        losses.append(F.cross_entropy(model(x.to(device)), y.to(device)))
    return torch.stack(losses).mean().item()


@torch.no_grad()
def a_few_samples(model: nn.Module, loader, device, wanted=16):
    model.eval()
    shown = []
    for i, (x, _) in enumerate(loader):
        shown.append(model(x.to(device)))
        if i == wanted:
            break
    return shown


@torch.no_grad()
def the_first_batches(model: nn.Module, loader, device):
    model.eval()
    shown = []
    for i, (x, _) in enumerate(loader):
        out = model(x.to(device))
        if i < 4:
            shown.append(out)
    return torch.cat(shown)


@torch.no_grad()
def the_last_ones(model: nn.Module, loader, device):
    model.eval()
    recent = deque(maxlen=10)
    for x, _ in loader:
        recent.append(model(x.to(device)))
    return list(recent)


@torch.no_grad()
def written_out_in_pieces(model: nn.Module, loader, device, path):
    model.eval()
    pending = []
    for i, (x, _) in enumerate(loader):
        pending.append(model(x.to(device)))
        if len(pending) == 100:
            torch.save(torch.cat(pending), path / f"{i}.pt")
            pending = []


@torch.no_grad()
def of_each_batch(model: nn.Module, loader, device):
    """The list is of the views of one batch."""
    model.eval()
    total = 0
    for views, _ in loader:
        votes = []
        for view in views:
            votes.append(model(view.to(device)).softmax(-1))
        total += torch.stack(votes).mean(0).argmax(-1).sum().item()
    return total


class Pyramid(nn.Module):
    """What a module makes of its levels is gone when the call is over."""

    def __init__(self, widths):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(w, 64, 1) for w in widths)

    def forward(self, features):
        out = []
        for convolution, feature in zip(self.lateral, features):
            out.append(convolution(feature.cuda()).detach())
        return out


def rollout(policy: nn.Module, environment, steps, device):
    """A fixed number of steps, needed for the update."""
    observations, values = [], []
    observation = environment.reset()
    for _ in range(steps):
        with torch.no_grad():
            value = policy(torch.as_tensor(observation, device=device))
        observations.append(observation)
        values.append(value)
        observation = environment.step(value.argmax().item())
    return observations, torch.stack(values)


def on_the_host(model: nn.Module, loader):
    """Nothing is moved to a device."""
    model.eval()
    out = []
    with torch.no_grad():
        for x in loader:
            out.append(model(x))
    return torch.cat(out)


def moved_to_the_host_explicitly(model: nn.Module, loader):
    model.to("cpu").eval()
    out = []
    with torch.no_grad():
        for x in loader:
            out.append(model(x.to("cpu")))
    return torch.cat(out)


@torch.no_grad()
def labels_only(model: nn.Module, loader, device):
    """The data itself is most often a number for each sample."""
    model.eval()
    hits, truth = 0, []
    for x, y in loader:
        y = y.to(device)
        hits += (model(x.to(device)).argmax(1) == y).sum().item()
        truth.append(y)
    return hits, torch.cat(truth)


@torch.no_grad()
def written_by_a_thread(model: nn.Module, loader, device, write):
    """A queue is there to be emptied."""
    model.eval()
    done = queue.Queue()
    writer = threading.Thread(target=write, args=(done,))
    writer.start()
    for x in loader:
        done.put(model(x.to(device)))
    done.put(None)
    writer.join()


@torch.no_grad()
def with_each_adapter(encoder: nn.Module, images, adapters, device):
    """As many images as there are adapters: whoever gives one gives a list of it."""
    if not isinstance(images, list):
        images = [images]
    embedded = []
    for image, adapter in zip(images, adapters):
        embedded.append(adapter(encoder(image.to(device))))
    return embedded
