"""What the program's own classes make of operators, subscripts and attributes."""
import bisect
import heapq

import torch
import torch.nn.functional as F

from project.nets import Net


class Total:
    """Adds in place."""

    def __init__(self):
        self.amount = 0.0

    def __iadd__(self, other):
        self.amount = self.amount + other
        return self


class CutReading:
    """Adds out of place, numbers only."""

    def __init__(self, amount=0.0):
        self.amount = amount

    def __add__(self, other):
        return CutReading(self.amount + float(other))


class Board:
    """Keeps what is set by a key."""

    def __init__(self):
        self.rows = {}

    def __setitem__(self, key, value):
        self.rows.setdefault(key, []).append(value)


class CutBoard(Board):
    def __setitem__(self, key, value):
        super().__setitem__(key, value.item())


class Gauge:
    """Keeps what is assigned to it."""

    def __init__(self):
        self.seen = []

    @property
    def last(self):
        return self.seen[-1]

    @last.setter
    def last(self, value):
        self.seen.append(value)


class CutGauge(Gauge):
    @property
    def last(self):
        return self.seen[-1]

    @last.setter
    def last(self, value):
        self.seen.append(value.detach())


class History(list):
    """A list of its own."""

    def log(self, value):
        self.append(value)


class CutHistory(list):
    def append(self, value):
        super().append(value.detach())


class Table(dict):
    def add(self, key, value):
        self[key] = value


def train(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    total, cut_reading = Total(), CutReading()
    board, cut_board, gauge, cut_gauge = Board(), CutBoard(), Gauge(), CutGauge()
    history, plain_history, cut_history, table = History(), History(), CutHistory(), Table()
    best, ranked = [], []
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.detach()
        cut_reading = cut_reading + loss
        board["loss"] = loss.detach()
        cut_board["loss"] = loss
        gauge.last = loss.detach()
        cut_gauge.last = loss
        history.log(loss.detach())
        plain_history.append(loss.detach())
        cut_history.append(loss)
        table.add(step, loss.detach())
        heapq.heappush(best, (step, loss.detach()))
        bisect.insort(ranked, loss.detach())
    print(total.amount, cut_reading.amount, board.rows, cut_board.rows)
    print(gauge.seen, cut_gauge.seen, history, plain_history, cut_history, table, best, ranked)


def pop_as_many(loader):
    """A queue that gives back what it is given holds one at most."""
    model = Net()
    waiting = []
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        heapq.heappush(waiting, (step, loss))
        while waiting:
            _, first = heapq.heappop(waiting)
            first.backward()
