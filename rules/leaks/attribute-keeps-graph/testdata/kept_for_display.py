"""Attributes that hold a tensor for a look at it, with its whole graph."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.weights = None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        self.weights = scores  # want: GL302 hint graph
        return self.out(scores @ v)

    def heatmap(self):
        return self.weights.detach().cpu().numpy()


class Gate(nn.Module):
    def __init__(self, experts=8):
        super().__init__()
        self.router = nn.Linear(64, experts)

    def forward(self, x):
        probabilities = self.router(x).softmax(-1)
        self.usage = probabilities.mean(0)  # want: GL302 hint graph
        return probabilities

    def report(self):
        for i, share in enumerate(self.usage.tolist()):
            print(i, f"{share:.3f}")


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x):
        h = self.body(x)
        self.last_norm = h.norm(dim=-1).mean()  # want: GL302 hint graph
        return h

    def extra_repr(self):
        return f"norm={self.last_norm.item():.2f}" if hasattr(self, "last_norm") else ""


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        self.logits = self.head(x)  # want: GL302 hint graph
        return self.logits.argmax(-1)


class Monitor:
    def __init__(self, model: Encoder):
        self.model = model
        self.latest = None
        self.worst = None

    def evaluate(self, loader):
        for x, y in loader:
            output = self.model(x)
            self.latest = output  # want: GL302 hint graph
            self.worst = F.mse_loss(output, y, reduction="none").amax()  # want: GL302 hint graph
            print(self.latest.shape, float(self.worst))


class Trainer:
    """The metric is off the backward's path: no backward frees its graph."""

    def __init__(self, model: Encoder, optimizer):
        self.model, self.optimizer = model, optimizer
        self.deviation = 0.0

    def fit(self, loader):
        for x, y in loader:
            output = self.model(x)
            loss = F.mse_loss(output, y)
            self.deviation = F.l1_loss(output.exp(), y)  # want: GL302 hint graph
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(self.deviation.item())
