"""A guard is of the thread, and of the time, in which it is entered."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import nn


def in_a_thread(model: nn.Module, loader):
    sums = [0.0]

    def work():
        for images, labels in loader:
            sums[0] += F.cross_entropy(model(images), labels).detach()

    with torch.no_grad():
        thread = threading.Thread(target=work)  # want: GL305 hint graph
        thread.start()
        thread.join()
    print(sums)


class Worker(threading.Thread):
    def __init__(self, model, loader):
        super().__init__()
        self.model, self.loader, self.total = model, loader, 0.0

    def run(self):
        for images, labels in self.loader:
            self.total += F.cross_entropy(self.model(images), labels)  # want: GL101 error graph


@torch.no_grad()
def in_a_subclass_of_thread(model: nn.Module, loader):
    worker = Worker(model, loader)
    worker.start()  # want: GL305 hint graph
    worker.join()
    print(worker.total)


# may grow: the pool runs ahead of the loop, and its results wait
@torch.no_grad()
def in_a_pool(model: nn.Module, loader):
    total = 0.0
    with ThreadPoolExecutor(1) as pool:
        for logits in pool.map(lambda batch: model(batch[0]), loader):  # want: GL305 hint graph
            with torch.enable_grad():
                total = total + logits.logsumexp(1).mean().detach()
    print(total)


def loss_of(model, images, labels):
    return F.cross_entropy(model(images), labels)


def futures_of_a_pool(model: nn.Module, loader):
    total = 0.0
    with ThreadPoolExecutor(2) as pool:
        for images, labels in loader:
            with torch.no_grad():
                future = pool.submit(loss_of, model, images, labels)  # want: GL305 hint graph
            total = total + future.result().detach()
    print(total)


def function_made_under_a_guard(model: nn.Module, loader):
    with torch.no_grad():

        def measure(images, labels):
            return F.cross_entropy(model(images), labels)

    total = 0.0
    for images, labels in loader:
        total += measure(images, labels).detach()
    print(total)


def map_made_under_a_guard(model: nn.Module, loader):
    with torch.no_grad():
        losses = map(lambda batch: F.cross_entropy(model(batch[0]), batch[1]), loader)  # want: GL305 hint graph
    total = 0.0
    for loss in losses:
        total += loss.detach()
    print(total)


class Events:
    """Calls what was registered, whenever that was."""

    def __init__(self):
        self.handlers = []

    def on(self, handler):
        self.handlers.append(handler)

    def fire(self, *args):
        for handler in self.handlers:
            handler(*args)


def callback_registered_under_a_guard(model: nn.Module, loader):
    events, sums = Events(), {"loss": 0.0}

    def add(images, labels):
        sums["loss"] += F.cross_entropy(model(images), labels).detach()

    with torch.no_grad():
        events.on(add)
    for images, labels in loader:
        events.fire(images, labels)
    print(sums)
