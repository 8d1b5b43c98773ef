import torch
import torch.nn.functional as F
from torch import nn, optim


def history(loader):
    model = nn.Linear(16, 4)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # want: GL401 hint graph
        optimizer.step()
        losses.append(loss)  # want: GL102 error graph
    print(sum(losses) / len(losses))


def total(loader):
    model = nn.Linear(16, 4)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    seen = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # want: GL401 hint graph
        optimizer.step()
        seen += loss  # want: GL101 error graph
    print(seen.item())


def policy_optimisation(env, steps, epochs):
    policy, critic = nn.Linear(8, 2), nn.Linear(8, 1)
    optimizer = optim.Adam([*policy.parameters(), *critic.parameters()])
    while env.running():
        states, actions, rewards = [], [], []
        values = torch.zeros(steps)
        for i in range(steps):
            state = env.observe()
            values[i] = critic(state)
            action = policy(state).argmax()
            states.append(state)
            actions.append(action)
            rewards.append(env.act(action.item()))
        returns = torch.tensor(rewards)
        for _ in range(epochs):
            scores = policy(torch.stack(states)).log_softmax(-1)
            chosen = scores.gather(1, torch.stack(actions)[:, None])
            loss = F.mse_loss(values, returns) - (chosen[:, 0] * returns).mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)  # want: GL401 hint graph
            optimizer.step()


def unknown_network(network: nn.Module, loader, lr):
    optimizer = optim.Adam(network.parameters(), lr=lr)
    for batch in loader:
        loss = F.l1_loss(network(batch["image"]), batch["depth"])
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # want: GL401 hint graph
        optimizer.step()
