"""The loop over the data; what a step is, classes that derive from this say."""

import torch


class Base:
    def __init__(self, model, optimizer, loader):
        self.model = model
        self.optimizer = optimizer
        self.loader = loader
        self.epoch_loss = 0.0
        self.history = []

    def step(self, batch):
        raise NotImplementedError

    def validate_batch(self, batch):
        raise NotImplementedError

    def fit(self, epochs):
        for epoch in range(epochs):
            self.epoch_loss = 0.0
            for batch in self.loader:
                loss = self.step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.history.append(float(self.epoch_loss))

    @torch.no_grad()
    def evaluate(self):
        for batch in self.loader:
            self.validate_batch(batch)
