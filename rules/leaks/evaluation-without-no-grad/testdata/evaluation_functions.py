"""Functions that evaluate a model: eval() changes dropout and batch norm, and
records graphs all the same."""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import f1_score
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features=64, classes=10):
        super().__init__()
        self.hidden = nn.Linear(features, 128)
        self.out = nn.Linear(128, classes)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


def validate(model: Classifier, loader, device="cuda"):
    model.eval()
    loss, correct = 0.0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        logits = model(images)  # want: GL301 hint graph
        loss += F.cross_entropy(logits, labels).item()
        correct += (logits.argmax(dim=1) == labels).sum().item()
    return loss / len(loader), correct / len(loader.dataset)


def f1(net, batches):
    """The model is not known but by what is done with it."""
    net.eval()
    truth, predicted = [], []
    for features, targets in batches:
        output = net(features)  # want: GL301 hint graph
        predicted.append(np.where(output.data.cpu().numpy() > 0, 1, 0))
        truth.append(targets.numpy())
    net.train()
    return f1_score(np.concatenate(truth), np.concatenate(predicted))


async def stream(model: Classifier, queue):
    """A decorator would guard the call, not the body, and a guard around await
    would reach other coroutines."""
    model.eval()
    while True:
        batch = await queue.get()
        if batch is None:
            break
        scores = model(batch)  # want: GL301 hint graph
        print(scores.argmax(dim=1).tolist())


def accuracies(model: Classifier, loader):
    """A guard around a yield would reach the consumer; a decorator guards each
    step of a generator."""
    model.eval()
    for x, y in loader:
        hit = model(x).argmax(dim=1) == y  # want: GL301 hint graph
        yield hit.float().mean().item()


# once: loaders = {"val": feed(lambda: (randn(4, 64), randint(4)))}
# run: report(Classifier(), loaders, given(restart=print))
def report(model: Classifier, loaders, schedule):
    """More than evaluation: only the loop is guarded."""
    schedule.restart()
    model.eval()
    for name, loader in loaders.items():
        wrong = 0

        # The loader shuffles, so nothing depends on the order.
        for x, y in loader:
            prediction = model(x)  # want: GL301 hint graph
            wrong += (prediction.argmax(1) != y).sum().item()

            # Wrong by name, for the table
            print(
                f"""{name}:
  {wrong} wrong
"""
            )

            # end of batch
        print(name, wrong)


def greedy_decode(model: Classifier, tokens, limit):
    while len(tokens) < limit:
        logits = model(tokens)  # want: GL301 hint graph
        best = logits[-1].argmax().item()
        tokens = torch.cat([tokens, torch.tensor([best])])
    return tokens.tolist()


def translate(model: Classifier, sentences):
    model.eval()
    return [greedy_decode(model, torch.tensor(s), 50) for s in sentences]


def losses_of_a_list(model: Classifier, loader):
    model.eval()
    losses = [F.cross_entropy(model(x), y).item() for x, y in loader]  # want: GL301 hint graph
    return sum(losses) / len(losses)


def main(train_loader, test_loader):
    model = Classifier().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(30):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(epoch, validate(model, test_loader), losses_of_a_list(model, test_loader))
