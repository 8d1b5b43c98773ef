"""A small part of each output is kept, as a view: the whole output stays."""

import numpy as np
import torch
from torch import nn


@torch.no_grad()
def class_tokens(encoder: nn.Module, loader, device):
    encoder.eval()
    tokens = []
    for images in loader:
        hidden = encoder(images.to(device))
        tokens.append(hidden[:, 0].clone())  # want: GL201 hint values
    return torch.cat(tokens)


@torch.no_grad()
def last_steps(model: nn.Module, loader):
    """On the host as well."""
    model.eval()
    last = []
    for batch in loader:
        last.append(model(batch)[:, -1, :].clone())
    return torch.stack(last)


def train_and_watch(model: nn.Module, loader, optimizer, device):
    """detach gives a view of the whole, and a part of it is a part of that."""
    first = []
    for x, y in loader:
        hidden = model(x.to(device))
        loss = (hidden.mean(dim=-1) - y.to(device)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        column = hidden.detach()[:, :1]
        first.append(column.clone())  # want: GL201 hint values
    print(torch.cat(first).mean().item())


@torch.no_grad()
def detections(detector: nn.Module, loader, device):
    """Columns of a table of boxes, several in one entry."""
    detector.eval()
    stats = []
    for images, targets in loader:
        found = detector(images.to(device))
        targets = targets.to(device)
        stats.append((found[:, 4].clone(), found[:, 5].clone(), targets[:, 0].clone()))  # want: GL201 hint values
    return [torch.cat(column).cpu().numpy() for column in zip(*stats)]


# once: layer = nn.Linear(16, 8)
# once: states = lambda x, output_hidden_states: given(hidden_states=layer(x))
# once: network = given(eval=lambda: given(cuda=lambda: states))
# run: Probe(network, "last").collect(feed(lambda: (["a"], randn(4, 5, 16))))
class Probe:
    def __init__(self, model, layer):
        self.model, self.layer = model.eval().cuda(), layer
        self.records = {}

    @torch.inference_mode()
    def collect(self, loader):
        records = []
        for names, x in loader:
            states = self.model(x.cuda(), output_hidden_states=True).hidden_states
            records.append({"names": names, "first": states[:, 0].float().clone()})  # want: GL201 hint values
        self.records[self.layer] = records


@torch.no_grad()
def channel(net: nn.Module, volumes):
    net.eval()
    return [net(volume)[..., 0].clone() for volume in volumes]


@torch.no_grad()
def edges(net: nn.Module, loader, device):
    net.to(device).eval()
    rows = []
    for index, x in enumerate(loader):
        out = net(x)
        rows += [out[:, :, :1].squeeze(-1).clone()]  # want: GL201 hint values
        if index % 50 == 0:
            print(index, len(rows))
    return rows


# once: names = [(str(i), randn(4, 5, 16)) for i in range(16)]
# run: by_name(nn.Linear(16, 8), names, device)
@torch.no_grad()
def by_name(encoder: nn.Module, loader, device):
    encoder.eval()
    table = {}
    for name, x in loader:
        table[name] = encoder(x.to(device))[:, 0, :].clone()  # want: GL201 hint values
    np.save("names.npy", np.array(list(table)))
    return table
