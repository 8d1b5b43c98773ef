import torch


def train(model, loader, opt):
    total = 0
    losses = []
    for x, y in loader:
        out = model(x
        loss = criterion(out, y)
        total += loss
        losses.append(loss.
        total +=
        opt.step()
    return total


def untouched(loader):
    for x in loader:
        yield x


def missing(x
    for y in x
        while
            y.
            z()
        if y ==:
            pass
        else
            pass
    try:
        y = 1
      z = 2
    elif y:
        pass


class Meter:
    def update(self, value,
        self.total += value

    @property
    def after(self):
        return self.total

    @


match x:
    case 1
        pass
    case 2:
        y = (
    z = 3

options = SGD(
    model.parameters(),
    lr=0.1,
schedule = [1, 2

def last():
    """Not closed.
    return 1


def docstring():
    """
    Closed.
    """
