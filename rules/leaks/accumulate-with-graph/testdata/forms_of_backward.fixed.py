"""Backward passes in their forms: scaled, wrapped, deferred, of several losses."""

import torch
import torch.nn.functional as F
from timm.utils import NativeScaler
from torch import nn
from torch.cuda.amp import GradScaler, autocast


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def amp(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = GradScaler()
    total = 0.0
    for i, (x, y) in enumerate(loader):
        with autocast():
            loss = F.mse_loss(model(x), y) / 4
        scaler.scale(loss).backward()
        if i % 4 == 3:
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
        total += loss.detach()
    print(total)


# once: scaled = given(backward=lambda loss: loss.backward(), step=print)
# run: fp16(model, feed(lambda: (randn(4, 16), randn(4, 10))), scaled)
def fp16(model: nn.Module, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.backward(loss)
        optimizer.step()
        total += loss.detach()
    print(total)


# once: strategy = given(backward=lambda loss, retain_graph: loss.backward(retain_graph=retain_graph))
# run: Trainer(strategy).run_each(feed(lambda: (randn(4, 4), randn(4, 4))))
class Trainer:
    def __init__(self, strategy):
        self.model = Net()
        self.strategy = strategy
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.pending = []
        self.loss = None
        self.total = 0.0

    def forward(self, x, y):
        self.loss = F.mse_loss(self.model(x), y)
        self.pending.append(self.loss)

    def backward(self):
        self.loss.backward()

    def flush(self):
        torch.stack(self.pending).mean().backward()
        self.opt.step()
        self.pending = []

    def run(self, loader):
        for i, (x, y) in enumerate(loader):
            self.forward(x, y)
            if i % 8 == 7:
                self.flush()

    def run_each(self, loader):
        losses = []
        for x, y in loader:
            loss = F.mse_loss(self.model(x), y)
            self.opt.zero_grad()
            self.do_backward(loss)
            self.opt.step()
            losses.append(loss.detach())
        return [l.item() for l in losses]

    def do_backward(self, loss, retain=False):
        self.strategy.backward(loss.mean(), retain_graph=retain)


def data_parallel(loader):
    model = nn.DataParallel(Net())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for x, y in loader:
        losses = F.mse_loss(model(x), y, reduction="none")
        opt.zero_grad()
        losses.backward(torch.ones_like(losses))
        opt.step()
        total += losses.sum().detach()
    print(total)


def grad(loader):
    model = Net()
    params = list(model.parameters())
    total = 0.0
    norms = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        grads = torch.autograd.grad(outputs=loss, inputs=params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p -= 0.1 * g
        total += loss.detach()
        norms.append(sum(g.pow(2).sum() for g in grads))
    print(total)


def native(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_scaler = NativeScaler()
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss_scaler(loss, opt, clip_grad=1.0, parameters=model.parameters())
        total += loss.detach()
    print(total)


def several(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sums = {"a": 0.0, "b": 0.0, "c": 0.0}
    for x, y in loader:
        out = model(x)
        losses = {"a": F.mse_loss(out, y), "b": F.l1_loss(out, y), "c": out.pow(2).mean()}
        opt.zero_grad()
        torch.autograd.backward([losses["a"], losses["b"]])
        opt.step()
        sums["a"] += losses["a"].detach()
        sums["c"] += losses["c"].detach()


def alias(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    window = []
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y)
        window.append(loss)
        if len(window) == 8:
            objective = sum(window) / 8
            opt.zero_grad()
            objective.backward()
            opt.step()
            window.clear()


def lbfgs(loader):
    model = Net()
    opt = torch.optim.LBFGS(model.parameters())
    seen = []
    for x, y in loader:
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            seen.append(loss.detach())
            return loss
        opt.step(closure)
