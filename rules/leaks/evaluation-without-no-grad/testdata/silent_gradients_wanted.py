"""Models in evaluation mode whose gradients are wanted."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.body(x)


def fgsm_accuracy(model: Net, loader, epsilon):
    model.eval()
    hits = 0
    for x, y in loader:
        x.requires_grad_()
        loss = F.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        adversarial = (x + epsilon * x.grad.sign()).detach()
        with torch.no_grad():
            hits += (model(adversarial).argmax(1) == y).sum().item()
    return hits


def saliency(model: Net, images):
    model.eval()
    maps = []
    for image in images:
        image = image.clone().requires_grad_(True)
        score = model(image[None])[0].max()
        (gradient,) = torch.autograd.grad(score, image)
        maps.append(gradient.abs().amax(0))
    return maps


def forces(model: Net, loader):
    """Energies are printed, forces are their gradients."""
    model.eval()
    for positions, target in loader:
        positions.requires_grad = True
        energy = model(positions).sum()
        force = -torch.autograd.grad(energy, positions)[0]
        print(energy.item(), F.l1_loss(force, target).item())


def fine_tune_with_fixed_statistics(model: Net, loader, optimizer):
    model.eval()  # keeps the statistics of batch norm
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def meta_test(model: Net, tasks):
    """Adapts to each task by a step of gradient descent, then evaluates."""
    model.eval()
    for support, support_y, query, query_y in tasks:
        loss = F.cross_entropy(model(support), support_y)
        grads = torch.autograd.grad(loss, list(model.parameters()))
        for p, g in zip(model.parameters(), grads):
            p.data -= 0.01 * g
        with torch.no_grad():
            print(F.cross_entropy(model(query), query_y).item())


def perceptual(generator: Net, loader, optimizer):
    """The features' graph carries the gradient to the generator."""
    features = Net().eval()
    for x in loader:
        loss = F.mse_loss(features(generator(x)), features(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def handed_to_an_engine(model: Net, loader, engine):
    model.eval()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        engine.optimize(loss)


def explained(model: Net, loader, fisher_of):
    """What gets the model with its output may differentiate."""
    model.eval()
    for x, y in loader:
        logits = model(x)
        print(fisher_of(model, logits))


def energies(model: Net, loader):
    """The caller decides what becomes of the graph."""
    model.eval()
    for x in loader:
        yield model(x).sum()


def last_output(model: Net, loader):
    model.eval()
    for x in loader:
        out = model(x)
    return out


@torch.no_grad()
def with_gradients_back_on(model: Net, loader):
    model.eval()
    for x, _ in loader:
        with torch.enable_grad():
            print(model(x).grad_fn.name())


def per_sample_norms(model: Net, loader):
    model.eval()
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        print(sum(p.grad.norm().item() for p in model.parameters()))
        model.zero_grad()
