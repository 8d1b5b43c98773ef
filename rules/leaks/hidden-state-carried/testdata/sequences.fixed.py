"""A recurrent state that each iteration computes from the last one, and whose
graph nothing cuts."""

import torch
import torch.nn.functional as F
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocabulary=96, width=128):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.read = nn.Linear(width, vocabulary)

    def forward(self, tokens, state=None):
        out, state = self.rnn(self.embed(tokens), state)
        return self.read(out), state


@torch.no_grad()
def perplexity(model: CharModel, chunks):
    """Evaluation that forgot no_grad: the chain grows with every chunk."""
    model.eval()
    state = torch.zeros(1, 32, 128)
    total = 0.0
    for tokens, targets in chunks:
        logits, state = model(tokens, state)
        total += F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
    return total / len(chunks)


def stream_of_frames(frames):
    """An LSTM that follows a stream; its state is a pair."""
    lstm = nn.LSTM(64, 64)
    score = nn.Linear(64, 1)
    hidden = (torch.zeros(1, 1, 64), torch.zeros(1, 1, 64))
    for frame in frames:
        out, hidden = lstm(frame.view(1, 1, -1), hidden)
        print(score(out).item())
        hidden = tuple(part.detach() for part in hidden)


def cell_by_cell(readings, optimizer):
    """The state has no part in the loss: no backward ever frees its chain."""
    memory = nn.GRUCell(16, 32)
    readout = nn.Linear(16, 1)
    h = torch.zeros(8, 32)
    for x, y in readings:
        h = memory(x, h)
        loss = F.mse_loss(readout(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
        h = h.detach()


def explicit_recurrence(signal):
    transition = nn.Linear(32, 32)
    drive = nn.Linear(8, 32)
    state = torch.zeros(32)
    for sample in signal:
        state = torch.tanh(transition(state) + drive(sample))
        print(state.norm().item())
        state = state.detach()


# once: environment = given(finished=False, reset=lambda: randn(1, 64), step=lambda action: randn(1, 64))
# run: Controller(64).run(environment, 14)
class Controller:
    """The state lives in an object, between the steps of an environment."""

    def __init__(self, width):
        self.cell = nn.LSTMCell(width, width)
        self.act = nn.Linear(width, 4)

    def run(self, environment, steps):
        observation = environment.reset()
        self.h, self.c = torch.zeros(1, 64), torch.zeros(1, 64)
        while not environment.finished:
            self.h, self.c = self.cell(observation, (self.h, self.c))  # want: GL405 error graph
            observation = environment.step(self.act(self.h).argmax().item())


def retained_on_request(chunks):
    """retain_graph makes the error go away and the memory grow."""
    rnn = nn.RNN(16, 32)
    head = nn.Linear(32, 4)
    h = torch.zeros(1, 8, 32)
    for x in chunks:
        out, h = rnn(x, h)  # want: GL405 error graph
        head(out[-1]).sum().backward(retain_graph=True)


def two_layers(readings):
    lower, upper = nn.GRUCell(16, 32), nn.GRUCell(32, 32)
    states = [torch.zeros(8, 32), torch.zeros(8, 32)]
    for reading in readings:
        below = lower(reading, states[0])
        states = [below, upper(below, states[1])]
        print(states[1].abs().max().item())
        states = [part.detach() for part in states]
