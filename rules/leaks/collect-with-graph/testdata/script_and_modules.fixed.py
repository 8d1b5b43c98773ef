"""A script without functions, and modules whose forward keeps what it computes."""

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = torch.load("loader.pt")

train_losses, valid_losses = [], []
for epoch in tqdm(range(100)):
    running = 0
    for X, y in loader:
        pred = model(X.to(device))
        loss = criterion(pred, y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.detach()
    train_losses.append(running / len(loader))
    model.eval()
    valid = 0
    with torch.no_grad():
        for X, y in loader:
            valid += criterion(model(X.to(device)), y.to(device))
    valid_losses.append(valid / len(loader))
    model.train()
    print(epoch, train_losses[-1], valid_losses[-1])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.center = torch.zeros(4)
        self.calls = 0
        self.history = []

    def forward(self, x):
        h = self.fc(x)
        self.calls += 1
        with torch.no_grad():
            self.mean = 0.9 * self.mean + 0.1 * h.mean(0)
        self.center = 0.9 * self.center + 0.1 * h.detach().mean(0)
        self.history.append(h.norm().item())
        return h - self.mean


class BadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.features = []

    def forward(self, x):
        h = self.fc(x)
        self.mean = 0.9 * self.mean + 0.1 * h.mean(0)  # want: GL104 error graph
        self.features.append(h.detach())
        return F.relu(h)
