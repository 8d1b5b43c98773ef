"""Statistics that are kept without a graph, or whose graph is the point."""

import torch
import torch.nn.functional as F
from torch import nn


class GuardedNorm(nn.Module):
    def __init__(self, features, momentum=0.1):
        super().__init__()
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("var", torch.ones(features))
        self.momentum = momentum

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0)
            with torch.no_grad():
                self.mean = (1 - self.momentum) * self.mean + self.momentum * mean
                self.var.lerp_(var, self.momentum)
        else:
            mean, var = self.mean, self.var
        return (x - mean) * torch.rsqrt(var + 1e-5)


class DetachedNorm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("mean", torch.zeros(features))

    def forward(self, x):
        mean = x.mean(0)
        self.mean = 0.9 * self.mean + 0.1 * mean.detach()
        return x - mean


class CutAfterwards(nn.Module):
    """The chain is cut in the statement after the one that makes it."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.level = torch.zeros(width)

    def forward(self, x):
        out = self.layer(x)
        self.level = 0.95 * self.level + 0.05 * out.mean(0)
        self.level = self.level.detach()
        return out


class LastOnly(nn.Module):
    """One call's worth is kept, not all of them."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.penalty = None

    def forward(self, x):
        out = self.layer(x)
        self.penalty = out.pow(2).mean()
        return out


class UsageByAssignment(nn.Module):
    """Codes have no gradient, and neither has their count."""

    def __init__(self, codes, width):
        super().__init__()
        self.codebook = nn.Embedding(codes, width)
        self.register_buffer("usage", torch.zeros(codes))

    def forward(self, x):
        distance = torch.cdist(x, self.codebook.weight)
        code = distance.argmin(dim=-1)
        self.usage = 0.99 * self.usage + 0.01 * F.one_hot(code, len(self.usage)).float().mean(0)
        return self.codebook(code)


class AverageOfWeights(nn.Module):
    def __init__(self, online: nn.Module, target: nn.Module):
        super().__init__()
        self.online, self.target = online, target

    @torch.no_grad()
    def follow(self, tau=0.005):
        for p, q in zip(self.online.parameters(), self.target.parameters()):
            q.mul_(1 - tau).add_(tau * p)


def soft_update(loader, online: nn.Module, target: nn.Module, optimizer):
    for x, y in loader:
        loss = F.mse_loss(online(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for p, q in zip(online.parameters(), target.parameters()):
            q.data.copy_(0.01 * p.data + 0.99 * q.data)


def discounted_return(rewards, values, gamma=0.99):
    """A value that decays within one update, and is returned for it."""
    total = 0.0
    out = []
    for reward, value in zip(reversed(rewards), reversed(values)):
        total = reward + gamma * total
        out.append(total - value.detach())
    return torch.stack(out)


def smoothed_number(loader, model: nn.Module, optimizer):
    level = None
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        level = loss.item() if level is None else 0.9 * level + 0.1 * loss.item()
    return level


def normalised_by_level(loader, model: nn.Module, optimizer):
    """The level is of numbers; what is divided by it is backwarded."""
    level = torch.ones(())
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        level = 0.9 * level + 0.1 * loss.detach()
        optimizer.zero_grad()
        (loss / level).backward()
        optimizer.step()
