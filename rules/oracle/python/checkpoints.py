"""Stands in for files that torch.load reads, and tells a device from the host by
what a program writes: there is no second memory here.
"""

import gc
import re

import torch
from torch import nn

import standins

NUMBER = re.compile(r"(.*_)?(epochs?|steps?|iterations?|best|loss|score|accuracy)$")


class Device(str):
    """The name of a device for which the CPU stands in."""


class Devices:
    """The devices that a program made of such names, and the one that it is given."""

    def __init__(self):
        self.made = []
        self.given = self.make(Device("cpu"))

    def make(self, *args, **kwargs):
        device = torch.device(*args, **kwargs)
        if any(isinstance(a, Device) for a in [*args, *kwargs.values()]):
            self.made.append(device)
        return device

    def has(self, place):
        return isinstance(place, Device) or any(place is device for device in self.made)

    def takes(self, location):
        """Whether tensors are on a device that are loaded with a map_location."""
        if callable(location):
            storage = _Storage()
            return location(storage, "cuda:0") is not storage
        return location is None or isinstance(location, dict) or self.has(location)


class _Storage:
    """A storage in host memory; what is made of it is somewhere else."""

    def cuda(self, *_):
        return _Storage()


def loader(scene, devices):
    """What torch.load is for a run: a checkpoint of the model that is there, or data."""

    def load(path, map_location=None, *_, mmap=False, **__):
        if "load" in str(path) or "data" in str(path):
            return scene.feed()
        place = torch.clone if devices.takes(map_location) and not mmap else standins.moved
        return Checkpoint({name: place(value.detach()) for name, value in _weights(scene).items()})

    return load


def _weights(scene):
    """Those of the network that the program made last, or is given."""
    modules = [o for o in gc.get_objects() if isinstance(o, nn.Module)]
    parts = {id(part) for module in modules for part in module.modules() if part is not module}
    networks = [m for m in modules if id(m) not in parts and any(True for _ in m.parameters())]
    networks = scene.models[:1] + networks
    return networks[-1].state_dict() if networks else {"weight": torch.zeros(standins.FEATURES)}


class Checkpoint(dict):
    """Has weights, also under each name that it is asked for, and numbers where a
    name says so."""

    def __missing__(self, name):
        self[name] = 0 if NUMBER.match(str(name)) else Checkpoint(self)
        return self[name]


def install():
    """Lets models load what fits of a checkpoint, and optimizers none of it."""
    load = nn.Module.load_state_dict

    def fitting(self, state, *args, **kwargs):
        if not isinstance(state, Checkpoint):
            return load(self, state, *args, **kwargs)
        own = self.state_dict()
        kept = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
        kwargs.pop("strict", None)
        return load(self, kept, *args[1:], strict=False, **kwargs)

    restore = torch.optim.Optimizer.load_state_dict
    nn.Module.load_state_dict = fitting
    torch.optim.Optimizer.load_state_dict = lambda self, state: None if isinstance(state, Checkpoint) else restore(self, state)
