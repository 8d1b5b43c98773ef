"""Steps whose outputs are taken by another hook, in a base class or by a callback."""

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch import Callback
from torch import nn


class AfterTheBatch(L.LightningModule):
    """Lightning hands what the steps return to the hooks behind them."""

    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, 10)
        self.train_outputs, self.val_outputs = [], []

    def training_step(self, batch, batch_idx):
        x, y = batch
        return {"loss": F.cross_entropy(self.net(x), y)}

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.train_outputs.append(outputs)  # want: GL202 hint values

    def on_train_epoch_end(self):
        outputs = self.train_outputs
        self.log("train_loss_epoch", torch.stack([x["loss"] for x in outputs]).mean())

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        return {"val_loss": F.cross_entropy(logits, y), "logits": logits}

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        self.val_outputs.append(outputs)  # want: GL202 warning values

    def on_validation_epoch_end(self):
        outputs = self.val_outputs
        self.log("val_loss_epoch", torch.stack([x["val_loss"] for x in outputs]).mean())


class Evaluated(L.LightningModule):
    """The loop over the steps, for models that say what to note."""

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.note(self.net(x), y)


class Regression(Evaluated):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, 1)
        self.residuals = []

    def note(self, out, y):
        self.residuals.append(out.squeeze(-1) - y)  # want: GL202 warning values

    def on_validation_epoch_end(self):
        residuals = torch.cat(self.residuals)
        self.log("rmse", residuals.square().mean().sqrt())


class Segmentation(Evaluated):
    def __init__(self, classes):
        super().__init__()
        self.net = nn.Conv2d(3, classes, 3, padding=1)
        self.maps = {"logits": [], "masks": []}

    def note(self, out, y):
        self.maps["logits"].append(out)  # want: GL202 warning values
        self.maps["masks"].append(y)

    def on_validation_epoch_end(self):
        hits = [(a.argmax(1) == b).float().mean() for a, b in zip(self.maps["logits"], self.maps["masks"])]
        self.log("accuracy", torch.stack(hits).mean())


class Embeddings(Callback):
    """Of whatever model it is given to."""

    def __init__(self):
        self.found = []

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        self.found.append(outputs["embedding"])  # want: GL202 hint values

    def on_validation_epoch_end(self, trainer, pl_module):
        found = torch.cat(self.found, dim=0)
        pl_module.log("spread", found.std(dim=0).mean())
