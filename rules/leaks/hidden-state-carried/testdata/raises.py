"""A state that is carried into the backward of the next iteration. The program
raises there: it cannot leak."""

import torch
import torch.nn.functional as F
from torch import nn


# run: carried_into_the_next_backward(feed(lambda: (randn(5, 8, 16), randint(8) % 4)))
def carried_into_the_next_backward(loader):
    rnn = nn.RNN(16, 32)
    head = nn.Linear(32, 4)
    optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    h = torch.zeros(1, 8, 32)
    for x, y in loader:
        out, h = rnn(x, h)  # want: GL405 hint graph
        loss = F.cross_entropy(head(out[-1]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# run: retained_but_stepped(feed(lambda: (randn(5, 8, 16), randint(8) % 4)))
def retained_but_stepped(loader):
    """The optimizer changes the weights in place, which the kept graph needs."""
    lstm = nn.LSTM(16, 32)
    head = nn.Linear(32, 4)
    optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
    state = (torch.zeros(1, 8, 32), torch.zeros(1, 8, 32))
    for x, y in loader:
        out, state = lstm(x, state)  # want: GL405 hint graph
        loss = F.cross_entropy(head(out[-1]), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()


# run: added_to_the_next_state(feed(lambda: (randn(8, 16), randint(8) % 4)))
def added_to_the_next_state(loader):
    cell = nn.Linear(16, 32)
    head = nn.Linear(32, 4)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    state = torch.zeros(8, 32)
    for x, y in loader:
        state = torch.sigmoid(cell(x) + state)  # want: GL405 hint graph
        loss = F.cross_entropy(head(state), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def sum_of_all_so_far(loader):
    """Each backward runs through the losses of the iterations before."""
    net = nn.Linear(16, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(net(x), y)  # want: GL405 hint graph
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
