"""Threads that guard themselves, and functions that are called under a guard."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import nn


def thread_with_its_own_guard(model: nn.Module, loader):
    sums = [0.0]

    @torch.no_grad()
    def work():
        for images, labels in loader:
            sums[0] += F.cross_entropy(model(images), labels)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(sums)


class Worker(threading.Thread):
    def __init__(self, model, loader):
        super().__init__()
        self.model, self.loader, self.total = model, loader, 0.0

    def run(self):
        with torch.no_grad():
            for images, labels in self.loader:
                self.total += F.cross_entropy(self.model(images), labels)


def in_a_subclass_of_thread(model: nn.Module, loader):
    worker = Worker(model, loader)
    worker.start()
    worker.join()
    print(worker.total)


def number_of(model, images, labels):
    return F.cross_entropy(model(images), labels).item()


def numbers_of_a_pool(model: nn.Module, loader):
    total = 0.0
    with ThreadPoolExecutor(2) as pool:
        for images, labels in loader:
            total += pool.submit(number_of, model, images, labels).result()
    print(total)


def mapped_numbers_of_a_pool(model: nn.Module, loader):
    with ThreadPoolExecutor(2) as pool:
        print(sum(pool.map(lambda batch: number_of(model, *batch), loader)))


def delayed(model: nn.Module, loader):
    timer = threading.Timer(0.0, lambda: print("done"))
    timer.start()
    total = 0.0
    for images, labels in loader:
        total += number_of(model, images, labels)
    timer.join()
    print(total)


class Events:
    def __init__(self):
        self.handlers = []

    def on(self, handler):
        self.handlers.append(handler)

    def fire(self, *args):
        for handler in self.handlers:
            handler(*args)


def callback_called_under_a_guard(model: nn.Module, loader):
    events, sums = Events(), {"loss": 0.0}

    def add(images, labels):
        sums["loss"] += F.cross_entropy(model(images), labels)

    events.on(add)
    with torch.no_grad():
        for images, labels in loader:
            events.fire(images, labels)
    print(sums)


def function_called_under_a_guard(model: nn.Module, loader):
    def measure(images, labels):
        return F.cross_entropy(model(images), labels)

    total = 0.0
    for images, labels in loader:
        with torch.no_grad():
            total += measure(images, labels)
    print(total)
