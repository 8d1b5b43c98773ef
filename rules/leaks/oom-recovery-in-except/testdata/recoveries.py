import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, classes):
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, classes))
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.skipped = 0

    def loss(self, x, y):
        return F.cross_entropy(self.model(x), y)

    def rehearse(self, size):
        self.loss(torch.zeros(size, 64), torch.zeros(size).long()).backward()

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        try:
            self.loss(x, y).backward()
            self.optimizer.step()
        except RuntimeError as e:
            if "out of memory" in str(e):
                print("skipped a batch")
                self.skipped += 1
                self.rehearse(8)  # want: GL501 warning graph
            else:
                raise e


def halves(model: nn.Module, x):
    try:
        return model(x)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        middle = len(x) // 2
        return torch.cat([halves(model, x[:middle]), halves(model, x[middle:])])  # want: GL501 warning graph


def is_oom(error):
    return isinstance(error, RuntimeError) and "CUDA out of memory" in str(error)


def with_smaller_batch(loader):
    model = nn.Linear(64, 4)
    for x, y in loader:
        try:
            loss = F.cross_entropy(model(x), y)
        except RuntimeError as error:
            if not is_oom(error):
                raise
            loss = F.cross_entropy(model(x[:8]), y[:8])  # want: GL501 warning graph
        loss.backward()


def run_training(model: nn.Module, loader, scale):
    for x, y in loader:
        F.cross_entropy(model(x * scale), y).backward()


def main(model: nn.Module, loader):
    try:
        run_training(model, loader, 1.0)
    except torch.OutOfMemoryError:
        print("checkpointing")
        run_training(model, loader, 0.5)  # want: GL501 warning graph


def log(loader):
    agent = Agent(4)
    for x, y in loader:
        agent.train_step(x, y)
