"""LightningModules: Lightning calls their methods once a step and once an epoch,
and runs the backward pass on what training_step returns."""

import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(pl.LightningModule):
    def __init__(self, backbone, lr=1e-3):
        super().__init__()
        self.backbone = backbone
        self.lr = lr
        self.epoch_loss = 0.0
        self.recent = 0.0
        self.validation_loss = 0.0

    def forward(self, x):
        return self.backbone(x)

    def on_train_epoch_start(self):
        self.epoch_loss = 0.0

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.epoch_loss += loss.detach()
        self.recent += loss
        if batch_idx % 100 == 99:
            print(self.recent / 100)
            self.recent = 0.0
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.validation_loss += F.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class Adversarial(pl.LightningModule):
    """Runs its own backward passes, of which one value is left out."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Linear(8, 8)
        self.critic = nn.Linear(8, 1)
        self.generator_loss = 0.0
        self.penalty = 0.0
        self.steps = 0

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = -self.critic(self.generator(batch)).mean()
        penalty = self.critic(batch).pow(2).mean()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        self.generator_loss = 0.9 * self.generator_loss + 0.1 * loss.detach()
        self.penalty += penalty  # want: GL101 error graph
        self.steps += 1


class ReturnsSeveral(pl.LightningModule):
    """The backward pass runs on the loss of the mapping only."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)
        self.auxiliary = nn.Linear(8, 2)
        self.total = 0.0
        self.aside = 0.0

    def training_step(self, batch, batch_idx):
        x, y = batch
        hidden = self.body(x)
        loss = F.cross_entropy(self.head(hidden), y)
        aside = F.cross_entropy(self.auxiliary(hidden), y)
        self.total += loss.detach()
        self.aside += aside  # want: GL105 error graph
        return {"loss": loss, "aside": aside.detach()}
