"""Hooks that are registered again and again."""

import torch
import torch.nn.functional as F
import torchvision
from torch import nn


def extract(model: nn.Module, images):
    found = []
    model.backbone.register_forward_hook(lambda module, inputs, output: found.append(output))  # want: GL404 warning values
    with torch.no_grad():
        model(images)
    return found[0]


def features_of(loader):
    resnet = torchvision.models.resnet18()
    resnet.requires_grad_(False)
    for images in loader:
        maps = []
        resnet.layer4.register_forward_hook(lambda m, i, o, maps=maps: maps.append(o))  # want: GL404 warning values
        resnet(images)
        print(maps[0].shape)


def clipped(loader):
    model = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        model.weight.register_hook(lambda grad: grad.clamp(-1, 1))  # want: GL404 hint values
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


# may change: each hook that was removed no longer prints
def logged(loader):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    for step, x in enumerate(loader):
        model[1].register_forward_hook(lambda m, i, o: print(o.mean().item()))  # want: GL404 hint values
        print(model(x.detach()).argmax(1))


def compare(model: nn.Module, x, reference):
    outputs = {}

    def keep(module, inputs, output):
        outputs["last"] = output.detach()

    model.encoder.register_forward_hook(keep)  # want: GL404 warning values
    prediction = model(x.clone())
    difference = (outputs["last"] - reference).abs().max().item()
    return prediction.detach(), difference
