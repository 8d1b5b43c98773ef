"""Functions and classes that a function makes for code that is not here."""

import torch
import torch.nn.functional as F
import pytorch_lightning as pl
from torch import nn
from somewhere import runner


# once: step = make_step(model, 0.1)
# run: step(randn(4, 16), randn(4, 10))
def make_step(model, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    history = []

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
        return loss.item()

    return step


def evaluate_all(loader):
    def evaluate(model: nn.Module):
        total = 0.0
        for x, y in loader:
            total += F.mse_loss(model(x), y).detach()
        print(total)

    runner.register(evaluate)


def train(loader):
    class Lit(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.seen = []

        def training_step(self, batch, batch_idx):
            loss = self.fc(batch).sum()
            self.seen.append(loss.detach())
            return loss

    pl.Trainer().fit(Lit(), loader)


def attack(model, x, loader):
    def closure():
        adv = x + 1
        loss = model(adv).sum()
        loss.backward()
        return loss

    opt = torch.optim.LBFGS(model.parameters())
    opt.step(closure)
