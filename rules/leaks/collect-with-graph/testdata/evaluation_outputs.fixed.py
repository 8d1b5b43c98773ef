"""Outputs collected while gradients are on: one whole graph for each batch."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, features=128, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 256), nn.ReLU(), nn.Linear(256, width))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def predict(model: nn.Module, loader, device):
    model.eval()
    scores, targets = [], []
    for images, labels in loader:
        logits = model(images.to(device))  # want: GL301 hint graph
        scores.append(logits.softmax(dim=1).detach())  # want: GL201 warning values
        targets.append(labels)
    scores, targets = torch.cat(scores), torch.cat(targets)
    return (scores.argmax(dim=1) == targets).float().mean().item()


@torch.no_grad()
def embed_gallery(loader):
    encoder = Encoder().eval()
    gallery = {}
    for identities, crops in loader:
        for identity, embedding in zip(identities, encoder(crops)):
            gallery[identity] = embedding
    names = sorted(gallery)
    return names, np.stack([gallery[name].detach().numpy() for name in names])


def embed_in_one_expression(loader):
    encoder = Encoder()
    features = torch.cat([encoder(x) for x in loader])  # want: GL102 error graph
    return features.detach().cpu().numpy()


@torch.no_grad()
def moved_to_the_host(loader):
    """cpu() moves the output; the activations stay where they are."""
    encoder = Encoder()
    encoder.eval()
    outputs = []
    for x in loader:
        outputs.append(encoder(x).cpu())
    return torch.cat(outputs).detach().numpy()


@torch.no_grad()
def ensemble(paths, loader):
    """The inner list is made anew for each batch, the outer one is not."""
    models = nn.ModuleList(Encoder() for _ in paths)
    models.eval()
    averaged = []
    for x, _ in loader:
        votes = []
        for model in models:
            votes.append(model(x).softmax(dim=1))
        averaged.append(torch.stack(votes).mean(dim=0))
    return torch.cat(averaged).argmax(dim=1)


@torch.no_grad()
def ensemble_of(models: nn.ModuleList, loader):
    """The same, with models that come from outside."""
    models.eval()
    averaged = []
    for x, _ in loader:
        votes = []
        for model in models:
            votes.append(model(x).softmax(dim=1))
        averaged.append(torch.stack(votes).mean(dim=0))
    return torch.cat(averaged).argmax(dim=1)


def computed_under_the_guard_too_late(model: nn.Module, loader):
    """no_grad guards operations: the loss was made outside."""
    model.eval()
    losses = []
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)  # want: GL301 hint graph
        with torch.no_grad():
            losses.append(loss.detach())
    return torch.stack(losses).mean().item()


# run: hard_examples(model, loader, 0.0)
def hard_examples(model: nn.Module, loader, threshold=4.0):
    model.eval()
    hard = []
    for index, (x, y) in enumerate(loader):
        losses = F.cross_entropy(model(x), y, reduction="none")
        worst, _ = losses.max(dim=0)
        if worst > threshold:
            hard.append({"batch": index, "loss": worst, "labels": y})  # want: GL102 error graph
    return sorted(hard, key=lambda record: -record["loss"].item())
