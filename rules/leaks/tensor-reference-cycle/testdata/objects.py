"""Objects made for each batch, game or fold, that refer to each other or to a method
of their own."""

import torch
import torch.nn.functional as F
from torch import nn


class Node:
    def __init__(self, hidden, parent=None):
        self.hidden, self.parent = hidden, parent
        self.children = []

    def expand(self, dynamics):
        for action in range(4):
            self.children.append(Node(dynamics(self.hidden + action), parent=self))


# run: play(feed(lambda: randn(4, 16)))
def play(games):
    represent, dynamics = nn.Linear(16, 64), nn.Linear(64, 64)
    for observation in games:
        root = Node(represent(observation))  # want: GL502 warning graph
        root.expand(dynamics)
        print(len(root.children))


class Request:
    """A table of its own methods."""

    def __init__(self, model: nn.Module, batch):
        self.output = model(batch)
        self.answers = {"label": self.label, "score": self.score}

    def label(self):
        return self.output.argmax(-1).tolist()

    def score(self):
        return self.output.max().item()

    def answer(self, kind):
        return self.answers[kind]()


# run: serve([(randn(4, 16), "label")] * 16)
def serve(requests):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))
    for batch, kind in requests:
        print(Request(model, batch).answer(kind))  # want: GL502 warning graph


class Layer(nn.Module):
    """An activation that is a lambda of the module itself."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.scale = 0.5
        self.act = lambda x: self.scale * torch.relu(x)

    def forward(self, x):
        return self.act(self.body(x))


def cross_validate(folds, width):
    scores = []
    for train, test in folds:
        model = Layer(width)  # want: GL502 hint values
        optimizer = torch.optim.Adam(model.parameters())
        for x, y in train:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            scores.append(sum(F.mse_loss(model(x), y).item() for x, y in test))
    return scores
