"""Hooks that keep nothing, or not for long."""

import torch
import torch.nn.functional as F
import torchvision
from torch import nn


def removed(model: nn.Module, images):
    found = []
    handle = model.backbone.register_forward_hook(lambda module, inputs, output: found.append(output))
    try:
        with torch.no_grad():
            model(images)
    finally:
        handle.remove()
    return found[0]


def removed_in_the_loop(loader):
    resnet = torchvision.models.resnet18()
    resnet.requires_grad_(False)
    for images in loader:
        maps = []
        handle = resnet.layer4.register_forward_hook(lambda m, i, o, maps=maps: maps.append(o))
        resnet(images)
        handle.remove()
        print(maps[0].shape)


def all_removed(loader):
    resnet = torchvision.models.resnet18()
    for images in loader:
        handles = [layer.register_forward_hook(lambda m, i, o: None) for layer in resnet.children()]
        with torch.no_grad():
            resnet(images)
        for handle in handles:
            handle.remove()


def set_up_once(model: nn.Module, log):
    for name, module in model.named_modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(lambda m, i, o, name=name: log(name, o.mean().item()))


def on_each_layer(layers, statistics):
    for layer in layers:
        layer.register_forward_hook(lambda m, i, o: statistics.update(o.std().item()))


def gradient_scaled(loader):
    trunk, head = nn.Linear(8, 8), nn.Linear(8, 2)
    for x, y in loader:
        hidden = trunk(x)
        hidden.register_hook(lambda grad: grad * 0.5)
        F.cross_entropy(head(hidden), y).backward()


def detached_copy(trunk: nn.Linear, head: nn.Linear, x, y):
    hidden = trunk(x)
    values = hidden.detach()
    hidden.register_hook(lambda grad: grad * (values > 0))
    F.cross_entropy(head(hidden), y).backward()


def of_an_earlier_layer(loader):
    first, second, head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 2)

    def one(x, y):
        early = torch.relu(first(x))
        late = torch.relu(second(early))
        late.register_hook(lambda grad: grad * early.detach().mean())
        F.cross_entropy(head(late), y).backward()

    for x, y in loader:
        one(x, y)


def one_variable_for_all(loader):
    """Each new tensor takes the place of the one before in the hooks' variable."""
    trunk, head = nn.Linear(8, 8), nn.Linear(8, 2)
    for x, y in loader:
        hidden = trunk(x)
        hidden.register_hook(lambda grad: grad * (hidden.detach() > 0))
        F.cross_entropy(head(hidden), y).backward()


def removed_from_the_tensor(trunk: nn.Linear, head: nn.Linear, x, y):
    hidden = trunk(x)
    handle = hidden.register_hook(lambda grad: grad * (hidden.detach() > 0))
    F.cross_entropy(head(hidden), y).backward()
    handle.remove()


def train_with_both(loader):
    trunk, head = nn.Linear(8, 8), nn.Linear(8, 2)
    for x, y in loader:
        detached_copy(trunk, head, x, y)
        removed_from_the_tensor(trunk, head, x, y)


class LongLived:
    """Its attribute is overwritten by each run."""

    def __init__(self):
        self.trunk = nn.Linear(8, 8)
        self.hidden = None

    def rescale(self, grad):
        return grad / self.hidden.detach().norm()

    def run(self, x):
        self.hidden = self.trunk(x)
        self.hidden.register_hook(self.rescale)
        self.hidden.sum().backward()


def run_all(loader):
    probe = LongLived()
    for x in loader:
        probe.run(x)


class Runner:
    """Has a method of that name, too."""

    def __init__(self):
        self.hooks = []

    def register_hook(self, hook):
        self.hooks = [hook]


def other_hooks(config, loader):
    runner = Runner()
    for x in loader:
        runner.register_hook(lambda: x)
        config.runner.register_hook(x)


def one_model_per_fold(folds):
    for train, test in folds:
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        seen = []
        model[1].register_forward_hook(lambda m, i, o, seen=seen: seen.append(o.detach().mean().item()))
        with torch.no_grad():
            model(test)
        print(sum(seen))
