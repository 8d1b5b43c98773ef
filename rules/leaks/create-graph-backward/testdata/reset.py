import torch
import torch.nn.functional as F
from torch import nn, optim


# run: second_order_optimizer(feed(lambda: (randn(4, 8), randn(4, 1))), print)
def second_order_optimizer(loader, curvature):
    model = nn.Linear(8, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward(create_graph=True)  # want: GL402 hint graph
        curvature(model)
        optimizer.step()


def reset_at_the_end(model: nn.Module, loader, optimizer):
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward(create_graph=True, retain_graph=True)  # want: GL402 hint graph
        optimizer.step()
        model.zero_grad()


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward(create_graph=True)  # want: GL402 hint graph
        self.optimizer.step()
        return loss.item()


def every_fourth(loader):
    model = nn.Linear(8, 1)
    optimizer = optim.Adam(model.parameters())
    for i, (x, y) in enumerate(loader):
        (F.mse_loss(model(x), y) / 4).backward(create_graph=True)  # want: GL402 hint graph
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
