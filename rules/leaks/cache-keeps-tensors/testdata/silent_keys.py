"""Caches by numbers and names, of few results, or of one object that lives as
long as the program."""

import functools
from functools import cached_property, lru_cache

import torch
from torch import nn


@lru_cache(maxsize=128)
def position_encoding(length: int, width: int, device: str):
    position = torch.arange(length, device=device).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2, device=device) * -(9.21 / width))
    return torch.cat([torch.sin(position * rate), torch.cos(position * rate)], dim=1)


@functools.lru_cache(maxsize=None)
def device_count():
    return torch.cuda.device_count()


@functools.cache
def load_weights(path):
    return torch.load(path, map_location="cpu")


class Attention(nn.Module):
    """A module with parameters: there is one of it."""

    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    @lru_cache(maxsize=32)
    def causal_mask(self, length):
        return torch.ones(length, length).tril().bool()

    def forward(self, x):
        scores = self.project(x) @ x.transpose(1, 2)
        return scores.masked_fill(~self.causal_mask(x.shape[1]), float("-inf")).softmax(-1) @ x


class Camera(nn.Module):
    """Remembered in the object itself."""

    def __init__(self, intrinsics):
        super().__init__()
        self.K = intrinsics

    @cached_property
    def inverse(self):
        return torch.linalg.inv(self.K)


class Corpus:
    """No module, and asked by numbers."""

    def __init__(self, path):
        self.rows = torch.load(path)

    @lru_cache(maxsize=8)
    def __getitem__(self, index):
        return self.rows[index].float()

    @property
    @lru_cache(maxsize=1)
    def size(self):
        return len(self.rows)


class Words:
    """Remembered by names, on purpose."""

    def __init__(self, model: nn.Module, device):
        self.model = model.to(device).eval()
        self.device = device
        self.vectors = {}

    @torch.no_grad()
    def vector(self, word, ids):
        if word not in self.vectors:
            self.vectors[word] = self.model(ids.to(self.device))
        return self.vectors[word]


def vectors_of_all(model: nn.Module, corpus, device):
    words = Words(model, device)
    total = 0.0
    for word, ids in corpus:
        total += words.vector(word, ids).norm().item()
    return total


class Head(nn.Module):
    """One entry, written again and again."""

    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, 2)
        self.last = {}

    @torch.no_grad()
    def forward(self, x):
        if "x" not in self.last:
            self.last["x"] = self.out(x)
        return self.last["x"]


def memo(function):
    """A decorator of its own, of which nothing is known."""
    known = {}

    @functools.wraps(function)
    def wrapper(key):
        if key not in known:
            known[key] = function(key)
        return known[key]

    return wrapper


@memo
def square(n):
    return torch.full((n, n), 2.0)


class Index:
    """Asked by a number, of objects that were given."""

    def __init__(self, data):
        self.data = data

    @lru_cache(maxsize=8)
    def __getitem__(self, index):
        return self.data[index]


class Schedule:
    """Holds numbers and names."""

    def __init__(self, steps: int, kind="linear", warm=False):
        self.steps, self.kind, self.warm = steps, kind, warm

    @lru_cache(maxsize=1)
    def total(self):
        return sum(range(self.steps))
