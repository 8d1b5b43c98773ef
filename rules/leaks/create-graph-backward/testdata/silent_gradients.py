import torch
import torch.nn.functional as F
from torch import nn, optim


def with_autograd_grad(loader):
    model = nn.Linear(8, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    parameters = list(model.parameters())
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        gradients = torch.autograd.grad(loss, parameters, create_graph=True)
        sharpness = sum(g.pow(2).sum() for g in gradients)
        optimizer.zero_grad()
        (loss + 0.1 * sharpness).backward()
        optimizer.step()


def none_after_use(loader):
    model = nn.Linear(8, 1)
    for x, y in loader:
        F.mse_loss(model(x), y).backward(create_graph=True)
        print(sum(p.grad.norm() for p in model.parameters()).item())
        for p in model.parameters():
            p.grad = None


def none_by_the_optimizer(loader):
    model = nn.Linear(8, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        F.mse_loss(model(x), y).backward(create_graph=True)
        optimizer.step()


def deleted(loader):
    weight = torch.randn(8, requires_grad=True)
    for x in loader:
        (x @ weight).sum().backward(create_graph=True)
        print(weight.grad.norm().item())
        del weight.grad


def model_dropped_without_gradients(batches):
    for x, y in batches:
        model = nn.Linear(8, 1)
        F.mse_loss(model(x), y).backward(create_graph=True)
        total = sum(p.grad.norm() for p in model.parameters()).item()
        for p in model.parameters():
            p.grad = None
        print(total)


def first_order(loader):
    model = nn.Linear(8, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        F.mse_loss(model(x), y).backward(create_graph=False)
        optimizer.step()
        optimizer.zero_grad()


def by_a_flag(model: nn.Module, loader, second_order):
    for x, y in loader:
        F.mse_loss(model(x), y).backward(create_graph=second_order)


def penalised_gradient(loader):
    critic = nn.Linear(8, 1)
    optimizer = optim.Adam(critic.parameters())
    for x in loader:
        x.requires_grad_()
        slope, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
        optimizer.zero_grad()
        ((slope.norm(dim=1) - 1) ** 2).mean().backward()
        optimizer.step()


def once(model: nn.Module, x, y):
    F.mse_loss(model(x), y).backward(create_graph=True)
    norms = [p.grad.norm().item() for p in model.parameters()]
    model.zero_grad(set_to_none=True)
    return norms
