"""States that are cut, made anew, or unrolled on purpose."""

import torch
import torch.nn.functional as F
from torch import nn


def repackage(state):
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(repackage(part) for part in state)


class LanguageModel(nn.Module):
    def __init__(self, words=1000, width=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width)
        self.out = nn.Linear(width, words)

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(1, batch, 64), weight.new_zeros(1, batch, 64)

    def forward(self, tokens, hidden):
        out, hidden = self.lstm(self.words(tokens), hidden)
        return self.out(out), hidden


def train_by_truncation(model: LanguageModel, chunks, optimizer):
    hidden = model.init_hidden(20)
    for tokens, targets in chunks:
        hidden = repackage(hidden)
        logits, hidden = model(tokens, hidden)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_with_generator(chunks, optimizer):
    gru, read = nn.GRU(16, 16), nn.Linear(16, 16)
    h = torch.zeros(1, 4, 16)
    for x, y in chunks:
        out, h = gru(x, h.detach())
        loss = F.mse_loss(read(out), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def detached_tuple(chunks, optimizer):
    lstm, read = nn.LSTM(16, 16), nn.Linear(16, 16)
    state = None
    for x, y in chunks:
        if state is not None:
            state = tuple(s.detach() for s in state)
        out, state = lstm(x, state)
        loss = F.mse_loss(read(out), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def state_of_each_sequence(batches, optimizer):
    """The state starts anew with each batch."""
    cell, read = nn.GRUCell(8, 16), nn.Linear(16, 2)
    for batch, y in batches:
        h = torch.zeros(4, 16)
        for x in batch:
            h = cell(x, h)
        loss = F.cross_entropy(read(h), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def whole_sequence(steps, target, optimizer):
    """One backward after the loop runs through all of it."""
    cell, read = nn.LSTMCell(8, 16), nn.Linear(16, 1)
    h, c = torch.zeros(1, 16), torch.zeros(1, 16)
    for x in steps:
        h, c = cell(x, (h, c))
    loss = F.mse_loss(read(h), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@torch.no_grad()
def generate(model: LanguageModel, start, length):
    hidden = model.init_hidden(1)
    token, text = start, []
    for _ in range(length):
        logits, hidden = model(token, hidden)
        token = logits[-1].argmax(dim=-1, keepdim=True)
        text.append(token.item())
    return text


class Unrolled(nn.Module):
    """Steps within a module: what they make is gone when the call is over."""

    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(width, width)

    def forward(self, x):
        h = torch.zeros(x.shape[1], x.shape[2])
        for step in x:
            h = self.cell(step, h)
        return h


def reset_every_few(chunks, optimizer):
    gru, read = nn.GRU(16, 16), nn.Linear(16, 16)
    h, pending = torch.zeros(1, 4, 16), []
    for i, (x, y) in enumerate(chunks):
        out, h = gru(x, h)
        pending.append(F.mse_loss(read(out), y))
        if (i + 1) % 5 == 0:
            optimizer.zero_grad()
            torch.stack(pending).sum().backward()
            optimizer.step()
            pending.clear()
            h = h.detach()


def gradient_descent_on_an_input(model: nn.Module, x, y, steps=40, rate=0.01):
    """A leaf is moved along its gradient, by its data."""
    x = x.clone().requires_grad_(True)
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        (gradient,) = torch.autograd.grad(loss, x)
        x = (x - rate * gradient.sign()).detach().requires_grad_(True)
    return x


def sum_of_four(loader):
    net = nn.Linear(16, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    total = 0.0
    for i, (x, y) in enumerate(loader):
        total = total + F.cross_entropy(net(x), y)
        if (i + 1) % 4 == 0:
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            total = 0.0


def state_added_to_and_cut_with_its_backward(loader):
    cell = nn.Linear(16, 32)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
    state = torch.zeros(8, 32)
    for i, (x, _) in enumerate(loader):
        state = torch.sigmoid(cell(x) + state)
        if i % 16 == 15:
            optimizer.zero_grad()
            state.mean().backward()
            optimizer.step()
            state = state.detach()
