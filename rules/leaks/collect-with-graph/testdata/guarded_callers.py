"""Methods that a flag keeps from being called here."""

import torch
from torch import nn

detailed = False


class Pipeline:
    """One of the callers records graphs."""

    def __init__(self, model: nn.Module):
        self.model = model

    def encode(self, loader):
        encoded = []
        for x, _ in loader:
            encoded.append(self.model(x))  # want: GL102 error graph
        print(len(encoded))

    @torch.no_grad()
    def show(self, loader):
        if detailed:
            self.encode(loader)

    def check(self, loader):
        if detailed:
            self.encode(loader)
