"""Sums of numbers and of tensors without a graph."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def numbers(model: nn.Module, loader, optimizer):
    total_loss, correct, seen = 0.0, 0, 0
    for x, y in loader:
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * y.size(0)
        correct += logits.argmax(dim=1).eq(y).sum()
        seen += len(y)
    return total_loss / seen, correct / seen


def same_name_rebound(model: nn.Module, loader, optimizer):
    running = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss = loss.item()
        running += loss
    return running / len(loader)


def accuracy(logits, labels, topk=(1, 5)):
    with torch.no_grad():
        _, predicted = logits.topk(max(topk), 1, True, True)
        hits = predicted.t().eq(labels.view(1, -1))
        return [hits[:k].reshape(-1).float().sum(0) * 100.0 / labels.size(0) for k in topk]


def accuracies(model: nn.Module, loader):
    top1_sum = top5_sum = 0.0
    for x, y in loader:
        top1, top5 = accuracy(model(x), y)
        top1_sum += top1
        top5_sum += top5
    return top1_sum / len(loader), top5_sum / len(loader)


def train_step(model, batch, optimizer):
    optimizer.zero_grad()
    output = model(batch)
    loss = output.pow(2).mean()
    loss.backward()
    optimizer.step()
    return output, loss.detach()


def detached_by_the_step(model: nn.Module, loader, optimizer):
    total = 0.0
    for batch in loader:
        _, loss = train_step(model, batch, optimizer)
        total += loss
    return total / len(loader)


def detached_in_place(model: nn.Module, loader, optimizer):
    total = torch.zeros(())
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
        total.detach_()
    return total


def detached_each_step(model: nn.Module, loader):
    total = 0.0
    for x, y in loader:
        total = total + F.mse_loss(model(x), y)
        total = total.detach()
    return total


def moving_average_of_values(model: nn.Module, loader, optimizer):
    average = None
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        average = loss.detach() if average is None else 0.9 * average + 0.1 * loss.detach()
    return average


def update_target_network(online: nn.Module, target: nn.Module, tau=0.005):
    for p, q in zip(online.parameters(), target.parameters()):
        q.data.copy_(tau * p.data + (1.0 - tau) * q.data)


def confusion(model: nn.Module, loader, classes=10):
    matrix = torch.zeros(classes, classes, dtype=torch.long)
    hits = torch.zeros(classes)
    for x, y in loader:
        predicted = model(x).max(1)[1]
        for t, p in zip(y.view(-1), predicted.view(-1)):
            matrix[t.long(), p.long()] += 1
        hits += (predicted == y).float().sum()
    return matrix, hits


def with_numpy(data, targets, steps=1000, rate=0.1):
    """Everything is called loss, and nothing is a tensor."""
    weights = np.zeros(data.shape[1])
    total_loss = 0.0
    for _ in range(steps):
        error = data @ weights - targets
        loss = (error ** 2).mean()
        weights -= rate * data.T @ error / len(targets)
        total_loss += loss
    return total_loss / steps


def gradient_norms(model: nn.Module, loader, optimizer):
    norm_sum = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        squares = 0.0
        for p in model.parameters():
            squares += p.grad.norm() ** 2
        norm_sum += squares.sqrt()
        optimizer.step()
    return norm_sum / len(loader)
