"""Whole training scripts in the style of tutorials: where exactly they leak."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import cross_entropy as ce
from torch import no_grad as ng, optim


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.enc = nn.Linear(784, 40)
        self.dec = nn.Linear(20, 784)

    def encode(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        return mu, logvar

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.dec(z)), mu, logvar


def elbo(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


def train_vae(loader, epochs):
    model = VAE()
    opt = optim.Adam(model.parameters())
    for epoch in range(epochs):
        total = bce_total = kld_total = 0
        for i, (x, _) in enumerate(loader):
            recon, mu, logvar = model(x)
            loss, bce, kld = elbo(recon, x, mu, logvar)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            bce_total += bce  # want: GL101 warning nodes
            kld_total += kld.detach()
        print(epoch, total, bce_total, kld_total)


def latents(loader):
    model = VAE().eval()
    zs, labels = [], []
    for x, y in loader:
        mu, _ = model.encode(x)  # want: GL301 hint graph
        zs.append(mu)  # want: GL102 error graph
        labels += y.tolist()
    return torch.cat(zs).detach().numpy(), labels


def latents_guarded(loader):
    model = VAE().eval()
    zs = []
    with ng():
        for x, y in loader:
            mu, _ = model.encode(x)
            zs.append(mu.cpu())
    return torch.cat(zs)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 128)
        self.actor = nn.Linear(128, 2)
        self.critic = nn.Linear(128, 1)

    def forward(self, x):
        x = F.relu(self.body(x))
        return torch.distributions.Categorical(logits=self.actor(x)), self.critic(x)


def a2c(env, updates, horizon):
    net = ActorCritic()
    opt = optim.RMSprop(net.parameters())
    state = env.reset()
    all_values, entropy_log, returns_log = [], [], []
    for _ in range(updates):
        log_probs, values, rewards = [], [], []
        entropy = 0
        for _ in range(horizon):
            dist, value = net(state)
            action = dist.sample()
            state, reward, done = env.step(action.cpu().numpy())
            log_probs.append(dist.log_prob(action))
            entropy += dist.entropy().mean()
            values.append(value)
            rewards.append(torch.tensor(reward))
        log_probs = torch.cat(log_probs)
        values = torch.cat(values)
        returns = torch.stack(rewards)
        advantage = returns - values
        loss = -(log_probs * advantage.detach()).mean() + 0.5 * advantage.pow(2).mean() - 0.001 * entropy
        opt.zero_grad()
        loss.backward()
        opt.step()
        all_values.append(values.mean())  # want: GL102 warning nodes
        entropy_log.append(entropy)  # want: GL102 warning nodes
        returns_log.append(returns.mean())


def dqn(env, steps):
    q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
    target = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
    target.load_state_dict(q.state_dict())
    opt = optim.Adam(q.parameters())
    memory, td_errors = [], []
    state = env.reset()
    for step in range(steps):
        with torch.no_grad():
            action = q(state).argmax().item()
        next_state, reward, done = env.step(action)
        memory.append((state, action, reward, next_state, done))
        state = next_state
        s, a, r, s2, d = zip(*memory[-32:])
        s, s2 = torch.stack(s), torch.stack(s2)
        qa = q(s).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            y = torch.tensor(r) + 0.99 * target(s2).max(1)[0]
        loss = F.smooth_l1_loss(qa, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        td_errors.append((qa - y).abs().mean())  # want: GL105 error graph
        for tp, p in zip(target.parameters(), q.parameters()):
            tp.data.mul_(0.995).add_(0.005 * p.data)


def seq2seq(encoder: nn.Module, decoder: nn.Module, loader, opt, teacher=0.5):
    print_loss_total, plot_losses = 0, []
    for step, (src, tgt) in enumerate(loader, 1):
        opt.zero_grad()
        hidden = encoder(src)
        loss = 0
        inp = tgt[0]
        for t in range(1, tgt.size(0)):
            out, hidden = decoder(inp, hidden)
            loss += ce(out, tgt[t])
            inp = tgt[t] if torch.rand(1).item() < teacher else out.topk(1)[1].squeeze().detach()
        loss.backward()
        opt.step()
        print_loss_total += loss.item() / tgt.size(0)
        if step % 100 == 0:
            plot_losses.append(print_loss_total / 100)
            print_loss_total = 0


def seq2seq_leaky(encoder: nn.Module, decoder: nn.Module, loader, opt):
    plot_loss = 0
    for step, (src, tgt) in enumerate(loader, 1):
        opt.zero_grad()
        hidden = encoder(src)
        loss = 0
        for t in range(tgt.size(0)):
            out, hidden = decoder(tgt[t], hidden)
            loss += ce(out, tgt[t])
        loss.backward()
        opt.step()
        plot_loss += loss / tgt.size(0)  # want: GL101 warning nodes
    print(plot_loss.item())


def gradient_penalty(D, real, fake):
    a = torch.rand(real.size(0), 1)
    x = (a * real + (1 - a) * fake).requires_grad_(True)
    d = D(x)
    g = torch.autograd.grad(outputs=d, inputs=x, grad_outputs=torch.ones_like(d), create_graph=True, retain_graph=True)[0]
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


def wgan(G: nn.Module, D: nn.Module, loader, og, od, n_critic=5):
    g_losses, d_losses = [], []
    for i, real in enumerate(loader):
        fake = G(torch.randn(real.size(0), 64))
        d_loss = -D(real).mean() + D(fake.detach()).mean() + 10 * gradient_penalty(D, real, fake.detach())
        od.zero_grad()
        d_loss.backward()
        od.step()
        d_losses.append(d_loss.item())
        if i % n_critic == 0:
            fake = G(torch.randn(real.size(0), 64))
            g_loss = -D(fake).mean()
            og.zero_grad()
            g_loss.backward()
            og.step()
            g_losses.append(g_loss)  # want: GL102 warning nodes
    return g_losses, d_losses


def simclr(encoder: nn.Module, loader, opt):
    stats = {"loss": 0.0, "acc": 0.0, "pos": 0.0}
    for (a, b), _ in loader:
        za, zb = F.normalize(encoder(a), dim=1), F.normalize(encoder(b), dim=1)
        logits = za @ zb.t() / 0.07
        labels = torch.arange(len(a))
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        stats["loss"] += loss.item()
        stats["acc"] += (logits.argmax(1) == labels).float().mean()
        stats["pos"] += (za * zb).sum(1).mean()  # want: GL105 error graph
    print({k: float(v) / len(loader) for k, v in stats.items()})


def saliency(model: nn.Module, loader):
    maps = []
    for x, y in loader:
        x.requires_grad_(True)
        score = model(x).gather(1, y.view(-1, 1)).sum()
        score.backward()
        maps.append(x.grad.abs().max(dim=1)[0].cpu())
        model.zero_grad()
    return torch.cat(maps)


def distill(student: nn.Module, teacher: nn.Module, loader, opt, T=4.0):
    teacher.eval()
    kd_sum, agree = 0.0, 0
    for x, y in loader:
        with torch.no_grad():
            t = teacher(x)
        s = student(x)
        kd = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
        loss = kd + F.cross_entropy(s, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        kd_sum = kd_sum + kd  # want: GL101 warning nodes
        agree += s.argmax(1).eq(t.argmax(1)).sum()
    return kd_sum / len(loader), agree


# once: layer = nn.Linear(16, 4)
# once: losses = lambda images, targets: {"box": layer(images).mean(), "class": layer(images).pow(2).mean()}
# run: detector(losses, loader, torch.optim.SGD(layer.parameters(), lr=0.1))
def detector(model: nn.Module, loader, opt):
    meters = {}
    for images, targets in loader:
        loss_dict = model(images, targets)
        loss = sum(loss_dict.values())
        opt.zero_grad()
        loss.backward()
        opt.step()
        for name, value in loss_dict.items():
            if name not in meters:
                meters[name] = 0.0
            meters[name] += value  # want: GL101 warning nodes
    return {k: v / len(loader) for k, v in meters.items()}
