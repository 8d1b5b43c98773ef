"""Moving averages: the old value fades, its graph does not."""

import torch
import torch.nn.functional as F
from torch import nn


def train_with_smoothed_loss(model: nn.Module, loader, optimizer, beta=0.98):
    smoothed = 0.0
    for step, (x, y) in enumerate(loader, start=1):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smoothed = beta * smoothed + (1 - beta) * loss  # want: GL104 warning nodes
        print(f"{step}: {smoothed / (1 - beta ** step):.4f}")


def first_value_then_average(model: nn.Module, loader):
    average = None
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        if average is None:
            average = loss
        else:
            average = 0.9 * average + 0.1 * loss  # want: GL104 error graph
    return average.item()


class Learner:
    def __init__(self):
        self.network = nn.Linear(8, 2)
        self.baseline = torch.zeros(2)
        self.optimizer = torch.optim.Adam(self.network.parameters())

    def learn(self, batches):
        for states, returns in batches:
            values = self.network(states)
            loss = F.smooth_l1_loss(values, returns)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.baseline = torch.lerp(self.baseline, values.mean(dim=0), 0.05)  # want: GL104 error graph
