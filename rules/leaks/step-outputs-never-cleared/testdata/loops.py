"""The same in other frameworks and in loops of one's own."""

import torch
import torch.nn.functional as F
from catalyst import dl
from fastai.callback.core import Callback
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader


class Scores(dl.Callback):
    def __init__(self):
        super().__init__(order=100)
        self.scores = []

    def on_batch_end(self, runner):
        with torch.no_grad():
            self.scores.append(runner.model(runner.batch["features"]))  # want: GL202 warning values

    def on_loader_end(self, runner):
        runner.loader_metrics["spread"] = torch.cat(self.scores).std().item()


class CollectPredictions(Callback):
    def before_fit(self):
        self.predictions = []

    def after_batch(self):
        self.predictions.append(self.pred.detach().cpu())  # want: GL202 warning values

    def after_epoch(self):
        print(torch.cat(self.predictions).shape)


def evaluator(model: nn.Module, loader, epochs, device):
    """Handlers of an engine share a list."""
    model.eval()
    kept = []

    def step(engine, batch):
        with torch.no_grad():
            logits = model(batch[0].to(device))
        kept.append(logits)  # want: GL202 warning values
        return logits

    engine = Engine(step)

    @engine.on(Events.EPOCH_COMPLETED)
    def report(engine):
        print("entropy", torch.distributions.Categorical(logits=torch.cat(kept)).entropy().mean())

    engine.run(loader, max_epochs=epochs)


def fit(model: nn.Module, train: DataLoader, held_out: DataLoader, optimizer, device, epochs: int):
    """Outside of the loop over the epochs by a line."""
    predictions = []
    for epoch in range(epochs):
        model.train()
        for x, y in train:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, _ in held_out:
                predictions.append(model(x.to(device)))  # want: GL202 warning values
        print(epoch, torch.cat(predictions).mean().item())


class Trainer:
    def __init__(self, model: nn.Module, loader, optimizer):
        self.model = model.cuda()
        self.loader = loader
        self.optimizer = optimizer
        self.outputs = {"logits": []}

    def run(self, epochs):
        for _ in range(epochs):
            for batch in self.loader:
                self.step(batch)
            self.finish()

    def step(self, batch):
        logits = self.model(batch["x"].cuda())
        loss = F.cross_entropy(logits, batch["y"].cuda())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.outputs["logits"].append(logits.detach())  # want: GL202 warning values

    def finish(self):
        print("mean", torch.cat(self.outputs["logits"]).mean().item())
