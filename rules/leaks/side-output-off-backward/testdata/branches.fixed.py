"""What the backward leaves out: other heads, other losses, what a forward
returns beside the logits."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import one_hot


class Detector(nn.Module):
    def __init__(self, width=64, classes=20):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, width, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classify = nn.Linear(width, classes)
        self.locate = nn.Linear(width, 4)
        self.quality = nn.Linear(width, 1)

    def forward(self, images):
        features = self.backbone(images)
        return {"scores": self.classify(features), "boxes": self.locate(features), "quality": self.quality(features).sigmoid()}


# run: train_detector(feed(lambda: (randn(4, 3, 8, 8), randint(4), randn(4, 4))), 2)
def train_detector(loader, epochs):
    detector = Detector()
    optimizer = torch.optim.SGD(detector.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(epochs):
        history = []
        iou = 0.0
        for images, classes, boxes in loader:
            out = detector(images)
            loss = F.cross_entropy(out["scores"], classes) + F.smooth_l1_loss(out["boxes"], boxes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(out["quality"].detach())
            iou += (out["boxes"] * boxes).sum(dim=1).mean().detach()
        print(epoch, torch.cat(history).mean().item(), iou.item() / len(loader))


class Logs:
    def __init__(self):
        self.entries = []


# run: train_policy(actor, feed(lambda: (randn(4, 16), randint(4), randn(4), torch.full((4,), -2.3))), optimizer)
def train_policy(actor: nn.Module, rollouts, optimizer, clip=0.2):
    logs = Logs()
    for observations, actions, advantages, old_log_probs in rollouts:
        distribution = torch.distributions.Categorical(logits=actor(observations))
        log_probs = distribution.log_prob(actions)
        ratio = (log_probs - old_log_probs).exp()
        loss = -torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()
        approximate_kl = ((ratio - 1) - (log_probs - old_log_probs)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logs.entries.append((distribution.entropy().mean(), loss.item()))  # want: GL105 error graph
        if approximate_kl.item() > 0.1:
            break
    return logs.entries[-1][1]


def train_student(student: nn.Module, teacher: nn.Module, loader):
    optimizer = torch.optim.Adam(student.parameters())
    agreement, accuracy = [], 0.0
    for x, y in loader:
        with torch.no_grad():
            target = teacher(x).softmax(dim=-1)
        logits = student(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        agreement += [F.kl_div(logits.log_softmax(dim=-1), target, reduction="batchmean").detach()]
        accuracy += (logits.softmax(dim=-1) * one_hot(y, 10)).sum(dim=1).mean().detach()
    print(accuracy.item() / len(loader), float(sum(agreement)))
