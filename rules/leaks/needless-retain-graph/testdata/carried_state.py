import torch
import torch.nn.functional as F
from torch import nn, optim


def state_carried_on(loader):
    cell, out = nn.GRUCell(8, 16), nn.Linear(16, 8)
    optimizer = optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
    hidden = torch.zeros(4, 16)
    for x, y in loader:
        hidden = cell(x, hidden)  # want: GL405 error graph
        F.mse_loss(out(hidden), y).backward(retain_graph=True)
