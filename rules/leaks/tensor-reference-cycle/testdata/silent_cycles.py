"""What goes with its last use, is kept on purpose, or holds no tensors."""

import weakref

import torch
import torch.nn.functional as F
from torch import nn


class Tree(nn.Module):
    """The recursive function is a method."""

    def __init__(self, width=64):
        super().__init__()
        self.leaf = nn.Linear(width, width)

    def walk(self, states, node):
        if isinstance(node, int):
            return states[node]
        return self.walk(states, node[0]) + self.walk(states, node[1])

    def forward(self, words, tree):
        return self.walk(self.leaf(words), tree)


def helper_without_recursion(loader):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU())

    def describe(x):
        hidden = model(x)

        def size():
            return hidden.numel()

        return size() + size()

    print(sum(describe(x) for x in loader))


def recursion_over_numbers(loader):
    model = nn.Linear(16, 64)

    def depth_of(x, tree):
        hidden = model(x).detach().mean().item()

        def depth(node):
            return 0 if isinstance(node, int) else 1 + max(depth(node[0]), depth(node[1]))

        return hidden * depth(tree)

    for x, tree in loader:
        print(depth_of(x, tree))


def given_as_an_argument(loader):
    model = nn.Linear(16, 64)

    def norms(x):
        def halve(values):
            if len(values) < 2:
                return values.norm().item()
            return halve(values[: len(values) // 2]) + halve(values[len(values) // 2 :])

        return halve(model(x).detach())

    for x in loader:
        print(norms(x))


def deleted_at_the_end(loader):
    model = nn.Linear(16, 64)

    def count(x):
        hidden = model(x)

        def down(n):
            return hidden.numel() if n == 0 else down(n - 1)

        total = down(3)
        del down
        return total

    for x in loader:
        print(count(x))


def called_once(model: nn.Module, x):
    hidden = model(x)

    def down(n):
        return hidden.numel() if n == 0 else down(n - 1)

    return down(3)


class Leaf:
    def __init__(self, hidden, parent=None):
        self.hidden = hidden
        self.parent = None if parent is None else weakref.ref(parent)
        self.children = []

    def grow(self, layer):
        self.children.append(Leaf(layer(self.hidden), self))


def weak_parents(games):
    represent, layer = nn.Linear(16, 64), nn.Linear(64, 64)
    for observation in games:
        root = Leaf(represent(observation))
        root.grow(layer)
        print(len(root.children))


class Record:
    def __init__(self, output):
        self.output = output
        self.label = output.argmax(-1)


def no_way_back(loader):
    model = nn.Linear(16, 64)
    for x in loader:
        record = Record(model(x))
        print(record.label.tolist())


class Link:
    def __init__(self, value, previous):
        self.value, self.previous = value, previous


def a_chain(loader):
    """Each refers to the one before, none to itself."""
    model = nn.Linear(16, 64)
    last = None
    for x in loader:
        last = Link(model(x).argmax(-1), last)
    return last


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Linear(16, 4)
        self.actions = {"best": self.best}

    def best(self, x):
        return self.policy(x).argmax(-1)


def population(names):
    """They live as long as the list does."""
    agents = []
    for name in names:
        agents.append(Agent())
    return agents


def one_for_all(loader):
    agent = Agent()
    for x in loader:
        print(agent.actions["best"](x).tolist())


class Timer:
    """No tensors."""

    def __init__(self, name):
        self.name, self.stop = name, self.finish

    def finish(self):
        print(self.name)


def timed(loader):
    model = nn.Linear(16, 64)
    for i, x in enumerate(loader):
        timer = Timer(i)
        print(model(x).argmax(-1).tolist())
        timer.stop()


def cut_when_done(games):
    represent = nn.Linear(16, 64)
    for observation in games:
        parent = Record(represent(observation).detach())
        child = Record(parent.output + 1)
        parent.child, child.parent = child, parent
        print(child.label.tolist())
        child.parent = None


def packed_detached(loader):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))
    for x, y in loader:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            F.cross_entropy(model(x), y)


def packed_and_backwarded(loader):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))
    for x, y in loader:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            loss = F.cross_entropy(model(x), y)
        loss.backward()


def packed_on_disk(loader, folder):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))

    def pack(t):
        path = folder / f"{id(t)}.pt"
        torch.save(t, path)
        return path

    for x in loader:
        with torch.autograd.graph.saved_tensors_hooks(pack, torch.load):
            model(x)
