"""Guards that nothing enters, or that are left too early."""

import asyncio

import torch
import torch.nn.functional as F
from torch import inference_mode, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.body(x)


def evaluate(model: Net, loader):
    torch.no_grad()  # want: GL305 hint graph
    hits = 0
    for x, y in loader:
        # one batch
        hits += (model(x).argmax(1) == y).sum().item()
    return hits


# run: features(Net(), [randn(4, 32)])
def features(model: Net, images):
    if images:
        inference_mode()  # want: GL305 hint graph
        return [model(image).tolist() for image in images]
    return []


class Worker:
    def __init__(self, model: Net):
        torch.inference_mode(True)  # want: GL305 hint graph
        self.model = model

    @torch.no_grad()  # want: GL305 hint graph
    async def classify(self, x):
        await asyncio.sleep(0)
        return self.model(x).argmax(1)


@torch.no_grad()  # want: GL305 hint graph
class Evaluator:
    def __init__(self, model: Net):
        self.model = model

    def loss(self, x, y):
        return F.cross_entropy(self.model(x), y).item()


@torch.inference_mode()  # want: GL305 hint graph
async def stream(model: Net, queue):
    while True:
        x = await queue.get()
        yield model(x).tolist()


def gradients_on_again(model: Net, x):
    with torch.no_grad():
        torch.enable_grad()  # want: GL305 hint graph
        return model(x)
