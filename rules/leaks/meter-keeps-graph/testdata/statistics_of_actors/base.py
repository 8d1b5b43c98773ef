"""Epochs over several loaders, whatever an epoch is."""


class BaseTrainer:
    def __init__(self, actor, loaders, optimizer, device):
        self.actor = actor
        self.loaders = loaders
        self.optimizer = optimizer
        self.actor.to(device)
        self.statistics = {}

    def train_epoch(self):
        raise NotImplementedError

    def train(self, epochs):
        for epoch in range(epochs):
            self.epoch = epoch
            self.train_epoch()
