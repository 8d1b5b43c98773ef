import torch
import torch.nn.functional as F
from torch import nn, optim


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.left, self.right = nn.Linear(64, 4), nn.Linear(64, 8)

    def forward(self, x):
        h = self.body(x)
        return self.left(h), self.right(h)


def two_losses(loader):
    model = Trunk()
    optimizer = optim.Adam(model.parameters())
    for x, y, z in loader:
        left, right = model(x)
        optimizer.zero_grad()
        F.cross_entropy(left, y).backward(retain_graph=True)
        F.cross_entropy(right, z).backward()
        optimizer.step()


def heads_one_by_one(loader):
    model = Trunk()
    optimizer = optim.Adam(model.parameters())
    for x, targets in loader:
        outputs = model(x)
        optimizer.zero_grad()
        for output, target in zip(outputs, targets):
            F.cross_entropy(output, target).backward(retain_graph=True)
        optimizer.step()


def adversarial(loader):
    generator, critic = nn.Linear(16, 64), nn.Linear(64, 1)
    opt_g, opt_c = optim.Adam(generator.parameters()), optim.Adam(critic.parameters())
    for real in loader:
        fake = generator(torch.randn(len(real), 16))
        opt_c.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward(retain_graph=True)
        opt_c.step()
        opt_g.zero_grad()
        (-critic(fake).mean()).backward()
        opt_g.step()


def balanced(loader):
    model = Trunk()
    weights = torch.ones(2, requires_grad=True)
    for x, y, z in loader:
        left, right = model(x)
        losses = torch.stack([F.cross_entropy(left, y), F.cross_entropy(right, z)])
        (weights * losses).sum().backward(retain_graph=True)
        norms = [torch.autograd.grad(loss, model.body.parameters(), retain_graph=True)[0].norm() for loss in losses]
        weights.grad = torch.stack(norms).detach()


def penalty(loader):
    critic = nn.Linear(64, 1)
    for x in loader:
        x.requires_grad_()
        out = critic(x).sum()
        gradient, = torch.autograd.grad(out, x, create_graph=True, retain_graph=True)
        ((gradient.norm(2, dim=1) - 1) ** 2).mean().backward()


def jacobian(model: nn.Module, x):
    x = x.clone().requires_grad_()
    out = model(x)
    rows = []
    for i in range(out.shape[1]):
        rows.append(torch.autograd.grad(out[:, i].sum(), x, retain_graph=True)[0])
    return torch.stack(rows)


def features_made_before(loader, images):
    encoder, head = nn.Linear(64, 8), nn.Linear(8, 2)
    optimizer = optim.SGD(head.parameters(), lr=0.1)
    code = encoder(images)
    for y in loader:
        optimizer.zero_grad()
        F.cross_entropy(head(code), y).backward(retain_graph=True)
        optimizer.step()
