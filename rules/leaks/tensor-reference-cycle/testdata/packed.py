"""Saved tensors that are looked at on their way, and kept as they are."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


def saved_bytes(loader):
    """Counts, and runs no backward."""
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))
    sizes = []
    for x, y in loader:
        total = 0

        def pack(t):
            nonlocal total
            total += t.numel() * t.element_size()
            return t

        with saved_tensors_hooks(pack, lambda t: t):  # want: GL502 error graph
            F.cross_entropy(model(x), y)
        sizes.append(total)
    return sizes


class Profiler:
    def __init__(self):
        self.count = 0

    def pack(self, tensor):
        self.count += 1
        return tensor.device, tensor

    def unpack(self, packed):
        return packed[1]


def profile(inputs):
    net = nn.Sequential(nn.Linear(16, 64), nn.Sigmoid(), nn.Linear(64, 1))
    profiler = Profiler()
    for x in inputs:
        with torch.autograd.graph.saved_tensors_hooks(profiler.pack, profiler.unpack):  # want: GL502 error graph
            net(x)
    return profiler.count
