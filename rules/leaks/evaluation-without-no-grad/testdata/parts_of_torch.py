"""A file that knows torch by its parts only."""

from torch import nn, optim
from torch.nn import functional as F


def test(model: nn.Module, loader):
    model.eval()
    hits = 0
    for i, (x, y) in enumerate(loader):
        hits += (model(x).argmax(1) == y).sum().item()  # want: GL301 hint graph
        # keep the log short
        if i > 100:
            break
    model.train()
    return hits


# run: fit(model, loaders, epochs, given(on_epoch_end=print))
def fit(model: nn.Module, loaders, epochs, hooks):
    optimizer = optim.Adam(model.parameters())
    for epoch in range(epochs):
        model.train()
        for x, y in loaders["train"]:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        for x, y in loaders["val"]:
            print(F.cross_entropy(model(x), y).item())  # want: GL301 hint graph
        hooks.on_epoch_end(epoch)
