"""The same in loops of one's own."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


# may change: what is printed is the mean of one epoch
def fit(model: nn.Module, train_loader: DataLoader, test_loader: DataLoader, optimizer, device, epochs: int):
    """Outside of the loop over the epochs by a line."""
    predictions = []
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, _ in test_loader:
                predictions.append(model(x.to(device)))  # want: GL202 warning values
        print(epoch, torch.cat(predictions).mean().item())


# once: trainer = Trainer(model, loader, optimizer)
# run: trainer.run(1)
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
