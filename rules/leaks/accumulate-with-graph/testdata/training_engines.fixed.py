"""Libraries that make a model ready and run its backward pass."""

import deepspeed
import horovod.torch as hvd
import torch
import torch.nn.functional as F
import torchvision
from accelerate import Accelerator
from apex import amp
from lightning.fabric import Fabric
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def accelerated(loader, held_out):
    accelerator = Accelerator()
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    total = reduced = gathered = 0.0
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        total += loss.detach()
        reduced += accelerator.reduce(loss, reduction="mean").detach()
        gathered += accelerator.gather(loss.detach()).mean()
        accelerator.log({"loss": loss})
    model.eval()
    evaluated = 0.0
    with torch.no_grad():
        for x, y in held_out:
            evaluated += F.mse_loss(accelerator.unwrap_model(model)(x), y)
    print(total, reduced, gathered, evaluated)


def with_fabric(loader):
    fabric = Fabric(devices=1)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(loader)
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        fabric.backward(loss)
        optimizer.step()
        total += loss.detach()
        fabric.log("loss", loss)
    fabric.print(total / len(loader))


def with_deepspeed(args, loader):
    net = Net()
    engine, _, _, _ = deepspeed.initialize(args=args, model=net, model_parameters=net.parameters())
    total = 0.0
    ratio = 0.0
    for x, y in loader:
        out = engine(x)
        loss = F.cross_entropy(out, y)
        engine.backward(loss)
        engine.step()
        total += loss.detach()
        ratio += (out.argmax(1) == y).float().mean()
    print(total, ratio)


def with_apex(loader):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        total += loss.detach()
    print(total)


def with_horovod(loader):
    model = Net()
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    total = exact = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += hvd.allreduce(loss, name="loss").detach()
        exact += hvd.allreduce(loss.detach(), name="loss")
    print(total, exact)


def models_of_a_library(loader, held_out, device):
    model = torchvision.models.resnet18(num_classes=10).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    model.eval()
    worst = 0.0
    with torch.no_grad():
        for x, y in held_out:
            worst += F.cross_entropy(model(x.to(device)), y)
    model.requires_grad_(False)
    for x, y in held_out:
        total = total.detach() + F.cross_entropy(model(x.to(device)), y)
    print(total, worst)
