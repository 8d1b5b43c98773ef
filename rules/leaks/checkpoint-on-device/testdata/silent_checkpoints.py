"""Checkpoints that are gone, elsewhere, or needed while the model trains."""

import torch
import torch.nn.functional as F
from torch import nn, optim

device = torch.device("cuda")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(784, 10)

    def forward(self, x):
        return self.body(x)


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()


def on_the_host(path, loader):
    model = Net().to(device)
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def on_the_host_by_a_device(path, loader):
    model = Net().to(device)
    checkpoint = torch.load(path, map_location=torch.device("cpu"))
    model.load_state_dict(checkpoint["model"])
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def on_the_host_by_a_function(path, loader):
    model = Net().to(device)
    checkpoint = torch.load(path, map_location=lambda storage, location: storage)
    model.load_state_dict(checkpoint["model"])
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def mapped(path, loader):
    """The tensors stay in the file until they are read."""
    model = Net().to(device)
    weights = torch.load(path, mmap=True)
    model.load_state_dict(weights)
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def assigned(path, loader):
    """The model goes on with the tensors of the checkpoint."""
    model = Net().to(device)
    weights = torch.load(path, map_location=device)
    model.load_state_dict(weights, assign=True)
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


# on purpose: only before PyTorch 2.1 does the optimizer copy its state
def optimizer_only(path, model: nn.Module, loader):
    """So does the optimizer with its state."""
    optimizer = optim.Adam(model.parameters())
    state = torch.load(path, map_location=device)
    optimizer.load_state_dict(state)
    train(model, loader, optimizer)


def deleted(path, loader):
    model = Net().to(device)
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    del checkpoint
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def let_go(path, loader):
    model = Net().to(device)
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    checkpoint = None
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def never_named(path, loader):
    model = Net().to(device)
    model.load_state_dict(torch.load(path, map_location=device))
    train(model, loader, optim.SGD(model.parameters(), lr=0.1))


def restore(model, path):
    """The local name is gone with the function."""
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    return checkpoint["epoch"]


def restored_by_a_helper(path, loader):
    model = Net().to(device)
    start = restore(model, path)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(start, 90):
        train(model, loader, optimizer)


def evaluation_only(path, loader):
    """One more copy of the weights, and no optimizer state or graph beside it."""
    model = Net().to(device)
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            print(F.cross_entropy(model(x.to(device)), y.to(device)).item())


def data_and_not_a_checkpoint(path):
    images, labels = torch.load(path, map_location=device)
    model = Net().to(device)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for i in range(0, len(images), 64):
        optimizer.zero_grad()
        F.cross_entropy(model(images[i : i + 64]), labels[i : i + 64]).backward()
        optimizer.step()


def a_whole_model(path, loader):
    """What was loaded is what is trained."""
    model = torch.load(path, map_location=device)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    train(model, loader, optimizer)


def loaded_again_each_time(paths, loader):
    model = Net().to(device)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for path in paths:
        weights = torch.load(path, map_location=device)
        model.load_state_dict(weights)
        del weights
        train(model, loader, optimizer)


def kept_number_only(path, loader):
    model = Net().to(device)
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    epoch = checkpoint["epoch"]
    del checkpoint
    for _ in range(epoch, 90):
        train(model, loader, optim.SGD(model.parameters(), lr=0.1))
