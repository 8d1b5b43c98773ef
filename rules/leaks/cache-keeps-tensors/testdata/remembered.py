"""Results that are remembered by tensors, or with the objects that hold them."""

import functools
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn


# run: Camera(randn(2, 4, 4)).inverse
class Camera(nn.Module):
    """One for each batch: it has no parameters, only what it is given."""

    def __init__(self, intrinsics, pose=None):
        super().__init__()
        self.K = intrinsics
        self.pose = torch.eye(4).repeat(len(intrinsics), 1, 1) if pose is None else pose

    @property
    @lru_cache()  # want: GL204 warning values
    def inverse(self):
        inverse = self.K.clone()
        inverse[:, 0, 0] = 1.0 / self.K[:, 0, 0]
        return inverse

    @lru_cache(maxsize=4)  # want: GL204 hint values
    def grid(self, height, width):
        return torch.stack(torch.meshgrid(torch.arange(height), torch.arange(width)))


# run: Graph(torch.tensor([[0, 1], [1, 2]]), torch.ones(2)).degrees()
class Graph(nn.Module):
    def __init__(self, edges: Tensor, weights: Tensor):
        super().__init__()
        self.edges, self.weights = edges, weights

    @functools.cache  # want: GL204 warning values
    def degrees(self):
        return torch.zeros(int(self.edges.max()) + 1).index_add(0, self.edges[0], self.weights)


# run: similarity(randn(4, 8), randn(4, 8))
@lru_cache(maxsize=None)  # want: GL204 warning values
def similarity(a: torch.Tensor, b: torch.Tensor):
    return F.cosine_similarity(a, b)


# run: padding_mask(torch.tensor([3, 5]), 8)
@functools.lru_cache(1024)  # want: GL204 warning values
def padding_mask(lengths, width):
    """A tensor by what is done with it."""
    return torch.arange(width) >= lengths.unsqueeze(1)


encoder = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))


@functools.lru_cache(maxsize=None)  # want: GL204 error graph
def embed(x):
    return encoder(x)


def contrast(pairs, optimizer):
    for a, b in pairs:
        loss = F.mse_loss(embed(a), embed(b))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Guided(nn.Module):
    @staticmethod
    @lru_cache(maxsize=8)  # want: GL204 hint values
    def weight(length, sigma):
        steps = torch.arange(100).to(length.device)
        return torch.exp(-((steps / length) ** 2) / sigma)

    def forward(self, attention, lengths):
        return sum((a * self.weight(n, 0.4)).sum() for a, n in zip(attention, lengths))


class Teacher:
    """A dict of its own, by the address of what is asked for."""

    def __init__(self, model: nn.Module, device):
        self.model = model.to(device).eval()
        self.device = device
        self.known = {}

    @torch.no_grad()
    def logits(self, x):
        key = id(x)
        if key not in self.known:
            self.known[id(x)] = self.model(x.to(self.device))  # want: GL204 warning values
        return self.known[key]


def distil(student: nn.Module, teacher_model: nn.Module, loader, optimizer, device):
    teacher = Teacher(teacher_model, device)
    for x, _ in loader:
        loss = F.kl_div(student(x.to(device)).log_softmax(-1), teacher.logits(x).softmax(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Session:
    """Holds what it is given, among it a model."""

    def __init__(self, agents=None, shared=None):
        if shared:
            self.agents = shared["agents"]
        else:
            self.agents = agents

    @lru_cache(maxsize=1)  # want: GL204 hint values
    def length(self):
        return sum(agent.length() for agent in self.agents)

    def step(self):
        for agent in self.agents:
            agent.act()


# run: Records([randn(4)]).size
class Records:
    def __init__(self, source, shared=None):
        self.rows = shared.get("rows", []) if shared else list(source)
        self.source = source

    @property
    @functools.lru_cache()  # want: GL204 hint values
    def size(self):
        return len(self.rows)
