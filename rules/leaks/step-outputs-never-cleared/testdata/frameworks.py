"""The same in callbacks and handlers of other frameworks."""

import torch
from catalyst import dl
from fastai.callback.core import Callback
from ignite.engine import Engine, Events
from torch import nn


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
