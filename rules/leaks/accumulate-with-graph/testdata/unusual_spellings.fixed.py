"""Ways to add up that do not look like total += loss."""

import operator
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm, trange


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def wrapped(loader, rank):
    model = nn.parallel.DistributedDataParallel(Net().to(rank), device_ids=[rank])
    model = torch.compile(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for x, y in tqdm(loader, desc="train"):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.detach()
    print(float(total))


def while_loop(loader, steps):
    model = Net()
    it = iter(loader)
    step, total = 0, 0.0
    while step < steps:
        try:
            x, y = next(it)
        except StopIteration:
            it = iter(loader)
            continue
        loss = F.mse_loss(model(x), y)
        total, step = total + loss.detach(), step + 1
    print(total.item())


def with_lambda(loader):
    model = Net()
    crit = lambda p, t: ((p - t) ** 2).mean()
    total = 0.0
    for epoch in trange(3):
        for x, y in loader:
            total += ((loss := crit(model(x), y)).detach())
            print(loss.item())
    print(total.item())


MODELS = {"net": Net, "other": Net}


# run: from_registry("net", loader)
def from_registry(name, loader):
    model = MODELS[name]()
    sums = {}
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        sums["mse"] = sums.get("mse", 0.0) + loss.detach()
    print(sums["mse"].item())


def stacked(loader, opt):
    model = Net()
    stats = torch.zeros(2)
    for x, y in loader:
        out = model(x)
        a, b = F.mse_loss(out, y), F.l1_loss(out, y)
        opt.zero_grad()
        (a + b).backward()
        opt.step()
        stats = stats + torch.stack([a, b]).detach()
    print(stats)


def namespaces(loader, opt):
    model = Net()
    state = SimpleNamespace(total=0.0, n=0)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        state.total += loss.detach()
        state.n += 1
    print(state.total / state.n)


def functional_add(loader):
    model = Net()
    a = torch.zeros(())
    b = 0.0
    c = torch.zeros(())
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        a = torch.add(a, loss.detach())
        b = operator.add(b, loss.detach())
        c = torch.stack([c, loss.detach()]).sum()
    print(a.item(), b.item(), c.item())


def cell(loader):
    model = Net()
    acc = [0.0]

    def add(x, y):
        acc[0] += F.mse_loss(model(x), y).detach()

    for x, y in loader:
        add(x, y)
    print(acc[0].item())


class Base:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def compute_loss(self, batch):
        raise NotImplementedError

    def run(self, loader):
        total = 0.0
        for batch in loader:
            loss = self.compute_loss(batch)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.detach()
        return total / len(loader)


class Regression(Base):
    def compute_loss(self, batch):
        return F.mse_loss(self.model(batch["x"]), batch["y"])


def go(loader):
    return Regression(Net()).run(loader)


STATE = {"loss": 0.0}


def module_state(loader, opt):
    model = Net()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        STATE["loss"] += loss.detach()


async def streaming(stream):
    model = Net()
    total = 0.0
    async for x, y in stream:
        total += F.mse_loss(model(x), y).detach()
    print(total.item())


# run: matched(loader, "l1")
# run: matched(loader, "l2")
def matched(loader, kind):
    model = Net()
    total = 0.0
    for x, y in loader:
        match kind:
            case "l1":
                total += F.l1_loss(model(x), y).detach()
            case _:
                total += F.mse_loss(model(x), y).detach()
    print(total.item())


def incremental_mean(loader):
    model = Net()
    mean = torch.zeros(4)
    for n, (x, _) in enumerate(loader, 1):
        mean += (model(x).mean(0).detach() - mean) / n
    print(mean)


class Running:
    def __init__(self):
        self.__total = 0.0

    @property
    def total(self):
        return self.__total

    @total.setter
    def total(self, value):
        self.__total = value


def through_a_property(loader):
    model = Net()
    running = Running()
    for x, y in loader:
        running.total += F.mse_loss(model(x), y)  # want: GL101 error graph
    print(float(running.total))
