"""What people believe to cut the graph, and does not."""

import torch
import torch.nn.functional as F
from torch import nn


def cpu_and_clone(model: nn.Module, loader):
    on_host = 0.0
    copies = torch.zeros(())
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        on_host += loss.cpu().detach()
        copies = copies + loss.clone().detach()
    print(on_host.item(), copies.item())


def reshaped_and_rounded(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        loss = F.l1_loss(model(x), y, reduction="none").view(-1).mean().round()
        total += loss.detach()
    return float(total)


def preallocated(model: nn.Module, optimizer, loader, steps):
    """A tensor written in place chains the graphs of everything written."""
    trace = torch.zeros(steps)
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trace[i] = loss.detach()
    return trace.mean()


def deleted_after_the_sum(model: nn.Module, optimizer, loader):
    """Deleting the name, collecting garbage and emptying the allocator's cache
    free nothing that the sum refers to."""
    import gc

    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach()
        del loss
        gc.collect()
        torch.cuda.empty_cache()
    return total


def detached_too_late(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        total += loss.detach()
        loss = loss.detach()
        print(loss)
    return f"{total / len(loader):.3f}"


def detached_in_the_end(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total += F.mse_loss(model(x), y).detach()
    return total.detach() / len(loader)
