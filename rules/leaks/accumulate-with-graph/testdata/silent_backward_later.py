"""Sums whose graph is the point: a backward runs on them."""

import torch
import torch.nn.functional as F
from torch import nn


def multi_task(model: nn.Module, loader, optimizer, weights):
    for inputs, targets in loader:
        outputs = model(inputs)
        loss = 0.0
        for name, target in targets.items():
            loss += weights[name] * F.cross_entropy(outputs[name], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def one_backward_per_epoch(model: nn.Module, batches, optimizer):
    """Full-batch descent: a lot of memory, but it is asked for."""
    for _ in range(100):
        optimizer.zero_grad()
        total = 0.0
        for x, y in batches:
            total = total + F.mse_loss(model(x), y)
        (total / len(batches)).backward()
        optimizer.step()


def truncated_backpropagation(cell: nn.GRUCell, head: nn.Linear, sequence, optimizer, window=20):
    """The state and the sum start anew after each window."""
    state = torch.zeros(1, 64)
    loss = 0.0
    for t, (x, y) in enumerate(sequence):
        state = cell(x, state)
        loss = loss + F.mse_loss(head(state), y)
        if (t + 1) % window == 0:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state = state.detach()
            loss = 0.0


def maml(model, tasks, meta_optimizer, inner_steps=5, inner_lr=0.01):
    """The losses of the last inner step are backpropagated under a new name."""
    losses_q = [0.0 for _ in range(inner_steps + 1)]
    for x_spt, y_spt, x_qry, y_qry in tasks:
        fast_weights = list(model.parameters())
        for k in range(inner_steps):
            loss = F.cross_entropy(model.functional(x_spt, fast_weights), y_spt)
            grads = torch.autograd.grad(loss, fast_weights, create_graph=True)
            fast_weights = [w - inner_lr * g for w, g in zip(fast_weights, grads)]
            loss_q = F.cross_entropy(model.functional(x_qry, fast_weights), y_qry)
            losses_q[k + 1] += loss_q
    meta_loss = losses_q[-1] / len(tasks)
    meta_optimizer.zero_grad()
    meta_loss.backward()
    meta_optimizer.step()


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = self.gram(target).detach()
        self.loss = 0.0

    @staticmethod
    def gram(features):
        b, c, h, w = features.shape
        flat = features.reshape(b * c, h * w)
        return flat @ flat.t() / (b * c * h * w)

    def forward(self, features):
        self.loss = F.mse_loss(self.gram(features), self.target)
        return features


def transfer_style(network, image, style_losses, content_losses, steps=300):
    image.requires_grad_(True)
    optimizer = torch.optim.LBFGS([image])
    for _ in range(steps):

        def closure():
            optimizer.zero_grad()
            network(image)
            style_score = 0
            content_score = 0
            for style in style_losses:
                style_score += style.loss
            for content in content_losses:
                content_score += content.loss
            loss = 1e6 * style_score + content_score
            loss.backward()
            return loss

        optimizer.step(closure)
    return image


def contrastive_loss(embeddings, temperature=0.1):
    """A loss function: its sum is the loss, the caller runs the backward."""
    similarities = embeddings @ embeddings.t() / temperature
    loss = 0.0
    for i in range(len(embeddings)):
        loss = loss + F.cross_entropy(similarities[i : i + 1], torch.tensor([i]))
    return loss / len(embeddings)


def train_contrastive(encoder: nn.Module, loader, optimizer):
    for views in loader:
        loss = contrastive_loss(F.normalize(encoder(views)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Reinforce:
    """Rewards and log-probabilities of an episode make one loss."""

    def __init__(self, policy: nn.Module, optimizer):
        self.policy = policy
        self.optimizer = optimizer

    def finish_episode(self, log_probs, returns):
        policy_loss = torch.zeros(())
        for log_prob, ret in zip(log_probs, returns):
            policy_loss = policy_loss - log_prob * ret
        self.optimizer.zero_grad()
        policy_loss.backward()
        self.optimizer.step()

    def run(self, env, episodes):
        for _ in range(episodes):
            state, log_probs, rewards = env.reset(), [], []
            done = False
            while not done:
                distribution = torch.distributions.Categorical(logits=self.policy(state))
                action = distribution.sample()
                log_probs.append(distribution.log_prob(action))
                state, reward, done = env.step(action.item())
                rewards.append(reward)
            self.finish_episode(log_probs, torch.tensor(rewards))


def train_with_accelerate(accelerator, model, loader, optimizer):
    for batch in loader:
        with accelerator.accumulate(model):
            losses = model(batch)
            total = 0.0
            for name in ("box", "mask", "class"):
                total = total + losses[name]
            accelerator.backward(total)
            optimizer.step()
            optimizer.zero_grad()


def gradient_penalty(critic: nn.Module, pairs):
    penalty = 0.0
    for real, fake in pairs:
        mixed = (0.5 * real + 0.5 * fake).requires_grad_(True)
        gradient = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
        penalty = penalty + (gradient.flatten(1).norm(dim=1) - 1).pow(2).mean()
    return penalty


def train_critic(critic: nn.Module, optimizer, batches):
    for pairs in batches:
        optimizer.zero_grad()
        (10 * gradient_penalty(critic, pairs)).backward()
        optimizer.step()


class DeferredBackward:
    """The backward stands in another method."""

    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.pending = 0.0

    def collect(self, x, y):
        self.pending = self.pending + F.mse_loss(self.model(x), y)

    def flush(self):
        self.optimizer.zero_grad()
        self.pending.backward()
        self.optimizer.step()
        self.pending = 0.0

    def fit(self, loader, every=8):
        for i, (x, y) in enumerate(loader):
            self.collect(x, y)
            if i % every == every - 1:
                self.flush()
