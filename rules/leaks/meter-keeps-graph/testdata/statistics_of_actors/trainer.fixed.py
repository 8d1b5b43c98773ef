"""The actor returns a loss and a mapping of statistics made from it."""

from base import BaseTrainer
from meters import Average


class Trainer(BaseTrainer):
    def cycle(self, loader):
        self.actor.train(loader.training)
        for data in loader:
            loss, statistics = self.actor(data)
            if loader.training:
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.update(statistics, loader.batch_size, loader)

    def train_epoch(self):
        for loader in self.loaders:
            if self.epoch % loader.interval == 0:
                self.cycle(loader)
        for meters in self.statistics.values():
            for meter in meters.values():
                meter.close()

    def update(self, new, n, loader):
        if loader.name not in self.statistics:
            self.statistics[loader.name] = {name: Average() for name in new.keys()}
        for name, value in new.items():
            if name not in self.statistics[loader.name]:
                self.statistics[loader.name][name] = Average()
            self.statistics[loader.name][name].update(value.detach(), n)


class CarefulTrainer(Trainer):
    def update(self, new, n, loader):
        numbers = {name: value.item() for name, value in new.items()}
        super().update(numbers, n, loader)
