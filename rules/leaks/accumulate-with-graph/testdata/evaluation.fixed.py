"""Sums in evaluation code: no backward runs, so each iteration keeps its
activations."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features=64, classes=10):
        super().__init__()
        self.hidden = nn.Linear(features, 128)
        self.out = nn.Linear(128, classes)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


@torch.no_grad()
def validate(model: Classifier, loader, device="cuda"):
    """eval() changes dropout and batch norm, not the recording of a graph."""
    model.eval()
    val_loss, correct, count = 0.0, 0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        logits = model(images)
        val_loss += F.cross_entropy(logits, labels).detach()
        correct += (logits.argmax(dim=1) == labels).sum()
        count += labels.size(0)
    return val_loss / len(loader), correct / count


@torch.no_grad()
def perplexity(model: nn.Module, batches):
    total_nll = torch.zeros(1)
    tokens = 0
    for inputs, targets in batches:
        logits = model(inputs)
        nll = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), reduction="sum")
        total_nll = total_nll + nll
        tokens += targets.numel()
    return math.exp(total_nll.item() / tokens)


def compare_checkpoints(paths, loader):
    """The guard ends before the metric is computed."""
    model = Classifier()
    results = {}
    for path in paths:
        model.load_state_dict(torch.load(path, map_location="cpu"))
        error = 0.0
        for x, y in loader:
            with torch.no_grad():
                target = F.one_hot(y, 10).float()
            prediction = model(x).softmax(dim=-1)
            error += (prediction - target).pow(2).mean().detach()
        results[path] = error.item() / len(loader)
    return results


@torch.no_grad()
def mean_confidence(loader):
    model = Classifier().eval()
    confidence = 0.0
    for x, _ in loader:
        scores = model(x).softmax(dim=1)
        best, _ = scores.max(dim=1)
        confidence += best.mean().detach()
    return confidence / len(loader)


@torch.no_grad()
def evaluate_in_one_expression(model: Classifier, loader):
    loss = sum(F.cross_entropy(model(x), y) for x, y in loader)
    return loss.item() / len(loader)


@torch.no_grad()
def evaluate_with_gradients_back_on(model: Classifier, loader):
    total = 0.0
    for x, y in loader:
        with torch.enable_grad():
            loss = F.cross_entropy(model(x), y)
            total += loss.detach()
    return total


def main(loader):
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for _ in range(20):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(validate(model, loader), perplexity(model, loader), mean_confidence(loader))
        print(evaluate_in_one_expression(model, loader), evaluate_with_gradients_back_on(model, loader))
    print(compare_checkpoints(["last.pt", "best.pt"], loader))
