"""Lists that outlive the function that fills them."""

import torch
import torch.nn.functional as F
from torch import nn


class Recorder:
    """Runs for the whole training and is read at its end."""

    def __init__(self, model: nn.Module, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.train_losses = []
        self.test_outputs = []

    def train(self, loader):
        for x, y in loader:
            loss = F.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.train_losses.append(loss.detach())

    def test(self, loader):
        self.model.eval()
        for x, _ in loader:
            self.test_outputs.append(self.model(x))  # want: GL102 error graph
        return torch.cat(self.test_outputs).std().item()


sequence_losses = []


def train_recurrent(cell: nn.LSTMCell, head: nn.Linear, sequences, optimizer):
    for sequence, target in sequences:
        state = None
        for frame in sequence:
            state = cell(frame, state)
        loss = F.mse_loss(head(state[0]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sequence_losses.append(loss.detach())


def losses_by_class(model: nn.Module, loader, classes=10):
    per_class = [[] for _ in range(classes)]
    model.eval()
    for x, y in loader:
        losses = F.cross_entropy(model(x), y, reduction="none")  # want: GL301 hint graph
        for loss, label in zip(losses, y.tolist()):
            per_class[label].append(loss)  # want: GL102 error graph
    return [torch.stack(losses).mean().item() for losses in per_class]
