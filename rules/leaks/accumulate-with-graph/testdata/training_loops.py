"""Sums of losses in training loops: the backward of the step frees the
activations, and the sum keeps the nodes of every graph."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.cuda.amp import GradScaler, autocast


def train_epoch(model, loader, optimizer, device):
    model.train()
    running_loss = 0.0
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss  # want: GL101 warning nodes
        if step % 100 == 0:
            print(f"step {step}: {running_loss / (step + 1):.4f}")
    return running_loss.item() / len(loader)


def train_weighted_by_batch(model, criterion, optimizer, loader, epochs):
    """The reset at the head of the outer loop does not bound the inner one."""
    history = []
    for epoch in range(epochs):
        epoch_loss = torch.tensor(0.0)
        seen = 0
        for batch in loader:
            optimizer.zero_grad()
            outputs = model(batch["input"])
            loss = criterion(outputs, batch["target"])
            loss.backward()
            optimizer.step()
            epoch_loss += loss * batch["target"].size(0)  # want: GL101 warning nodes
            seen += batch["target"].size(0)
        history.append((epoch_loss / seen).item())
    return history


def train_mixed_precision(model, loader, optimizer):
    scaler = GradScaler()
    total = 0
    for inputs, targets in loader:
        optimizer.zero_grad()
        with autocast():
            loss = F.mse_loss(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        total = total + loss  # want: GL101 warning nodes
    return float(total) / len(loader)


def train_accumulating_gradients(model, loader, optimizer, accumulation_steps=4):
    total_loss = 0.0
    for i, (tokens, targets) in enumerate(loader):
        logits = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss = loss / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        total_loss += loss * accumulation_steps  # want: GL101 warning nodes
    return total_loss / len(loader)


def train_on_two_tasks(encoder, heads, loader, optimizer):
    """The sum of the step is backpropagated, the sums of the epoch are not."""
    sums = {"segmentation": 0.0, "depth": 0.0}
    for images, masks, depths in loader:
        features = encoder(images)
        segmentation = F.cross_entropy(heads["segmentation"](features), masks)
        depth = F.l1_loss(heads["depth"](features), depths)
        step_loss = 0
        for part, weight in ((segmentation, 1.0), (depth, 0.5)):
            step_loss = step_loss + weight * part
        optimizer.zero_grad()
        step_loss.backward()
        optimizer.step()
        sums["segmentation"] += segmentation  # want: GL101 warning nodes
        sums["depth"] += depth  # want: GL101 warning nodes
    return {name: value / len(loader) for name, value in sums.items()}


def train_in_phases(model, loaders, criterion, optimizer):
    """Recording is off in the validation phase, but not in the other."""
    losses = {}
    for phase in ["train", "val"]:
        running_loss = 0.0
        for inputs, labels in loaders[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(inputs)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running_loss += loss  # want: GL101 warning nodes
        losses[phase] = running_loss / len(loaders[phase])
    return losses


# once: makes, tells = nn.Linear(128, 16), nn.Linear(16, 1)
# run: train_gan(makes, tells, feed(lambda: randn(4, 16)), optimizer, optimizer, device)
def train_gan(generator, discriminator, loader, opt_g, opt_d, device):
    bce = nn.BCEWithLogitsLoss()
    d_total, g_total = 0.0, 0.0
    for real in loader:
        noise = torch.randn(real.size(0), 128, device=device)
        fake = generator(noise)
        real_loss = bce(discriminator(real), torch.ones(real.size(0), 1))
        fake_loss = bce(discriminator(fake.detach()), torch.zeros(real.size(0), 1))
        d_loss = (real_loss + fake_loss) / 2
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

        g_loss = bce(discriminator(fake), torch.ones(real.size(0), 1))
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        d_total += d_loss  # want: GL101 warning nodes
        g_total += g_loss  # want: GL101 warning nodes
    return d_total / len(loader), g_total / len(loader)
