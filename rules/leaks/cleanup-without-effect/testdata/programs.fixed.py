"""Calls that were put in against a full device, and free nothing of what fills it."""

import gc

import torch
import torch.nn.functional as F
from torch import nn


# run: two_models(loader, Model)
def two_models(loader, build):
    """The optimizer has the parameters."""
    model = nn.Sequential(nn.Linear(16, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    del model
    gc.collect()  # want: GL503 hint values
    torch.cuda.empty_cache()  # want: GL503 hint values
    return build()


class Evaluator:
    def __init__(self, model):
        self.model = model

    def accuracy(self, loader):
        with torch.no_grad():
            return sum((self.model(x).argmax(-1) == y).float().mean().item() for x, y in loader)


# run: compare(model, [4, 8, 10], loader)
def compare(first: nn.Module, others, loader):
    scores = [Evaluator(first).accuracy(loader)]
    for width in others:
        model = nn.Linear(16, width)
        evaluator = Evaluator(model)
        scores.append(evaluator.accuracy(loader))
        del model
        torch.cuda.empty_cache()  # want: GL503 hint values
    return scores


def release(model):
    del model
    gc.collect()  # want: GL503 hint values
    torch.cuda.empty_cache()  # want: GL503 hint values


# run: search([4, 8, 16], [x for x, _ in loader])
def search(widths, loader):
    for width in widths:
        net = nn.Linear(16, width).cuda()
        with torch.no_grad():
            print(width, sum(net(x).mean().item() for x in loader))
        release(net)


class Pipeline:
    def __init__(self):
        self.encoder = nn.Linear(16, 64).cuda()
        self.decoder = nn.Linear(64, 16).cuda()

    def free(self, module, device="cuda"):
        print("freeing on", device)
        del module
        torch.cuda.empty_cache()  # want: GL503 hint values

    def run(self, x):
        with torch.no_grad():
            h = self.encoder(x)
            self.free(module=self.encoder)
            return self.decoder(h)


def in_the_wrong_order(x):
    model = nn.Linear(512, 512).to("cuda")
    with torch.no_grad():
        y = model(x).cpu()
    del model
    torch.cuda.empty_cache()
    return y


# run: chunks(model, [x for x, _ in loader])
def chunks(model: nn.Module, parts):
    outputs = []
    with torch.no_grad():
        for part in parts:
            out = model(part.cuda())
            outputs.append(out.argmax(-1).cpu())
            del out
            torch.cuda.empty_cache()
    return torch.cat(outputs)


def validate(model: nn.Module, loader):
    total, losses = 0.0, []
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        losses.append(loss.detach())
        del loss
        gc.collect()
        torch.cuda.empty_cache()
    print(sum(l.item() for l in losses))


def test(model: nn.Module, loader, every):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        total += F.mse_loss(model(x), y).detach()
        if i % every == 0:
            torch.cuda.empty_cache()
    print(float(total))
