"""Loops whose steps stand in other files of the project."""

import torch
import steps
from model import build
from steps import train_step_detached, unguarded_step

from . import reduce as r


def train(loader, optimizer):
    model = build()
    leaking, sound, reduced, number, correct = 0.0, 0.0, 0.0, 0.0, 0
    for batch in loader:
        loss, hits = steps.train_step(model, batch, optimizer)
        leaking += loss.detach()
        reduced += r.average(loss).detach()
        number += r.average_value(loss)
        loss, hits = train_step_detached(model, batch, optimizer)
        sound += loss
        correct += hits
    print(leaking, sound, reduced, number, correct)


@torch.no_grad()
def evaluate(loader):
    model = build()
    model.eval()
    guarded, unguarded, size = 0.0, 0.0, 0
    for batch in loader:
        guarded += steps.evaluation_step(model, batch)
        output = unguarded_step(model, batch)
        unguarded += output["loss"] * output["size"]
        size += output["size"]
    return guarded / len(loader), unguarded.item() / size
