"""Code that is made under a guard and runs somewhere else."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.body(x)


def expression(model: Net, images):
    with torch.no_grad():
        scores = (model(image) for image in images)  # want: GL305 hint graph
    for s in scores:
        print(s.argmax().item())


def scored(model: Net, images):
    for image in images:
        yield model(image)


def of_a_function(model: Net, images):
    with torch.inference_mode():
        scores = scored(model, images)  # want: GL305 hint graph
    return [s.argmax().item() for s in scores]


@torch.no_grad()
def returned(model: Net, images):
    return map(model, images)  # want: GL305 hint graph


def consume(model: Net, images):
    for s in returned(model, images):
        print(s.max().item())


def classify(model: Net, image, out, i):
    out[i] = model(image).argmax().item()


def in_threads(model: Net, images):
    out = [0] * len(images)
    with torch.no_grad():
        threads = [threading.Thread(target=classify, args=(model, image, out, i)) for i, image in enumerate(images)]  # want: GL305 hint graph
        for t in threads:
            t.start()
    for t in threads:
        t.join()
    return out


def label(model: Net, image):
    return model(image).argmax().item()


def in_a_pool(model: Net, images):
    with torch.no_grad(), ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(label, model, image) for image in images]  # want: GL305 hint graph
        return [f.result() for f in futures]


class Loader(threading.Thread):
    def __init__(self, model: Net, images):
        super().__init__()
        self.model, self.images, self.labels = model, images, []

    def run(self):
        for image in self.images:
            self.labels.append(self.model(image).argmax().item())


@torch.no_grad()
def in_a_thread_of_its_own(model: Net, images):
    loader = Loader(model, images)
    loader.start()  # want: GL305 hint graph
    loader.join()
    return loader.labels
