"""The loss reaches the sum through functions, tuples, dicts, closures and
generators."""

import torch
import torch.nn.functional as F
from torch import nn, optim


def build():
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 1))
    return model, optim.SGD(model.parameters(), lr=0.1), nn.MSELoss()


def training_step(model, criterion, optimizer, batch):
    x, y = batch
    prediction = model(x)
    loss = criterion(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return {"loss": loss, "error": (prediction - y).abs().mean().item(), "batch_size": len(x)}


def train(loader):
    model, optimizer, criterion = build()
    total_loss, total_error, samples = 0.0, 0.0, 0
    for batch in loader:
        output = training_step(model, criterion, optimizer, batch)
        total_loss += output["loss"].detach()
        total_error += output["error"]
        samples += output["batch_size"]
    return total_loss / len(loader), total_error / len(loader), samples


def forward_losses(model, batch):
    x, y = batch
    prediction = model(x)
    return F.mse_loss(prediction, y), F.l1_loss(prediction, y).item()


def validate(loader):
    model, _, _ = build()
    model.eval()
    mse_total = mae_total = 0.0
    for batch in loader:
        mse, mae = forward_losses(model, batch)
        mse_total += mse  # want: GL101 error graph
        mae_total += mae
    return mse_total / len(loader), mae_total / len(loader)


def train_with_closure(loader):
    model, optimizer, criterion = build()
    total = 0.0

    def step(x, y):
        nonlocal total
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total = total + loss.detach()

    for x, y in loader:
        step(x, y)
    return total


def losses_of(model, criterion, loader):
    for x, y in loader:
        yield criterion(model(x), y)


def evaluate_stream(loader):
    model, _, criterion = build()
    total = 0.0
    for loss in losses_of(model, criterion, loader):
        total += loss.detach()
    return total.item()


grand_total = 0.0


def log_globally(loader):
    global grand_total
    model, optimizer, criterion = build()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        grand_total += loss.detach()
