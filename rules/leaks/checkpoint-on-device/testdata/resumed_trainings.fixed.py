"""Trainings that go on from a checkpoint and keep it on the device."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn, optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.body(x)


def train_epoch(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()


def resume(path, loader, epochs):
    model = Net().to(device)
    optimizer = optim.AdamW(model.parameters(), lr=3e-4)
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    for epoch in range(epochs):
        train_epoch(model, loader, optimizer)


def resume_with_progress(args, loader):
    """Where the other entries are needed is not known."""
    model = Net().cuda()
    optimizer = optim.AdamW(model.parameters(), lr=3e-4)
    start = 0
    if args.resume:
        state = torch.load(args.resume, map_location=f"cuda:{args.gpu}")  # want: GL303 hint values
        model.load_state_dict(state["state_dict"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"] + 1
    for epoch in range(start, args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()
            optimizer.step()


def fine_tune(path, loader):
    """Without map_location the tensors go back to the device of the training."""
    model = Net().cuda()
    pretrained = torch.load(path, map_location="cpu")
    model.load_state_dict(pretrained, strict=False)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()


def without_the_head(path, loader):
    """The new dict refers to the same tensors."""
    model = Net().cuda()
    weights = {
        name: value
        for name, value in torch.load(
            path,
            weights_only=True,
            map_location="cpu",
        ).items()
        if not name.startswith("body.2")
    }
    model.load_state_dict(weights, strict=False)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()


def only_half_deleted(path, loader):
    """The inner dict still holds the tensors of the model."""
    model = Net().to(device)
    checkpoint = torch.load(path, "cpu")
    weights = checkpoint["model"]
    model.load_state_dict(weights)
    del checkpoint
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for _ in range(100):
        train_epoch(model, loader, optimizer)


# once: inspector = given(compare=lambda model, weights: print(len(weights)))
# run: inspected(path, loader, inspector)
def inspected(path, loader, inspector):
    """What else is done with it is not known."""
    model = Net().cuda()
    pretrained = torch.load(path, map_location="cuda")  # want: GL303 hint values
    inspector.compare(model, pretrained)
    model.load_state_dict(pretrained)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for _ in range(100):
        train_epoch(model, loader, optimizer)


def read(path):
    return torch.load(path, map_location="cpu")


def from_a_helper(path, loader):
    model = Net().to("cuda:0")
    saved = read(path)
    model.load_state_dict(saved["model"])
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for _ in range(100):
        train_epoch(model, loader, optimizer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint")
    options = parser.parse_args()
    net = Net().to(device)
    ckpt = torch.load(options.checkpoint, map_location="cpu")
    net.load_state_dict(ckpt["net"])
    sgd = optim.SGD(net.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.load("data.pt"), batch_size=64)
    for epoch in range(90):
        train_epoch(net, data, sgd)
