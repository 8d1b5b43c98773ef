"""Functions within functions that call themselves, and hold a tensor of the call."""

import torch
import torch.nn.functional as F
from torch import nn


class TreeEncoder(nn.Module):
    """A walk over a tree of words, written as a function of forward."""

    def __init__(self, width=64):
        super().__init__()
        self.leaf, self.join = nn.Linear(width, width), nn.Linear(2 * width, width)

    def forward(self, words, tree):
        states = self.leaf(words).tanh()

        def walk(node):  # want: GL502 hint values
            if isinstance(node, int):
                return states[node]
            left, right = node
            return self.join(torch.cat([walk(left), walk(right)])).tanh()

        return walk(tree)


def evaluate(loader, width):
    model = TreeEncoder(width)
    head = nn.Linear(width, 5)
    correct = 0
    with torch.no_grad():
        for words, tree, label in loader:
            correct += int(head(model(words, tree)).argmax() == label)
    return correct


def beam(model: nn.Module, source, width=4):
    memory = model(source)

    def extend(prefix, score, depth):  # want: GL502 warning graph
        if depth == 0:
            return prefix, score
        scores = (memory @ memory[prefix[-1]]).log_softmax(0)
        best = scores.argmax().item()
        return extend(prefix + [best], score + scores[best].item(), depth - 1)

    return extend([0], 0.0, width)


def decode_all(model: nn.Module, sources):
    for source in sources:
        print(beam(model, source))


def even_or_odd(features, n):
    """Two that call each other."""
    doubled = features * 2

    def even(k):  # want: GL502 warning graph
        return doubled.numel() if k == 0 else odd(k - 1)

    def odd(k):  # want: GL502 warning graph
        return 0 if k == 0 else even(k - 1)

    return even(n)


def sizes(loader):
    body = nn.Sequential(nn.Linear(16, 64), nn.ReLU())
    return sum(even_or_odd(body(x), 4) for x in loader)


def train(loader):
    """After the backward the values and the nodes stay."""
    model = nn.Linear(16, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        hidden = model(x)

        def halve(lo, hi):  # want: GL502 hint values
            if hi - lo < 2:
                return hidden[lo].detach().norm().item()
            return halve(lo, (lo + hi) // 2) + halve((lo + hi) // 2, hi)

        optimizer.zero_grad()
        F.mse_loss(hidden, y).backward()
        optimizer.step()
        return halve(0, 8)

    for x, y in loader:
        print(step(x, y))
