"""Lists and sums in nested loops, each with its own end."""

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


def losses_of(model, batches):
    for x, y in batches:
        yield F.mse_loss(model(x), y)


def full_batch(model: nn.Module, batches, opt):
    for _ in range(10):
        opt.zero_grad()
        sum(losses_of(model, batches)).backward()
        opt.step()


def closure_lbfgs(model: nn.Module, batches):
    opt = torch.optim.LBFGS(model.parameters())
    history = []
    for _ in range(20):
        def closure():
            opt.zero_grad()
            total = 0.0
            for x, y in batches:
                total = total + F.mse_loss(model(x), y)
            total.backward()
            history.append(total.item())
            return total
        opt.step(closure)
    return history


def micro_batches(model: nn.Module, loader, opt):
    for x, y in loader:
        opt.zero_grad()
        losses = []
        for xs, ys in zip(x.chunk(4), y.chunk(4)):
            loss = F.mse_loss(model(xs), ys) / 4
            loss.backward()
            losses.append(loss)
        opt.step()
        print(sum(losses).item())


def contrastive_pairs(model: nn.Module, loader, opt):
    for batch in loader:
        embeddings = []
        for view in batch:
            embeddings.append(model(view))
        z = torch.cat(embeddings)
        loss = (z @ z.t()).logsumexp(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def grad_accumulate_later(model: nn.Module, loader, opt):
    pending = []
    for i, (x, y) in enumerate(loader):
        pending.append(F.mse_loss(model(x), y))
        if len(pending) == 8:
            opt.zero_grad()
            torch.stack(pending).mean().backward()
            opt.step()
            pending = []


def moment(model: nn.Module, loader):
    first, second, n = torch.zeros(4), torch.zeros(4), 0
    with torch.no_grad():
        for x in loader:
            h = model(x)
            first += h.sum(0)
            second += (h ** 2).sum(0)
            n += len(x)
    return first / n, second / n - (first / n) ** 2


def swa(model: nn.Module, averaged: nn.Module, loader, opt):
    for n, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        for a, p in zip(averaged.parameters(), model.parameters()):
            a.data = (a.data * n + p.data) / (n + 1)


def soft_update(net: nn.Module, target: nn.Module, tau, steps):
    for _ in range(steps):
        with torch.no_grad():
            for t, s in zip(target.parameters(), net.parameters()):
                t.mul_(1 - tau)
                t.add_(tau * s)


def named(model: nn.Module, loader, opt):
    sums = {}
    for x, y in loader:
        out = model(x)
        parts = dict(mse=F.mse_loss(out, y), l1=F.l1_loss(out, y))
        loss = parts["mse"] + parts["l1"]
        opt.zero_grad()
        loss.backward()
        opt.step()
        parts = {k: float(v) for k, v in parts.items()}
        for k in parts:
            sums[k] = sums.get(k, 0.0) + parts[k]
    return sums


class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)
        self.epoch_losses = []
        self.outputs = []
        self.ema = None

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.epoch_losses.append(loss.detach())
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.outputs.append(loss)
        self.log("val", loss)

    def on_validation_epoch_end(self):
        print(torch.stack(self.outputs).mean())
        self.outputs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class Pyramid(nn.Module):
    """A tuple that grows from layer to layer, and is gone with the call."""

    def __init__(self, blocks: nn.ModuleList):
        super().__init__()
        self.blocks = blocks

    def forward(self, x):
        levels = (x,)
        for block in self.blocks:
            x, more = block(x)
            levels += more
        return [level.sum() for level in levels]


def with_a_pyramid(pyramid: Pyramid, loader, optimizer):
    for x, _ in loader:
        levels = pyramid(x)
        loss = levels[-1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
