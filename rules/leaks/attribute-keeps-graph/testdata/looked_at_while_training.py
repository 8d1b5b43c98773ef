"""What a policy, a sampler and a script look at between two steps."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    """The loss takes the distribution that forward returns; the entropy is for
    the log."""

    def __init__(self, observations=16, actions=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(observations, 128), nn.Tanh())
        self.actor = nn.Linear(128, actions)
        self.entropy = None

    def forward(self, observation):
        distribution = Categorical(logits=self.actor(self.trunk(observation)))
        self.entropy = distribution.entropy().mean()  # want: GL302 hint graph
        return distribution

    def log(self, writer, step):
        if self.entropy is not None:
            writer.add_scalar("policy/entropy", self.entropy.item(), step)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        branch = self.fc2(F.gelu(self.fc1(x)))
        self.share = branch.norm() / x.norm()  # want: GL302 hint graph
        return x + branch

    @property
    def contribution(self) -> str:
        return f"{self.share:.1%}"


class Preview:
    def __init__(self, generator: nn.Module, noise):
        self.generator, self.noise = generator, noise
        self.images = None

    def run(self, steps):
        for step in range(steps):
            self.images = self.generator(self.noise)  # want: GL302 hint graph
            self.write(step)

    def write(self, step):
        with torch.no_grad():
            torch.save(self.images.clamp(0, 1), f"{step:06d}.pt")
