"""Parts that are copied, that are nearly the whole, or whose whole is kept
anyway. That they are on no device keeps other rules silent."""

import torch
from torch import nn


@torch.no_grad()
def cloned(encoder: nn.Module, loader):
    encoder.eval()
    tokens = []
    for x in loader:
        tokens.append(encoder(x)[:, 0].clone())
    return torch.cat(tokens)


@torch.no_grad()
def computed(encoder: nn.Module, loader):
    """An operation makes a tensor of its own."""
    encoder.eval()
    tokens = []
    for x in loader:
        tokens.append(encoder(x)[:, 0] / 2)
    return torch.cat(tokens)


@torch.no_grad()
def chosen_by_a_list(encoder: nn.Module, loader):
    encoder.eval()
    tokens = []
    for x in loader:
        tokens.append(encoder(x)[:, [0, 2]])
    return torch.cat(tokens)


@torch.no_grad()
def chosen_by_a_mask(encoder: nn.Module, loader):
    encoder.eval()
    tokens = []
    for x, mask in loader:
        tokens.append(encoder(x)[mask])
    return torch.cat(tokens)


@torch.no_grad()
def brought_from_the_device(encoder: nn.Module, loader, device):
    """The copy to the host is of the part only."""
    encoder.eval()
    tokens = []
    for x in loader:
        tokens.append(encoder(x.to(device))[:, 0].cpu())
    return torch.cat(tokens)


@torch.no_grad()
def nearly_all(encoder: nn.Module, loader):
    encoder.eval()
    tokens = []
    for x in loader:
        tokens.append(encoder(x)[:, 1:])
    return torch.cat(tokens)


@torch.no_grad()
def whole_is_kept_too(encoder: nn.Module, loader):
    encoder.eval()
    hidden_states, first = [], []
    for x in loader:
        hidden = encoder(x)
        hidden_states.append(hidden)
        first.append(hidden[:, 0])
    return torch.cat(hidden_states), torch.cat(first)


@torch.no_grad()
def one_image_at_a_time(encoder: nn.Module, loader):
    """The first and only row of a batch of one."""
    encoder.eval()
    rows = []
    for x in loader:
        rows.append(encoder(x.unsqueeze(0))[0])
    return rows


@torch.no_grad()
def used_at_once(encoder: nn.Module, loader):
    encoder.eval()
    total = torch.zeros(64)
    for x in loader:
        total += encoder(x)[:, 0].sum(0)
    return total


@torch.no_grad()
def reshaped(encoder: nn.Module, loader):
    """A view of all of it keeps no more than it has."""
    encoder.eval()
    flat = []
    for x in loader:
        flat.append(encoder(x).flatten(1).detach())
    return torch.cat(flat)


@torch.no_grad()
def last_only(encoder: nn.Module, loader):
    encoder.eval()
    token = None
    for x in loader:
        token = encoder(x)[:, 0]
    return token
