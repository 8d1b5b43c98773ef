"""A backward runs in the loop, but not through what is summed, or it leaves
the graph as it was."""

import torch
import torch.nn.functional as F
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.main = nn.Linear(32, 10)
        self.auxiliary = nn.Linear(32, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.main(h), self.auxiliary(h)


# run: train_with_monitored_head(feed(lambda: (randn(4, 3, 8, 8), randint(4), randint(4) % 4)))
def train_with_monitored_head(loader):
    model = TwoHeads()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitored = 0.0
    for images, labels, rotations in loader:
        logits, rotation_logits = model(images)
        loss = F.cross_entropy(logits, labels)
        auxiliary_loss = F.cross_entropy(rotation_logits, rotations)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        monitored += auxiliary_loss.detach()
    return (monitored / len(loader)).item()


def train_with_entropy_log(policy: nn.Module, batches, optimizer):
    entropy_sum = 0.0
    for states, actions, advantages in batches:
        probabilities = F.softmax(policy(states), dim=-1)
        log_probabilities = torch.log(probabilities + 1e-8)
        chosen = log_probabilities.gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(chosen * advantages).mean()
        entropy = -(probabilities * log_probabilities).sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        entropy_sum += entropy.detach()
    return entropy_sum.item() / len(batches)


def train_retaining(model: nn.Module, loader, optimizer):
    """retain_graph keeps the activations that the backward would have freed."""
    total_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward(retain_graph=True)  # want: GL401 hint graph
        optimizer.step()
        total_loss += loss.detach()
    print("mean loss", total_loss.item() / len(loader))


# run: monitor_rotations(feed(lambda: (randn(4, 3, 8, 8), randint(4), randint(4) % 4)), optimizer, TwoHeads())
def monitor_rotations(loader, optimizer, model: TwoHeads):
    """The model is known by its annotation."""
    rotation_error = 0.0
    for images, labels, rotations in loader:
        logits, rotation_logits = model(images)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rotation_error += F.cross_entropy(rotation_logits, rotations).detach()
    print(rotation_error.item())
