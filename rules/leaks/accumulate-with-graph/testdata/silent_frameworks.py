"""What libraries on top of PyTorch do with a loss."""

import collections

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def detection(model, loader, opt, fabric):
    for images, targets in loader:
        loss_dict = model(images, targets)
        losses = sum(loss for loss in loss_dict.values())
        opt.zero_grad()
        fabric.backward(losses)
        opt.step()


def deepspeed(engine, loader):
    for batch in loader:
        loss = 0.0
        for chunk in batch:
            loss = loss + engine(chunk)
        engine.backward(loss)
        engine.step()


class EMA:
    def __init__(self, model, decay=0.999):
        self.model = model
        self.decay = decay
        self.shadow = {}

    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]


def with_ema(loader, opt):
    model = Net()
    ema = EMA(model)
    ema.register()
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        opt.step()
        ema.update()


def log_dict(loader, opt):
    model = Net()
    sums = collections.defaultdict(float)
    for x, y in loader:
        out = model(x)
        losses = {"a": F.mse_loss(out, y), "b": F.l1_loss(out, y)}
        loss = sum(losses.values())
        opt.zero_grad()
        loss.backward()
        opt.step()
        for k, v in {k: v.item() for k, v in losses.items()}.items():
            sums[k] += v
        for k, v in {k: v.detach() for k, v in losses.items()}.items():
            sums[k] += v
    return sums


def reduce_tensor(t):
    rt = t.clone()
    torch.distributed.all_reduce(rt)
    return rt / torch.distributed.get_world_size()


def distributed(loader, opt):
    model = Net()
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += reduce_tensor(loss.data)
    return total


class HFTrainer:
    def __init__(self, model, opt):
        self.model = model
        self.opt = opt

    def training_step(self, inputs):
        loss = self.model(**inputs).loss
        loss.backward()
        return loss.detach()

    def train(self, loader):
        tr_loss = torch.tensor(0.0)
        for inputs in loader:
            tr_loss_step = self.training_step(inputs)
            tr_loss += tr_loss_step
            self.opt.step()
            self.opt.zero_grad()
        return tr_loss


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def recurrent(loader, opt):
    rnn = nn.LSTM(4, 4)
    hidden = (torch.zeros(1, 1, 4), torch.zeros(1, 1, 4))
    total = 0.0
    for x, y in loader:
        hidden = repackage_hidden(hidden)
        out, hidden = rnn(x, hidden)
        loss = F.mse_loss(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()


def minimum(loader):
    model = Net()
    best = float("inf")
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        best = min(best, loss)
    print(best)


def adversarial(model, x, y, steps, eps):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + eps * delta.grad.sign()).clamp(-eps, eps)
        delta.grad.zero_()
    return delta.detach()


def ppo(policy, memory, opt, epochs):
    policy_losses = 0.0
    for _ in range(epochs):
        for batch in memory:
            ratio = torch.exp(policy(batch.states) - batch.log_probs)
            loss = -torch.min(ratio * batch.adv, ratio.clamp(0.8, 1.2) * batch.adv).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            opt.step()
            policy_losses += loss.item()
    return policy_losses
