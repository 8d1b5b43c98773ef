"""Engines of Ignite: the function they are made with runs once a step, handlers at
their events."""

import torch
import torch.nn.functional as F
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn


def train(loader):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    numbers = []
    window = []
    per_epoch = []

    def step(engine, batch):
        x, y = batch
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    trainer = Engine(step)
    RunningAverage(output_transform=lambda x: x).attach(trainer, "loss")

    @trainer.on(Events.ITERATION_COMPLETED)
    def log(engine):
        losses.append(engine.state.output.detach())
        numbers.append(engine.state.output.item())
        window.append(engine.state.output)

    @trainer.on(Events.ITERATION_COMPLETED(every=100))
    def report(engine):
        print(sum(window) / len(window))
        window.clear()

    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda e: per_epoch.append(e.state.output.detach()))

    trainer.run(loader, max_epochs=3)


def evaluate(model: nn.Module, loader):
    outputs = []

    def step(engine, batch):
        with torch.no_grad():
            return model(batch)

    evaluator = Engine(step)

    @evaluator.on(Events.ITERATION_COMPLETED)
    def keep(engine):
        outputs.append(engine.state.output)

    evaluator.run(loader)
    return outputs


class Loop:
    def __init__(self, model, loader):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.total = 0.0
        self.engine = Engine(self.step)
        self.engine.add_event_handler(Events.ITERATION_COMPLETED, self.on_iteration)

    def step(self, engine, batch):
        x, y = batch
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss, "number": loss.item()}

    def on_iteration(self, engine):
        self.total += engine.state.output["loss"].detach()
