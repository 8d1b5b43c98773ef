"""Evaluation in classes, helpers and scripts, under another name for torch."""

import argparse

import torch as th
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion

    def train_epoch(self, loader):
        self.model.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.optimizer.step()

    def evaluate(self, loader):
        self.model.eval()
        total = 0.0
        for x, y in loader:
            loss = self.criterion(self.model(x), y)  # want: GL301 hint graph
            total += loss.item() * len(x)
        return total / len(loader.dataset)


# once: images = feed(lambda: (randn(4, 784),))
# run: Autoencoder().reconstruction_error(images)
# run: Autoencoder.compare(Autoencoder(), images)
class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 16))
        self.decode = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 784))

    def forward(self, x):
        return self.decode(self.encode(x))

    @th.no_grad()
    def reconstruction_error(self, loader):
        self.eval()
        errors = []
        for (x,) in loader:
            errors.append(F.mse_loss(self(x), x).item())
        return errors

    @staticmethod
    @th.no_grad()
    def compare(a: "Autoencoder", loader):
        a.eval()
        worst = 0.0
        for (x,) in loader:
            code = a.encode(x)
            worst = max(worst, code.abs().max().item())
        return worst


@th.no_grad()
def eval_step(model: Autoencoder, batch):
    rebuilt = model(batch)
    return F.l1_loss(rebuilt, batch).item()


def run_eval(model: Autoencoder, loader):
    model.eval()
    return sum(eval_step(model, x) for x in loader)


def distill(student: Autoencoder, loader, optimizer):
    """The teacher's graph is dropped by detach, step after step."""
    teacher = Autoencoder().eval()
    student.train()
    for x in loader:
        with th.no_grad():
            target = teacher(x).detach()
        loss = F.mse_loss(student(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# once: explainers = given(deletion_score=lambda model, x: 0.5)
# run: attributed(Autoencoder(), feed(lambda: randn(4, 784)), explainers)
def attributed(model: Autoencoder, loader, explainers):
    """What the explainer does with the model is not known."""
    model.eval()
    for x in loader:
        with th.no_grad():
            error = F.mse_loss(model(x), x)
        print(error.item(), explainers.deletion_score(model, x))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    args = parser.parse_args()
    net = Autoencoder()
    net.load_state_dict(th.load("best.pt", map_location="cpu"))
    net.eval()
    with th.no_grad():
        for batch in th.utils.data.DataLoader(th.load(args.data), batch_size=64):
            error = F.mse_loss(net(batch), batch)
            print(float(error))
