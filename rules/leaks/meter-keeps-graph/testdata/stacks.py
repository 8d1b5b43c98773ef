"""Managers that keep a tensor when their block is left in one of its ways."""

from torch import nn

stack = []


class Within:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        stack.append(self)
        return self

    def __exit__(self, *failure):
        print(len(stack))


class Returning(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        with Within(self.first(x)):  # want: GL103 error graph
            return self.last(x)
