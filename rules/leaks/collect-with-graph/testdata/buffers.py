"""Buffers of agents and of contrastive learning that store the graph."""

import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, states=8, actions=4):
        self.q = nn.Sequential(nn.Linear(states, 64), nn.ReLU(), nn.Linear(64, actions))
        self.optimizer = torch.optim.Adam(self.q.parameters())
        self.memory = deque(maxlen=50_000)

    def act(self, state, epsilon=0.1):
        values = self.q(state)
        action = random.randrange(4) if random.random() < epsilon else values.argmax().item()
        return action, values[action]

    def learn(self, batch_size=32):
        if len(self.memory) < batch_size:
            return
        states, actions, targets = zip(*random.sample(self.memory, batch_size))
        chosen = self.q(torch.stack(states)).gather(1, torch.tensor(actions).unsqueeze(1))
        loss = F.smooth_l1_loss(chosen.squeeze(1), torch.stack(targets).detach())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def play(self, env, steps):
        state = env.reset()
        for _ in range(steps):
            action, value = self.act(state)
            next_state, reward, done = env.step(action)
            target = reward + 0.99 * value
            self.memory.append((state, action, target))  # want: GL102 error graph
            self.learn()
            state = env.reset() if done else next_state


def contrast_with_queue(encoder: nn.Module, loader, optimizer, size=4096):
    """Slicing bounds the values of the queue, not their graphs."""
    queue = F.normalize(torch.randn(size, 64), dim=1)
    for views, positives in loader:
        keys = F.normalize(encoder(views), dim=1)
        logits = keys @ queue.detach().t()
        loss = F.cross_entropy(logits, positives)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue = torch.cat([keys, queue])[:size]  # want: GL102 warning nodes


class Rollout:
    def __init__(self):
        self.values = []
        self.rewards = []


def collect_rollout(env, critic: nn.Module, steps):
    """The values are only targets: the update computes them again."""
    rollout = Rollout()
    state = env.reset()
    for _ in range(steps):
        rollout.values.append(critic(state))  # want: GL102 error graph
        state, reward, _ = env.step()
        rollout.rewards.append(reward)
    advantages = torch.tensor(rollout.rewards) - torch.cat(rollout.values).detach()
    return advantages
