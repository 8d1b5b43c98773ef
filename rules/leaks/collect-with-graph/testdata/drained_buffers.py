"""Buffers that one object fills and another drains: what is drained reaches a
backward pass, unless it is kept again."""

import torch
from torch import nn


class SwappedBuffer:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def drain(self):
        items, self.items = self.items, []
        return items


class CopiedBuffer:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def drain(self):
        items = list(self.items)
        self.items.clear()
        return items


class Worker:
    def __init__(self, policy, buffer):
        self.policy = policy
        self.buffer = buffer

    def act(self, state):
        distribution = torch.distributions.Categorical(logits=self.policy(state))
        action = distribution.sample()
        self.buffer.add(distribution.log_prob(action))
        return action


class Learner:
    def __init__(self, policy, buffer):
        self.buffer = buffer
        self.optimizer = torch.optim.Adam(policy.parameters())

    def update(self):
        loss = -torch.stack(self.buffer.drain()).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class KeepingLearner:
    def __init__(self, policy, buffer):
        self.buffer = buffer
        self.optimizer = torch.optim.Adam(policy.parameters())
        self.archive = []

    def update(self):
        items = self.buffer.drain()
        loss = -torch.stack(items).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.archive.append(items)  # want: GL102 warning nodes


def play(env, worker, learner):
    state, done = env.reset(), False
    while not done:
        state, _, done, _ = env.step(worker.act(state))
    learner.update()


def train(env, episodes):
    policy = nn.Linear(4, 2)
    swapped = SwappedBuffer()
    worker, learner = Worker(policy, swapped), Learner(policy, swapped)
    for _ in range(episodes):
        play(env, worker, learner)


def train_with_copies(env, episodes):
    policy = nn.Linear(4, 2)
    copied = CopiedBuffer()
    worker, learner = Worker(policy, copied), Learner(policy, copied)
    for _ in range(episodes):
        play(env, worker, learner)


def train_and_keep(env, episodes):
    policy = nn.Linear(4, 2)
    buffer = SwappedBuffer()
    worker, learner = Worker(policy, buffer), KeepingLearner(policy, buffer)
    for _ in range(episodes):
        play(env, worker, learner)


class Episode:
    def __init__(self):
        self.log_probs = []
        self.rewards = []


class Agent:
    """Begins a new record for each episode."""

    def __init__(self, policy):
        self.policy = policy
        self.episode = Episode()
        self.optimizer = torch.optim.Adam(policy.parameters())

    def act(self, state):
        distribution = torch.distributions.Categorical(logits=self.policy(state))
        action = distribution.sample()
        self.episode.log_probs.append(distribution.log_prob(action))
        return action

    def finish(self):
        episode = self.episode
        self.episode = Episode()
        return episode

    def learn(self):
        episode = self.finish()
        loss = -torch.stack(episode.log_probs).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def train_agent(env, episodes):
    agent = Agent(nn.Linear(4, 2))
    for _ in range(episodes):
        state, done = env.reset(), False
        while not done:
            state, _, done, _ = env.step(agent.act(state))
        agent.learn()
