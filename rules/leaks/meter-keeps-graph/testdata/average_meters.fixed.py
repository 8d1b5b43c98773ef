"""Meters that add up whatever they are given."""

import time

import torch
import torch.nn.functional as F
from torch import nn


class AverageMeter:
    """Computes and stores the average and current value."""

    def __init__(self, name, fmt=":f"):
        self.name = name
        self.fmt = fmt
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


def accuracy(output, target):
    with torch.no_grad():
        return output.argmax(dim=1).eq(target).float().mean()


def train(train_loader, model: nn.Module, criterion, optimizer, epoch, print_freq=10):
    batch_time = AverageMeter("Time", ":6.3f")
    losses = AverageMeter("Loss", ":.4e")
    top1 = AverageMeter("Acc@1", ":6.2f")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(train_loader):
        output = model(images)
        loss = criterion(output, target)
        top1.update(accuracy(output, target), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.detach(), images.size(0))
        batch_time.update(time.time() - end)
        end = time.time()
        if i % print_freq == 0:
            print(epoch, i, batch_time, losses, top1)


def validate(val_loader, model: nn.Module):
    losses = AverageMeter("Loss")
    model.eval()
    for images, target in val_loader:
        output = model(images)  # want: GL301 hint graph
        losses.update(F.cross_entropy(output, target), images.size(0))  # want: GL103 error graph
    return float(losses.avg)


class SmoothedValue:
    """A meter with an exponential average."""

    def __init__(self, momentum=0.95):
        self.momentum = momentum
        self.value = None

    def __call__(self, x):
        if self.value is None:
            self.value = 0.0
        self.value = self.momentum * self.value + (1 - self.momentum) * x
        return self.value


def train_with_smoothing(model: nn.Module, loader, optimizer):
    smooth = SmoothedValue()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {smooth(loss.detach()):.4f}")
