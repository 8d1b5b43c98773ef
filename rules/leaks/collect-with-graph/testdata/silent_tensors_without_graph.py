"""Tensors that never had a graph, or whose graph one backward uses."""

import collections

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


WINDOW = 10


def windows(loader, opt):
    model = Net()
    recent = collections.deque(maxlen=WINDOW)
    tail, best = [], []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent.append(loss)
        tail.append(loss)
        tail = tail[-100:]
        if len(tail) > 50:
            del tail[0]
        best = sorted(best + [loss.item()])[:5]


def dataset(paths, transform):
    images, labels = [], []
    total = torch.zeros(3)
    for path in paths:
        image = torch.load(path)
        images.append(transform(image))
        labels.append(image.mean())
        total += image.mean(dim=(1, 2))
    return torch.stack(images), total


def simulate(steps):
    x, v = torch.randn(3), torch.zeros(3)
    trajectory = []
    energy = 0.0
    for _ in range(steps):
        force = -x * x.norm()
        v = v + 0.1 * force
        x = x + 0.1 * v
        trajectory.append(x)
        energy += v.pow(2).sum()
    return torch.stack(trajectory), energy


def optimise_trajectory(steps):
    v = torch.zeros(3, requires_grad=True)
    opt = torch.optim.Adam([v])
    for _ in range(100):
        x = torch.zeros(3)
        trajectory, cost = [], 0.0
        for _ in range(steps):
            x = x + 0.1 * v * x.cos()
            trajectory.append(x)
            cost = cost + x.pow(2).sum()
        smooth = torch.stack(trajectory).diff(dim=0).pow(2).sum()
        opt.zero_grad()
        (cost + smooth).backward()
        opt.step()


def kmeans(x, k, iters):
    centroids = x[:k].clone()
    inertia = []
    for _ in range(iters):
        d = torch.cdist(x, centroids)
        assign = d.argmin(dim=1)
        inertia.append(d.min(dim=1)[0].sum())
        for j in range(k):
            centroids[j] = x[assign == j].mean(dim=0)
    return centroids, inertia


def gradients(loader):
    model = Net()
    grads, norms = [], []
    for x, y in loader:
        model.zero_grad()
        F.mse_loss(model(x), y).backward()
        grads.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0))
    return torch.stack(grads).mean(0), norms


def numpy_metrics(loader):
    model = Net()
    scores = []
    aucs = 0.0
    for x, y in loader:
        p = model(x).softmax(-1)
        scores.append(p.cpu().data.numpy())
        aucs += np.mean(p.tolist())
    return np.concatenate(scores), aucs


class Lit(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.losses = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("train_loss", loss)
        self.losses.append(loss.item())
        return loss


def retry(loader, opt):
    model = Net()
    losses = []
    for x, y in loader:
        try:
            loss = F.mse_loss(model(x), y)
            loss.backward()
        except RuntimeError as error:
            losses.append(str(error))
            continue
        finally:
            opt.zero_grad()
        loss = loss.detach()
        losses.append(loss)
