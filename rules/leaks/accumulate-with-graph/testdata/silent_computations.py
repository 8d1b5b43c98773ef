"""Loops over parts of the program: layers, axes, steps of an integrator. What they
compute depends on the last step, and nothing else is added."""

import torch
import torch.nn.functional as F
from torch import nn


def gp(D, real, fake):
    a = torch.rand(real.size(0), 1, 1, 1)
    x = (a * real + (1 - a) * fake).requires_grad_(True)
    d = D(x)
    grads = torch.autograd.grad(outputs=d, inputs=x, grad_outputs=torch.ones_like(d), create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((grads.view(grads.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


def reduce_axes(weight: nn.Parameter, axes):
    w = weight
    for axis in axes:
        w, _ = w.max(axis, keepdim=True)
    print(w)


def compose(layers: nn.ModuleList, x):
    for layer in layers:
        x = layer(x)
    print(x.mean().item())


# may grow: it is one computation, as deep as it has steps
def iterate_map(model: nn.Module, x, steps):
    for _ in range(steps):
        x = model(x)
    print(x.mean().item())


def ode(f: nn.Module, x, ts):
    for t0, t1 in zip(ts, ts[1:]):
        x = x + (t1 - t0) * f(x)
    print(x.norm().item())


def leaves(shapes, steps):
    xs = [torch.zeros(s, requires_grad=True) for s in shapes]
    opt = torch.optim.LBFGS(xs)
    for _ in range(steps):
        opt.zero_grad()
        sum((x ** 2).sum() for x in xs).backward()
        opt.step()


def ensemble_weights(models, w):
    params = [p for m in models for p in m.parameters()]
    flat = torch.cat([p.flatten() for p in params])
    print(flat.norm())
