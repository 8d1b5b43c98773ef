"""Train a small classifier, the way many scripts do."""
from __future__ import annotations

import argparse
import logging

import torch
import torch.nn.functional as F
from torch import nn

log = logging.getLogger(__name__)

KERNEL = r"""
extern "C" __global__ void scale(float *x, float s) {
    x[threadIdx.x] *= s;
}
"""


class AverageMeter:
    """Keep the running average of a metric.

    Args:
        name: what is averaged, e.g. ``"loss"``.
    """

    def __init__(self, name: str, fmt: str = ":f") -> None:
        self.name = name
        self.fmt = fmt
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = 0.0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        text = "{name} {val" + self.fmt + "} ({avg" + self.fmt + "})"
        return text.format(**self.__dict__)


class Net(nn.Module):
    def __init__(self, width=128, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(32, 64, 3, 1),
            nn.MaxPool2d(2),
        )
        self.head = nn.Linear(9216, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # The flatten keeps the batch.
        x = self.features(x)
        return F.log_softmax(self.head(torch.flatten(x, 1)), dim=1)


def train(args, model, device, loader, optimizer, epoch):
    """Train one epoch.

    Returns the average loss.
    """
    model.train()
    total_loss = 0
    history = []
    for step, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        total_loss += loss
        history.append(loss)
        if step % args.log_interval == 0:
            log.info(
                "epoch %d [%d/%d (%.0f%%)] loss %.6f",
                epoch,
                step * len(data),
                len(loader.dataset),
                100.0 * step / len(loader),
                loss.item(),
            )
        elif args.dry_run:
            break
    return total_loss / len(loader), {"history": history, "epoch": epoch}


@torch.no_grad()
def evaluate(model, device, loader):
    model.eval()
    correct, losses = 0, [0.0 for _ in range(2)]
    for data, target in loader:
        try:
            output = model(data.to(device))
        except RuntimeError as error:
            print(f"skipped {len(data)!r} rows: {error}")
            continue
        else:
            correct += (output.argmax(1) == target).sum().item()
        finally:
            losses[0] += 1
    with open("eval.txt", "w") as f:
        f.write(f"{correct / max(1, len(loader)):.3f}\n")
    return correct


def main():
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="An example")
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help="input batch size")
    parser.add_argument("--epochs", type=int, default=14)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = lambda lr: lr * 0.7
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, None, optimizer, epoch)
        while not evaluate(model, device, []):
            pass


if __name__ == "__main__":
    main()
