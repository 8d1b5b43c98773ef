"""Functions in whose place decorators put others, which call them in ways that are not
seen."""
from _thread import start_new_thread
from functools import wraps
from multiprocessing import Queue

import torch
import torch.nn as nn

import launcher


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)

    def forward(self, x):
        return self.layer(x)


def in_a_thread(f):
    @wraps(f)
    def started(*args, **kwargs):
        results = Queue()

        def work():
            results.put(f(*args, **kwargs))

        start_new_thread(work, ())
        return results.get()

    return started


def handed_over(f):
    def started(*args):
        launcher.start(f, *args)

    return started


@in_a_thread
def evaluate(loader):
    model = Net().cuda()
    outputs = []
    with torch.no_grad():
        for x, y in loader:
            outputs.append(model(x.cuda()))  # want: GL201 warning values
    return torch.cat(outputs)


@handed_over
def evaluate_elsewhere(loader):
    model = Net().cuda()
    outputs = []
    with torch.no_grad():
        for x, y in loader:
            outputs.append(model(x.cuda()))  # want: GL201 warning values
    print(torch.cat(outputs))


@handed_over
def evaluate_on_the_host(loader):
    model = Net().cuda()
    outputs = []
    with torch.no_grad():
        for x, y in loader:
            outputs.append(model(x.cuda()).cpu())
    print(torch.cat(outputs))


# run: Job().evaluate(loader)
class Job:
    @handed_over
    def evaluate(self, loader):
        model = Net().cuda()
        outputs = []
        with torch.no_grad():
            for x, y in loader:
                outputs.append(model(x.cuda()))  # want: GL201 warning values
        print(torch.cat(outputs))
