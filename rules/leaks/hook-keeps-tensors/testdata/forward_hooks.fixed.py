"""Hooks that modules call with what comes out of them."""

import torch
import torch.nn.functional as F
import torchvision
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def features(loader, opt):
    net = Net()
    feats = []

    def hook(module, inputs, output):
        feats.append(output.detach())

    net.body.register_forward_hook(hook)
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def features_detached(loader, opt):
    net = Net()
    feats = []
    net.body.register_forward_hook(lambda m, i, o: feats.append(o.detach()))
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def cleared(loader, opt):
    net = Net()
    feats = []
    net.body.register_forward_hook(lambda m, i, o: feats.append(o))
    for x, y in loader:
        feats.clear()
        loss = F.cross_entropy(net(x), y) + feats[-1].pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


@torch.no_grad()
def evaluation(loader):
    model = torchvision.models.resnet18()
    model.eval()
    acts = {}
    kept = []

    def save(name):
        def hook(module, inputs, output):
            acts[name] = output
            kept.append(output)
        return hook

    for name, m in model.named_modules():
        m.register_forward_hook(save(name))
    for x in loader:
        model(x)


def guarded(loader):
    model = torchvision.models.resnet18()
    kept = []
    model.layer4.register_forward_hook(lambda m, i, o: kept.append(o))
    with torch.no_grad():
        for x in loader:
            model(x)


def removed(loader):
    model = torchvision.models.resnet18()
    kept = []
    handle = model.layer4.register_forward_hook(lambda m, i, o: kept.append(o))
    model(next(iter(loader)))
    handle.remove()
    for x in loader:
        model(x)


def layer(model: nn.Module, loader, opt):
    kept = []
    model.layer4.register_forward_hook(lambda m, i, o: kept.append(o))  # want: GL404 warning nodes
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
