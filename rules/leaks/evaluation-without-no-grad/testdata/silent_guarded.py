"""Evaluation that records nothing, by whatever guard."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.body(x)

    @torch.no_grad()
    def predict(self, x):
        return self(x).argmax(dim=-1)


def with_around_the_loop(model: Net, loader):
    model.eval()
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)


def with_around_the_call(model: Net, loader):
    model.eval()
    for x, y in loader:
        with torch.inference_mode():
            logits = model(x)
        print(F.cross_entropy(logits, y).item())


@torch.inference_mode()
def decorated(model: Net, loader):
    model.eval()
    for x, _ in loader:
        print(model(x).max().item())


def inference_mode_if_there():
    return torch.inference_mode if hasattr(torch, "inference_mode") else torch.no_grad


def smart_guard():
    def wrap(function):
        return (torch.inference_mode if torch.__version__ >= "1.10" else torch.no_grad)()(function)

    return wrap


@smart_guard()
def decorated_by_a_helper(model: Net, loader):
    model.eval()
    for x, _ in loader:
        print(model(x).max().item())


def by_exit_stack(model: Net, loader):
    model.eval()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        for x, _ in loader:
            print(model(x).norm().item())


def switched_off(model: Net, loader):
    model.eval()
    torch.set_grad_enabled(False)
    for x, _ in loader:
        print(model(x).norm().item())
    torch.set_grad_enabled(True)


def callee_guards_itself(model: Net, loader):
    model.eval()
    hits = 0
    for x, y in loader:
        hits += (model.predict(x) == y).sum().item()
    return hits


def called_under_a_guard_only(model: Net, loader):
    for x, _ in loader:
        print(model(x).mean().item())


def caller(loader):
    model = Net().eval()
    with torch.no_grad():
        called_under_a_guard_only(model, loader)


def by_phase(model: Net, loaders, optimizer):
    for phase in ["train", "val"]:
        if phase == "train":
            model.train()
        else:
            model.eval()
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = F.cross_entropy(model(x), y)
                if phase == "train":
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            print(loss.item())
