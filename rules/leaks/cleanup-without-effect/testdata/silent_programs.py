"""Calls that free what they are for, or of which nobody can say that they do not."""

import gc

import torch
import torch.nn.functional as F
from torch import nn


# run: both_deleted(loader, Model)
def both_deleted(loader, build):
    model = nn.Linear(16, 512).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    del model, optimizer
    gc.collect()
    torch.cuda.empty_cache()
    return build()


# on purpose: the second call frees what the first one cannot
def one_after_the_other(loader):
    model = nn.Linear(16, 512).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    del model
    gc.collect()
    del optimizer
    gc.collect()
    torch.cuda.empty_cache()


def the_only_reference(x):
    model = nn.Linear(512, 512).to("cuda")
    with torch.no_grad():
        y = model(x).cpu()
    del model
    torch.cuda.empty_cache()
    return y


# on purpose: the second call releases what the first one comes too early for
def cleaned_before_and_after(x):
    model = nn.Linear(512, 512).to("cuda")
    with torch.no_grad():
        y = model(x).cpu()
    gc.collect()
    torch.cuda.empty_cache()
    del model
    torch.cuda.empty_cache()
    return y


def between_epochs(model: nn.Module, loader, optimizer, epochs):
    """It costs time, and gives other processes what is free."""
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        gc.collect()
        torch.cuda.empty_cache()


def each_step_of_an_evaluation(model: nn.Module, loader):
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            out = model(x.cuda())
            total += F.cross_entropy(out, y.cuda()).item()
            del out
            torch.cuda.empty_cache()
    return total


def deletes_what_it_made(loader):
    for x in loader:
        big = x.repeat(100, 1).cuda()
        print(big.std().item())
        del big
        torch.cuda.empty_cache()


def drop(thing):
    del thing
    gc.collect()


# run: given_away(["a.pt", "b.pt"])
def given_away(paths):
    for path in paths:
        drop(torch.load(path))


# on purpose: whether half() changes the module itself is not in view
def given_a_new_value(module):
    module = module.half()
    print(module)
    del module
    torch.cuda.empty_cache()


# on purpose: whether half() changes the module itself is not in view
def halves(net: nn.Module):
    given_a_new_value(net)


def after_a_backward(model: nn.Module, loader, optimizer):
    """The graph of each step is gone by itself; what stays is small, and in host
    memory."""
    history = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        del loss
        torch.cuda.empty_cache()
    return history


def small_things(rows):
    counts = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    names = list(counts)
    gc.collect()
    del counts
    return names
