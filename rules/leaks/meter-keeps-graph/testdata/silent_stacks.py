"""Managers that keep a tensor while their block runs."""

from torch import nn

stack = []


class Within:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        stack.append(self)
        return self

    def __exit__(self, *failure):
        if stack[-1] is self:
            stack.pop()


class Returning(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        h = self.first(x)
        with Within(h):
            return self.last(h)


def continuing(model: nn.Module, loader, optimizer):
    for x, _ in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with Within(loss):
            if loss > 1:
                continue
            print(loss.item())
