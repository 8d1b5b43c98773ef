"""Loops whose steps stand in other files of the project."""

import steps
from model import build
from steps import train_step_detached, unguarded_step

from . import reduce as r


def train(loader, optimizer):
    model = build()
    leaking, sound, reduced, number, correct = 0.0, 0.0, 0.0, 0.0, 0
    for batch in loader:
        loss, hits = steps.train_step(model, batch, optimizer)
        leaking += loss  # want: GL101 warning nodes
        reduced += r.average(loss)  # want: GL101 warning nodes
        number += r.average_value(loss)
        loss, hits = train_step_detached(model, batch, optimizer)
        sound += loss
        correct += hits
    print(leaking, sound, reduced, number, correct)


def evaluate(loader):
    model = build()
    model.eval()
    guarded, unguarded, size = 0.0, 0.0, 0
    for batch in loader:
        guarded += steps.evaluation_step(model, batch)
        output = unguarded_step(model, batch)  # want: GL301 hint graph
        unguarded += output["loss"] * output["size"]  # want: GL101 error graph
        size += output["size"]
    return guarded / len(loader), unguarded.item() / size
