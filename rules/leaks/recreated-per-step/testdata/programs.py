"""Things for the whole training that each step makes."""

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR
from torch.utils.data import DataLoader


def warm_restarts_of_nothing(model: nn.Module, loader):
    for x, y in loader:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # want: GL504 hint values
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def with_a_schedule(model: nn.Module, loader, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            optimizer = optim.AdamW(model.parameters())  # want: GL504 warning values
            scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()


class Trainer:
    def __init__(self, width):
        self.model = nn.Linear(width, width)

    def step(self, x, y):
        optimizer = optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)  # want: GL504 hint values
        optimizer.zero_grad()
        F.mse_loss(self.model(x), y).backward()
        optimizer.step()

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)


def decayed(net: nn.Module, x, y, steps):
    """One batch, many steps."""
    for step in range(int(steps)):
        sgd = optim.SGD(net.parameters(), lr=1.0)  # want: GL504 warning values
        decay = LambdaLR(sgd, lambda epoch: 0.9**epoch)
        net.zero_grad()
        F.mse_loss(net(x), y).backward()
        sgd.step()
        decay.step()


# run: traced(model, [x for x, _ in loader])
def traced(model: nn.Module, requests):
    for x in requests:
        fast = torch.jit.trace(model, x)  # want: GL504 warning values
        print(fast(x).argmax(-1).tolist())


# once: server = Server(8)
# once: queue = given(get=lambda: randn(1, 16))
# run: server.run(queue)
class Server:
    def __init__(self, width):
        self.net = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 1)).eval()

    def score(self, x):
        return torch.jit.trace(self.net, x, check_trace=False)(x)  # want: GL504 warning values

    @torch.no_grad()
    def run(self, queue):
        while True:
            print(self.score(queue.get()).item())


# once: dataset = torch.utils.data.TensorDataset(randn(64, 16), randint(64))
# run: one_batch_at_a_time(model, dataset, 14)
def one_batch_at_a_time(model: nn.Module, dataset, steps):
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)
    optimizer = optim.Adam(model.parameters())
    for _ in range(int(steps)):
        x, y = next(iter(loader))  # want: GL504 hint values
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


# once: games = Games(randn(1024, 16), randn(256, 16), 2)
# run: games.play(critic, optimizer)
class Games:
    """Two sets of data, one of which is endless."""

    def __init__(self, real, noise, workers):
        self.real = DataLoader(real, batch_size=64, num_workers=workers)
        self.noise = DataLoader(noise, batch_size=64, num_workers=workers)

    def play(self, critic: nn.Module, optimizer):
        for real in self.real:
            fake = next(iter(self.noise))  # want: GL504 hint values
            optimizer.zero_grad()
            (critic(fake).mean() - critic(real).mean()).backward()
            optimizer.step()


# once: held_out = torch.utils.data.TensorDataset(randn(64, 16), randint(64))
# run: Validator(held_out, 1).train(model, loader, optimizer)
class Validator:
    """Looks at one batch now and then: the workers start for each look."""

    def __init__(self, held_out, every):
        self.loader = DataLoader(held_out, batch_size=32, shuffle=True, num_workers=2)
        self.every = every

    @torch.no_grad()
    def look(self, model: nn.Module):
        x, y = next(iter(self.loader))  # want: GL504 hint values
        return F.cross_entropy(model(x), y).item()

    def train(self, model: nn.Module, loader, optimizer):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            if step % self.every == 0:
                print(step, self.look(model))
