"""What is kept has a graph that the backward frees, or none at all. What other
rules report is in their fixtures."""

import torch
import torch.nn.functional as F
from torch import nn


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(16, 32)
        self.first = nn.Linear(32, 4)
        self.second = nn.Linear(32, 2)

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return self.first(h), self.second(h)


def both_heads_are_backwarded_later(loader, optimizer):
    model = TwoTasks()
    for x, y, z in loader:
        parts = []
        a, b = model(x)
        parts.append(F.cross_entropy(a, y))
        parts.append(F.mse_loss(b, z))
        optimizer.zero_grad()
        sum(parts).backward()
        optimizer.step()


def metric_is_detached(loader, optimizer):
    model = TwoTasks()
    error = 0.0
    for x, y, z in loader:
        a, b = model(x)
        optimizer.zero_grad()
        F.cross_entropy(a, y).backward()
        optimizer.step()
        error += F.mse_loss(b.detach(), z)
    return error / len(loader)


def metric_is_guarded(loader, optimizer):
    model = TwoTasks()
    error = 0.0
    for x, y, z in loader:
        a, b = model(x)
        optimizer.zero_grad()
        F.cross_entropy(a, y).backward()
        optimizer.step()
        with torch.no_grad():
            error += F.mse_loss(b, z)
    return error / len(loader)


def metric_is_a_number(loader, optimizer):
    model = TwoTasks()
    log = {"first": [], "second": []}
    for x, y, z in loader:
        a, b = model(x)
        first, second = F.cross_entropy(a, y), F.mse_loss(b, z)
        optimizer.zero_grad()
        first.backward()
        optimizer.step()
        log["first"].append(first.item())
        log["second"].append(float(second))
    return log


def hits_have_no_graph(loader, optimizer):
    model = TwoTasks()
    hits, chosen = 0, []
    for x, y, z in loader:
        a, b = model(x)
        optimizer.zero_grad()
        F.cross_entropy(a, y).backward()
        optimizer.step()
        hits += (b.argmax(dim=1) == z).sum()
        chosen.append(b.argmax(dim=1))
    return hits.item(), torch.cat(chosen)


def alternating_steps(loader, generator: nn.Module, critic: nn.Module, g_optimizer, c_optimizer):
    """Each of two losses has a backward of its own."""
    for real, noise in loader:
        fake = generator(noise)
        c_loss = critic(fake.detach()).mean() - critic(real).mean()
        c_optimizer.zero_grad()
        c_loss.backward()
        c_optimizer.step()
        g_loss = -critic(fake).mean()
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        print(c_loss.item(), g_loss.item())


def last_output_only(loader, optimizer):
    model = TwoTasks()
    last = None
    for x, y, _ in loader:
        a, last = model(x)
        optimizer.zero_grad()
        F.cross_entropy(a, y).backward()
        optimizer.step()
    return last


def list_of_this_step(loader, optimizer):
    model = TwoTasks()
    for x, y, z in loader:
        a, b = model(x)
        seen = [b]
        optimizer.zero_grad()
        F.cross_entropy(a, y).backward()
        optimizer.step()
        seen.append(F.mse_loss(b, z))
        print(len(seen))


def penalty_joins_the_loss(loader, optimizer, weight=0.1):
    model = TwoTasks()
    for x, y, _ in loader:
        a, b = model(x)
        entropy = -(b.softmax(-1) * b.log_softmax(-1)).sum(-1).mean()
        loss = F.cross_entropy(a, y) - weight * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(entropy.item())
