"""Programs without PyTorch, or whose values come from code that cannot be seen."""

import jax
import jax.numpy as jnp
import numpy as np
import tensorflow as tf
from sklearn.linear_model import SGDClassifier
from somewhere import build_model, make_loss, Trainer
import torch
import torch.nn.functional as F


def jax_loop(params, batches, opt_state, step):
    total_loss = 0.0
    losses = []
    for batch in batches:
        loss, grads = jax.value_and_grad(step)(params, batch)
        total_loss += loss
        losses.append(loss)
    return total_loss / len(losses)


def tf_loop(model, dataset, optimizer):
    total_loss = 0.0
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        total_loss += loss
    return total_loss


def sk_loop(X, y):
    clf = SGDClassifier()
    losses = []
    for xb, yb in zip(X, y):
        clf.partial_fit(xb, yb)
        loss = np.mean((clf.predict(xb) - yb) ** 2)
        losses.append(loss)
    return losses


def unknown_everything(loader):
    model = build_model()
    criterion = make_loss()
    total_loss, outputs = 0.0, []
    for batch in loader:
        out = model(batch)
        loss = criterion(out, batch)
        total_loss += loss
        outputs.append(out)
    return total_loss, outputs


def unknown_trainer(loader):
    trainer = Trainer()
    total = 0.0
    history = []
    for batch in loader:
        metrics = trainer.step(batch)
        total += metrics["loss"]
        history.append(metrics)
    return total / len(history)


def sum_of_prices(orders):
    total = 0
    lines = []
    for order in orders:
        total += order.price * order.amount
        lines.append(order.total())
    return total, lines


def batches_of_data(loader, mean, std):
    pixels = 0.0
    all_x = []
    for x, _ in loader:
        x = (x.float() - mean) / std
        pixels += x.mean()
        all_x.append(x.flatten(1).cpu())
    return pixels, torch.cat(all_x)


def precision_recall(outputs, targets):
    tp = fp = fn = 0
    curve = []
    for o, t in zip(outputs, targets):
        p = (torch.sigmoid(o) > 0.5).long()
        tp += (p * t).sum()
        fp += (p * (1 - t)).sum()
        fn += ((1 - p) * t).sum()
        curve.append(tp.float() / (tp + fp))
    return tp, fp, fn, curve


def viterbi(emissions, transitions, mask):
    """Dynamic programming over given scores, for a caller that may need gradients."""
    score = emissions[0]
    history = []
    for i in range(1, emissions.size(0)):
        nxt = score.unsqueeze(2) + transitions + emissions[i].unsqueeze(1)
        best, idx = nxt.max(dim=1)
        score = torch.where(mask[i].unsqueeze(1), best, score)
        history.append(idx)
    return score, history


def crf_forward(emissions, transitions):
    alpha = emissions[0]
    for emission in emissions[1:]:
        alpha = torch.logsumexp(alpha.unsqueeze(2) + transitions, dim=1) + emission
    return torch.logsumexp(alpha, dim=1)


def newton(f, x, steps):
    xs = []
    for _ in range(steps):
        g = torch.autograd.grad(f(x).sum(), x)[0]
        x = (x - 0.1 * g).detach().requires_grad_(True)
        xs.append(x.detach())
    return xs


def diffusion_sample(model, shape, steps, betas):
    x = torch.randn(shape)
    xs = []
    with torch.no_grad():
        for t in reversed(range(steps)):
            eps = model(x, t)
            x = x - betas[t] * eps
            if t % 100 == 0:
                xs.append(x)
    return x, xs


def diffusion_loss(model, x0, alphas, opt, loader):
    for x0 in loader:
        t = torch.randint(0, len(alphas), (x0.size(0),))
        noise = torch.randn_like(x0)
        loss = F.mse_loss(model(alphas[t] * x0 + noise, t), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()


def beam_search(decoder, h, beams, length):
    seqs = [([], 0.0, h)]
    for _ in range(length):
        grown = []
        for seq, score, h in seqs:
            logp, h2 = decoder(seq, h)
            top, idx = logp.topk(beams)
            for s, i in zip(top.tolist(), idx.tolist()):
                grown.append((seq + [i], score + s, h2))
        seqs = sorted(grown, key=lambda b: -b[1])[:beams]
    return seqs[0]


class Attention(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.q = torch.nn.Linear(n, n)
        self.maps = None

    def forward(self, x):
        maps = []
        out = 0
        for h in range(8):
            a = self.q(x).softmax(-1)
            maps.append(a)
            out = out + a @ x
        self.maps = torch.stack(maps)
        return out
