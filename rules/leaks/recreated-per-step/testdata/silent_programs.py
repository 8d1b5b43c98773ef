"""What is made once, what is made for something new, and what costs nothing."""

import copy

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader


def once(model: nn.Module, loader, epochs):
    optimizer = optim.Adam(model.parameters())
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()


def anew_for_each_epoch(model: nn.Module, loader, epochs):
    """It steps many times before it goes."""
    for epoch in range(epochs):
        optimizer = optim.Adam(model.parameters(), lr=0.1 / (epoch + 1))
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()


def plain_sgd(model: nn.Module, loader):
    """It remembers nothing."""
    for x, y in loader:
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


# on purpose: each fold has a model of its own
# run: a_model_for_each_fold([[0, 1], [2, 3], [0, 3]], randn(4, 16), randint(4) % 4)
def a_model_for_each_fold(folds, x, y):
    for fold in folds:
        model = nn.Linear(16, 4)
        optimizer = optim.Adam(model.parameters())
        optimizer.zero_grad()
        F.cross_entropy(model(x[fold]), y[fold]).backward()
        optimizer.step()
        print(model(x).argmax(-1).tolist())


# on purpose: each sample starts from the same weights
def adapted_to_each_sample(model: nn.Module, samples):
    """Starts from the same weights each time."""
    start = copy.deepcopy(model.state_dict())
    for x in samples:
        model.load_state_dict(start)
        optimizer = optim.Adam(model.parameters(), lr=1e-4)
        optimizer.zero_grad()
        model(x).softmax(-1).log().mean().backward()
        optimizer.step()
        print(model(x).argmax(-1).tolist())


# on purpose: each image has noise of its own
def perturbed_images(model: nn.Module, images):
    for image in images:
        noise = torch.zeros_like(image, requires_grad=True)
        optimizer = optim.Adam([noise], lr=0.1)
        optimizer.zero_grad()
        model(image + noise).mean().backward()
        optimizer.step()
        print(noise.detach().norm().item())


# on purpose: three rates are compared
def a_few_rates(model: nn.Module, x, y):
    for rate in (0.1, 0.01, 0.001):
        optimizer = optim.Adam(model.parameters(), lr=rate)
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def a_criterion_for_each_step(model: nn.Module, loader, optimizer):
    """Small objects that go at once."""
    for x, y in loader:
        criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


# run: traced_once(model, randn(4, 16), [x for x, _ in loader])
def traced_once(model: nn.Module, example, requests):
    fast = torch.jit.trace(model, example)
    for x in requests:
        print(fast(x).argmax(-1).tolist())


# on purpose: each network has a trace
# run: export_all([4, 8], randn(4, 16), pathlib.Path(written("")).parent)
@torch.no_grad()
def export_all(widths, x, folder):
    """A trace for each network."""
    for width in widths:
        model = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 1)).eval()
        torch.jit.trace(model, x).save(folder / f"{width}.pt")


# once: dataset = torch.utils.data.TensorDataset(randn(64, 16), randint(64))
# run: one_iterator(model, dataset, 5, optimizer)
def one_iterator(model: nn.Module, dataset, steps, optimizer):
    loader = DataLoader(dataset, batch_size=32, num_workers=4)
    batches = iter(loader)
    for _ in range(int(steps)):
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(loader)
            x, y = next(batches)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


# once: dataset = torch.utils.data.TensorDataset(randn(64, 16), randint(64))
# run: without_workers(model, dataset, 5, optimizer)
def without_workers(model: nn.Module, dataset, steps, optimizer):
    loader = DataLoader(dataset, batch_size=32)
    for _ in range(int(steps)):
        x, y = next(iter(loader))
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


# once: dataset = torch.utils.data.TensorDataset(randn(64, 16), randint(64))
# run: an_example(dataset)
def an_example(dataset):
    loader = DataLoader(dataset, batch_size=32, num_workers=4)
    x, y = next(iter(loader))
    return x.shape


# on purpose: each part has a loader of its own
# once: part = torch.utils.data.TensorDataset(randn(8, 16))
# run: first_of_each(["a", "b"], [part, part])
def first_of_each(names, parts):
    """The loop is over loaders."""
    for name, part in zip(names, parts):
        loader = DataLoader(part, num_workers=2)
        print(name, next(iter(loader))[0].shape)
