import torch
import torch.nn.functional as F
from torch import nn, optim


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.head = nn.Linear(128, classes)

    def forward(self, x):
        return self.head(self.body(x))


def train(loader, epochs):
    model = Classifier(10)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
    return model


def accumulate_gradients(loader, steps):
    model = Classifier(10)
    optimizer = optim.AdamW(model.parameters())
    criterion = nn.CrossEntropyLoss()
    for i, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets) / steps
        loss.backward(None)
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()


def two_models(loader):
    student, teacher = Classifier(10), Classifier(10)
    opt_student = optim.Adam(student.parameters())
    opt_teacher = optim.Adam(teacher.parameters())
    for x, y in loader:
        opt_teacher.zero_grad()
        F.cross_entropy(teacher(x), y).backward()
        opt_teacher.step()

        with torch.no_grad():
            soft = teacher(x).softmax(dim=1)
        opt_student.zero_grad()
        F.kl_div(student(x).log_softmax(dim=1), soft).backward()
        opt_student.step()


class Sequences(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embed = nn.Embedding(words, 32)
        self.rnn = nn.GRU(32, 64)
        self.out = nn.Linear(64, words)

    def forward(self, tokens, hidden):
        states, hidden = self.rnn(self.embed(tokens), hidden)
        return self.out(states), hidden


def truncated_backpropagation(loader, words):
    model = Sequences(words)
    optimizer = optim.Adam(model.parameters())
    hidden = torch.zeros(1, 16, 64)
    for tokens, following in loader:
        hidden = hidden.detach()
        scores, hidden = model(tokens, hidden)
        loss = F.cross_entropy(scores.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def gradients_of_inputs(loader):
    model = Classifier(10)
    model.requires_grad_(False)
    saliency = []
    for x, y in loader:
        x.requires_grad_()
        score = model(x).gather(1, y[:, None]).sum()
        gradient, = torch.autograd.grad(score, x)
        saliency.append(gradient.abs().mean().item())
    return saliency


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    torch.autograd.backward([loss])
    optimizer.step()
    return loss.item()


def run(loader):
    model = nn.Linear(64, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        print(step(model, optimizer, x, y))
