import torch
import torch.nn.functional as F
from torch import nn, optim

from losses import sharpness


def returned(model: nn.Module, x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward(retain_graph=True)
    return loss


def discriminator_step(critic: nn.Module, fake, optimizer):
    optimizer.zero_grad()
    loss = critic(fake).mean()
    loss.backward(retain_graph=True)  # fake may carry the graph of a generator
    optimizer.step()


def handed_on(model: nn.Module, loader):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(retain_graph=True)
        print(sharpness(loss, model))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.loss = None

    def backward(self, x, y):
        self.loss = F.mse_loss(self.model(x), y)
        self.loss.backward(retain_graph=True)

    def step(self, batches, critic):
        for x, y in batches:
            self.compare = critic(self.model(x), y)
            self.compare.backward(retain_graph=True)


def unknown_losses(objective, loader):
    for batch in loader:
        objective.reconstruction(batch).backward(retain_graph=True)
        objective.regularisation().backward()


def asked_by_a_flag(model: nn.Module, loader, again):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(retain_graph=again)
        if again:
            (loss ** 2).backward()


def without_graph(loader):
    scale = torch.ones(3, requires_grad=True)
    for x in loader:
        x.backward(retain_graph=True)
        print(scale.grad)


def higher_order(model: nn.Module, loader):
    parameters = list(model.parameters())
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(create_graph=True)
        for p in parameters:
            torch.autograd.grad(p.grad.sum(), p, retain_graph=True)
            p.grad = None


def every_second(loader):
    model = nn.Linear(4, 4)
    for i, (x, y) in enumerate(loader):
        out = model(x)
        F.mse_loss(out, y).backward(retain_graph=True)
        if i % 2:
            out.norm().backward()
