"""Lists whose graphs a backward needs."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2))
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.net(x), dim=1)


def select_action(policy, state):
    distribution = Categorical(policy(state))
    action = distribution.sample()
    policy.saved_log_probs.append(distribution.log_prob(action))
    return action.item()


def finish_episode(policy, optimizer, gamma=0.99):
    returns, value = [], 0.0
    for reward in policy.rewards[::-1]:
        value = reward + gamma * value
        returns.insert(0, value)
    policy_loss = []
    for log_prob, ret in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * ret)
    optimizer.zero_grad()
    torch.cat(policy_loss).sum().backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


def reinforce(env):
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(1000):
        state = env.reset()
        for _ in range(10000):
            state, reward, done = env.step(select_action(policy, state))
            policy.rewards.append(reward)
            if done:
                break
        finish_episode(policy, optimizer)


def unrolled_in_time(cell: nn.GRUCell, head: nn.Linear, sequences, optimizer):
    for sequence, targets in sequences:
        hidden = torch.zeros(sequence.size(1), 64)
        outputs = []
        for frame in sequence:
            hidden = cell(frame, hidden)
            outputs.append(head(hidden))
        loss = F.mse_loss(torch.stack(outputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def chunked_loss(model: nn.Module, tokens, targets, chunks=16):
    losses = []
    for x, y in zip(tokens.chunk(chunks), targets.chunk(chunks)):
        losses.append(F.cross_entropy(model(x), y))
    return torch.stack(losses).mean()


def train_in_chunks(model: nn.Module, loader, optimizer):
    for tokens, targets in loader:
        loss = chunked_loss(model, tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def gradients_between_tasks(model: nn.Module, tasks, optimizer):
    """Several backwards share what the loop has collected."""
    losses = []
    for x, y in tasks:
        losses.append(F.cross_entropy(model(x), y))
    gradients = [torch.autograd.grad(loss, list(model.parameters()), retain_graph=True) for loss in losses]
    optimizer.zero_grad()
    sum(losses).backward()
    optimizer.step()
    return gradients


class DeepSupervision(nn.Module):
    """The outputs of all levels are the result of forward."""

    def __init__(self, levels=5):
        super().__init__()
        self.levels = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(levels))

    def forward(self, x):
        outputs = []
        for level in self.levels:
            x = F.relu(level(x))
            outputs.append(x.mean(dim=(2, 3)))
        return outputs


def train_supervised(model: DeepSupervision, loader, optimizer):
    for x, y in loader:
        losses = [F.mse_loss(output, y) for output in model(x)]
        optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        optimizer.step()


class PipelineStage:
    """The backward of a micro-batch comes later, from another method."""

    def __init__(self, module):
        self.module = module
        self.outputs = []

    def forward(self, micro_batch):
        output = self.module(micro_batch)
        self.outputs.append(output)
        return output

    def backward(self, gradient):
        output = self.outputs.pop(0)
        output.backward(gradient)


def run_schedule(stage: PipelineStage, micro_batches, gradients):
    for micro_batch in micro_batches:
        stage.forward(micro_batch)
    for gradient in gradients:
        stage.backward(gradient)


class Searcher:
    """One method collects, another runs the backward: unseen code calls them in turn."""

    def __init__(self, config, steps):
        self.config, self.steps = config, steps
        self.values, self.chosen = [], []
        self.model = Policy()
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def append(self, rewards):
        self.optimizer.zero_grad()
        loss = 0
        for i in range(len(self.values)):
            loss += (rewards[i] - self.values[i]).pow(2)
        loss.backward()
        self.optimizer.step()
        self.values = []

    def generate(self):
        while len(self.chosen) < self.steps:
            value = self.model(self.config.as_tensor())
            self.config = self.config.step(value.detach())
            self.chosen.append(self.config)
            self.values.append(value)


class Tuner:
    """And so may be the methods of what holds it."""

    def __init__(self, config):
        self.searcher = Searcher(config, 10)

    def propose(self):
        self.searcher.generate()
        return self.searcher.chosen

    def receive(self, rewards):
        self.searcher.append(rewards)
