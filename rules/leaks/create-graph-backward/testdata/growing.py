import torch
import torch.nn.functional as F
from torch import nn, optim


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


def never_reset(loader):
    model = Regressor()
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(create_graph=True)  # want: GL402 error graph
        optimizer.step()


# may change: gradients no longer add up from batch to batch
def hessian_diagonal(loader):
    model = Regressor()
    estimate = [torch.zeros_like(p) for p in model.parameters()]
    for x, y in loader:
        F.mse_loss(model(x), y).backward(create_graph=True)  # want: GL402 error graph
        for p, h in zip(model.parameters(), estimate):
            probe = torch.randn_like(p)
            product, = torch.autograd.grad((p.grad * probe).sum(), p, retain_graph=True)
            h += (product * probe).detach()
    return estimate


def zeroed_in_place(loader):
    """Zeroing the values of a gradient leaves its graph."""
    model = Regressor()
    for x, y in loader:
        F.mse_loss(model(x), y).backward(create_graph=True)  # want: GL402 error graph
        print(sum(p.grad.norm() for p in model.parameters()).item())
        for p in model.parameters():
            p.grad.data.zero_()


def a_model_per_task(tasks, lr):
    scores = []
    for support, query in tasks:
        learner = Regressor()
        loss = F.mse_loss(learner(support[0]), support[1])
        loss.backward(create_graph=True)  # want: GL402 error graph
        with torch.no_grad():
            for p in learner.parameters():
                p -= lr * p.grad
            scores.append(F.mse_loss(learner(query[0]), query[1]).item())
    return scores


def a_layer_per_batch(batches):
    for x in batches:
        probe = nn.Linear(x.shape[1], 1)
        torch.autograd.backward(probe(x).pow(2).mean(), create_graph=True)  # want: GL402 error graph
        print(probe.weight.grad.abs().sum().item())
