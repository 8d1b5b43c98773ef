"""One step of a training, called once a step by code that is not here."""

import torch
import torch.nn.functional as F

HISTORY = []


# once: agent = Agent(nn.Linear(16, 4), 0.1)
# run: agent.update(given(states=randn(4, 16), targets=randn(4, 4)))
# run: agent.report()
class Agent:
    def __init__(self, network, lr):
        self.network = network
        self.optimizer = torch.optim.Adam(network.parameters(), lr=lr)
        self.total = 0.0
        self.reported = 0.0
        self.window = 0.0
        self.updates = 0

    def update(self, batch):
        values = self.network(batch.states)
        loss = F.mse_loss(values, batch.targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach()
        self.reported += loss
        self.window += loss
        self.updates += 1
        if self.updates % 100 == 0:
            print(self.window)
            self.window = 0.0
        return loss.item()

    def report(self):
        """Whoever calls this may do so after each update."""
        out = self.reported
        self.reported = 0.0
        return out


class TwoNetworks:
    """The step is in methods that it calls."""

    def __init__(self, actor, critic):
        self.actor, self.critic = actor, critic
        self.actor_optimizer = torch.optim.Adam(actor.parameters())
        self.critic_optimizer = torch.optim.Adam(critic.parameters())
        self.average = 0.0

    def _apply(self, loss, optimizer):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def train_on(self, states, targets):
        critic_loss = F.mse_loss(self.critic(states), targets)
        self._apply(critic_loss, self.critic_optimizer)
        actor_loss = -self.critic(self.actor(states)).mean()
        self._apply(actor_loss, self.actor_optimizer)
        self.average = 0.99 * self.average + 0.01 * critic_loss.detach()


# run: train_step(model, optimizer, x, y, [])
def train_step(model, optimizer, x, y, history):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)  # the caller's own list
    HISTORY.append(loss.detach())
    return loss


class Saliency:
    """A backward pass without an optimizer is no training."""

    def __init__(self, model):
        self.model = model
        self.scores = []

    def attribute(self, x):
        x.requires_grad_(True)
        score = self.model(x).max()
        score.backward()
        self.scores.append(score)
        return x.grad
